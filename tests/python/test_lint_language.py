"""The lint of the project's language: words are found at their place, each with a suggestion."""

from __future__ import annotations

import doctest
from pathlib import Path

import lint_language


def test_examples() -> None:
    assert doctest.testmod(lint_language).failed == 0


def test_words_are_found_in_docstrings_comments_and_messages() -> None:
    text = '"""Done anew."""\n\nx = "told"\nraise ValueError(f"{told}: is refused here")  # nobody knows\n'
    assert [(one.line, one.word) for one in lint_language.find("a.py", text)] == [
        (1, "anew"),
        (4, "nobody"),
        (4, "refused"),
    ]


def test_rust_comments_and_messages() -> None:
    text = 'let told = 1; // the books of a link\n/// Uses `told`.\npanic!("is told late");\n'
    assert [(one.line, one.word) for one in lint_language.find("a.rs", text)] == [(1, "books of"), (3, "told")]


def test_a_phrase_may_be_broken_over_lines() -> None:
    assert [one.line for one in lint_language.find("a.md", "Disciplines\nbeside RED.")] == [1]


def test_a_word_is_reported_with_its_place_and_a_suggestion(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(lint_language, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("Errors are told.\n")
    assert lint_language.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith('page.md:1: "told": name who reports')
