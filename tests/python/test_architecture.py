"""ARCHITECTURE.md names files, packages and functions that exist, and its tables name all crates and packages."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
CODE = re.findall(r"`([^`\n]+)`", TEXT)
PATH = re.compile(r"[\w./-]+\.(rs|py|toml|md)")
NAMED_IN = re.compile(r"`(?:(\w+)::)?(\w+)`\s+\(`([^`\n]+\.(?:rs|py))`\)")
"""A type, method or function, and the file that it is in."""


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a checkout of git")
    return listed.stdout.splitlines()


def found(name: str, files: list[str]) -> list[str]:
    """Return the files whose path ends with a name; a name may leave out the folders before it."""
    return [file for file in files if f"/{file}".endswith(f"/{name}")]


def section(heading: str) -> str:
    """Return the text below a heading, up to the next of the same or a higher level."""
    level = heading.partition(" ")[0]
    _, _, rest = TEXT.partition(f"\n{heading}\n")
    assert rest, heading
    return re.split(rf"\n#{{1,{len(level)}}} ", rest)[0]


def first_column(text: str) -> set[str]:
    """Return the names in backticks in the first column of a table."""
    return {name for row in re.findall(r"^\| ([^|]*) \|", text, re.M) for name in re.findall(r"`([^`]+)`", row)}


def test_every_file_named_exists():
    files = tracked()
    names = {code for code in CODE if PATH.fullmatch(code)}
    assert len(names) > 30
    assert [name for name in sorted(names) if not found(name, files)] == []


def test_every_function_named_with_its_file_is_there():
    files = tracked()
    pairs = NAMED_IN.findall(TEXT)
    assert len(pairs) >= 4
    missing = []
    for kind, name, path in pairs:
        texts = [(ROOT / file).read_text() for file in found(path, files)]
        words = [f"fn {name}", f"def {name}", f"struct {name}", f"enum {name}", f"trait {name}", f"class {name}"]
        if not any(re.search(rf"\b(?:{'|'.join(words)})\b", text) for text in texts):
            missing.append(f"{kind}::{name} in {path}")
    assert missing == []


def test_every_method_named_is_there():
    rust = "".join(
        (ROOT / file).read_text() for file in tracked() if file.startswith("crates/") and file.endswith(".rs")
    )
    methods = [code.partition("::") for code in CODE if re.fullmatch(r"\w+::\w+", code)]
    assert methods
    assert [name for kind, _, name in methods if kind[0].isupper() and f"fn {name}" not in rust] == []


def test_the_tables_name_all_crates_and_packages():
    crates = {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")}
    assert first_column(section("### Rust: `crates/`")) == crates
    packages = {path.parent.name for path in (ROOT / "python" / "aqmlab").glob("*/__init__.py")} | {"examples"}
    modules = {path.stem for path in (ROOT / "python" / "aqmlab").glob("*.py")}
    named = first_column(section("### Python: `python/aqmlab/`"))
    assert packages <= named
    assert named <= packages | modules
