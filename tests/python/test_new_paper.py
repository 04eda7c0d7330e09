"""A paper of a user's own: begun from the template, changed, and reproduced."""

from __future__ import annotations

from pathlib import Path

import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.papers import reproduction
from aqmlab.papers.registry import EVERY_PAPER, OTHER_PAPERS, PAPERS


@pytest.mark.slow
def test_a_paper_is_begun_and_reproduced(shell):
    answer = shell("reproduce", "own-paper", "--new")
    assert answer.code == 0, answer.err
    assert {path.name for path in (shell.folder / "own-paper").iterdir()} == {
        "dumbbell.toml", "paper.py", "published.csv", "readings.toml"
    }  # fmt: skip
    answer = shell("reproduce", "own-paper", "--quick", "--seeds", "2", "--report", "page")
    assert answer.code == 0, answer.err
    assert "Gentle RED loses fewer packets" in answer.out
    assert "own-paper: claims as their authors state them" in answer.out
    assert "/own-paper`" in answer.out, "the command of the full run names the folder"
    names = {path.name for path in (shell.folder / "page").iterdir()}
    assert {"report.html", "claims.csv", "readings.csv", "table-1.csv", "queue.csv", "gaps.csv"} <= names
    assert "Report: results/own-paper/report.html" in shell("report", "results/own-paper").out


def test_an_existing_folder_is_kept(tmp_path):
    reproduction.begin(tmp_path / "own")
    with pytest.raises(InputError, match=r"own: is there already \(allowed: a new folder, or an empty one\)"):
        reproduction.begin(tmp_path / "own")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: is there already"):
        reproduction.begin(tmp_path / "file")


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "own").mkdir()
    assert len(reproduction.begin(tmp_path / "own")) == 4
    assert (tmp_path / "own" / "paper.py").is_file()


def test_a_folder_without_a_paper_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"has no paper\.py; begin a paper in a new folder"):
        aqmlab.reproduce(str(tmp_path))
    (tmp_path / "paper.py").write_text("PAPER = 3\n")
    with pytest.raises(InputError, match=r"paper\.py: defines no PAPER"):
        aqmlab.reproduce(str(tmp_path))
    with pytest.raises(InputError, match=r'unknown paper "mrde" .*did you mean mred'):
        aqmlab.reproduce("mrde")


@pytest.mark.parametrize("name", ["exred", "codel", "all"])
def test_a_folder_cannot_have_the_name_of_a_paper(tmp_path, name):
    with pytest.raises(InputError, match="is also the name of a paper of aqmlab"):
        reproduction.begin(tmp_path / name)


def test_papers_on_other_disciplines_are_apart():
    assert list(PAPERS) == ["pc-red", "mred", "ddred", "exred", "adaptive-rio"]
    assert not set(PAPERS) & set(OTHER_PAPERS)
    assert list(EVERY_PAPER) == [*PAPERS, *OTHER_PAPERS]
    assert not set(reproduction.papers()) & set(reproduction.other_papers())
    with pytest.raises(InputError, match=r'unknown paper "mrde" .allowed: .*, all'):
        reproduction.paper_of("mrde")


def test_a_package_without_a_paper_is_an_error(monkeypatch):
    for table in (reproduction.OTHER_PAPERS, reproduction.EVERY_PAPER):
        monkeypatch.setitem(table, "empty", "aqmlab.papers.common")
    with pytest.raises(InputError, match=r"aqmlab\.papers\.common: defines no PAPER"):
        reproduction.paper_of("empty")


def test_an_error_in_a_paper_is_one_line_with_its_place(tmp_path):
    own = tmp_path / "own"
    reproduction.begin(own)
    text = (own / "published.csv").read_text()
    (own / "published.csv").write_text(text.replace("0.05,0.05", "0.05,abc"))
    with pytest.raises(InputError, match=r'own/published\.csv:2: value: "abc" is not a number'):
        aqmlab.reproduce(str(own))
    other = tmp_path / "other"
    reproduction.begin(other)
    (other / "published.csv").write_text(text.replace("RED", "REDD"))
    with pytest.raises(InputError, match=r'published\.csv:2: unknown discipline "REDD".*did you mean RED'):
        aqmlab.reproduce(str(other))
    third = tmp_path / "third"
    reproduction.begin(third)
    script = (third / "paper.py").read_text()
    (third / "paper.py").write_text(script.replace("page=page", "page=pages"))
    with pytest.raises(InputError, match=r"paper third: .*paper\.py:\d+: NameError: name 'pages' is not defined"):
        aqmlab.reproduce(str(third))


def _broken(folder: Path, name: str, old: str, new: str) -> Path:
    reproduction.begin(folder)
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    return folder


def test_a_claim_declared_twice_and_numbers_of_no_quantity(tmp_path):
    folder = tmp_path / "own"
    reproduction.begin(folder)
    text = (folder / "paper.py").read_text()
    (folder / "paper.py").write_text(text.replace("PAPER = ", "CLAIMS.claim('A', 'Again', quote='')\n\nPAPER = "))
    with pytest.raises(InputError, match="claim A: is declared twice"):
        aqmlab.reproduce(str(folder))
    other = tmp_path / "other"
    reproduction.begin(other)
    (other / "published.csv").write_text((other / "published.csv").read_text().replace("loss", "lost"), "utf-8-sig")
    with pytest.warns(
        UserWarning, match=r"published\.csv:2: lost is not a quantity of the claims, and is not compared"
    ):
        reproduction.paper_of(str(other))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("published.csv", "value,", "valu,", r"published\.csv:1: has no column value \(needed: table, .*"),
        (
            "published.csv",
            "0.05,0.05,",
            "0.05,0.05,x,y,",
            r"published\.csv:2: has 10 cells, and there are 8 columns",
        ),
        ("published.csv", "quantity,unit", "unit,unit", r"published\.csv:1: has no column quantity .*"),
        ("published.csv", "n,discipline", "n,n", r"published\.csv:1: a column is given twice: .*"),
        ("readings.toml", "key =", "kee =", r"readings\.toml:3: \[\[reading\]\] 1: has no text key .*"),
        ("readings.toml", "quick = true", "quick = 3", r"SACK: quick: is not true or false"),
        ("readings.toml", "set = {", "set = 3 # {", r"SACK: set: is not a table \(allowed: keys with values\)"),
        ("readings.toml", "[[reading.other]]", "[reading.other]", r"other: is a list of tables"),
        (
            "readings.toml",
            "quick = true",
            "quick = true\n[[explained]]\nof = 3",
            r"explained\]\] 1: has no text why",
        ),
        (
            "readings.toml",
            "[[reading]]",
            "[[explained]]\nwhy = 'w'\nof = { tabel = '1' }\n[[reading]]",
            r"own/readings\.toml:3: \[\[explained\]\] 1: of: unknown column of published\.csv \"tabel\" "
            r"\(allowed: table, quantity, unit, n, discipline; did you mean table\?\)",
        ),
        (
            "readings.toml",
            "[[reading]]",
            "[[used]]\nwhy = 'w'\nof = { discipline = ['RED', 'REDD'] }\n[[reading]]",
            r"\[\[used\]\] 1: of: unknown discipline \"REDD\" \(allowed: RED; did you mean RED\?\)",
        ),
        (
            "readings.toml",
            "[[reading]]",
            "[[used]]\nwhy = 'w'\nof = { n = 10 }\nwhen = 3\n[[reading]]",
            r"readings\.toml:3: \[\[used\]\] 1: unknown key \"when\" \(allowed: of, why\)",
        ),
        (
            "readings.toml",
            "why =",
            "reason = 'r'\nwhy =",
            r"readings\.toml:3: \[\[reading\]\] 1: unknown key \"reason\" \(allowed: key, question, chosen, .*",
        ),
        ("readings.toml", "quick = true", "quick =", r"own/readings\.toml:10:"),
        (
            "readings.toml",
            'transport"',
            'transprt"',
            r"paper own: .*own/readings\.toml:3: TCP flavour: SACK: set: flow\.tcp\.transprt: unknown key \(.*",
        ),
        (
            "paper.py",
            '"flow.tcp.count": n',
            '"flow.tcp.cuont": n',
            r"own/dumbbell\.toml: override: flow\.tcp\.cuont: unknown key",
        ),
        ("readings.toml", "[[reading]]", "[[raeding]]", r"unknown key \"raeding\" .*did you mean reading"),
        ("published.csv", "0.05,0.05,", "0.05,1000,", r"published\.csv:2: printed is 0\.05 and value 1000; .*"),
        ("published.csv", "0.05,0.05,", "inf,inf,", r"published\.csv:2: value: is infinite"),
        ("published.csv", "0.05,0.05,", "1_0,1_0,", r"published\.csv:2: value: \"1_0\" is not a number"),
        ("paper.py", 'tables=("links",)', 'tables=("lnks",)', r"unknown table \"lnks\" .*did you mean links"),
        ("paper.py", "    yield literal(", "    return None\n    yield literal(", r"no test of the literal form"),
        ("paper.py", '"seeds": 4', '"seeds": 0', r"Effort: seeds is 0; an interval needs at least 2"),
        ("paper.py", "effort=Effort,", "effort=3,", r"paper\.py: PAPER: effort: is a class derived from .*"),
        ("paper.py", "claims=CLAIMS,", "claims=[],", r"paper\.py: PAPER: claims: is Claims of .*"),
        ("paper.py", "measure=measure,", "measure=1,", r"paper\.py: PAPER: measure: is a function"),
        ("paper.py", "FILES =", "raise SystemExit\nFILES =", r"paper own: .*paper\.py:\d+: SystemExit"),
        ("paper.py", "FILES =", "def (\nFILES =", r"paper own: .*own/paper\.py:\d+: SyntaxError: invalid syntax$"),
        ("paper.py", '"seeds": 4', '"sedes": 4', r"paper own: Effort: TypeError: .*sedes"),
        (
            "paper.py",
            "    yield literal(",
            "    yield 3\n    yield literal(",
            r"claim \w+: the function yields int, ",
        ),
        (
            "paper.py",
            'return quantities_of(folder, "bottleneck")',
            "return {'loss': float('nan'), 'mean_queue': float('nan')}",
            r"no claim can be judged: measure returned no number for its runs",
        ),
        ("readings.toml", "quick = true", "quik = true", r"SACK: unknown key \"quik\" .*did you mean quick\?"),
        ("readings.toml", "set = {", "set = {}\n# {", r"SACK: sets nothing \(needed: set, with keys and values\)"),
        (
            "published.csv",
            "0.05,0.05,",
            "5,5,",
            r"published\.csv:2: value: 5 of loss \(allowed: 0 to 1; 8 % is .*",
        ),
        ("published.csv", "0.05,0.05,", "-0.1,-0.1,", r"published\.csv:2: value: -0\.1 of loss \(allowed: 0 to 1; .*"),
        (
            "published.csv",
            "loss,,",
            "loss,%,",
            r"published\.csv:2: unit: \"%\" of loss \(allowed: 1, or an .*",
        ),
        ("published.csv", "an example", "an\0", r"published\.csv:2: note: .an\\x00.* \(allowed: text\)"),
        (
            "paper.py",
            "SACK')}",
            "SAKC')}",
            r"claim A: under: unknown reading \".*SAKC\" .*did you mean .*SACK\?",
        ),
        (
            "paper.py",
            '@loss.objection("The flavour of TCP is not printed.")',
            '@loss.objection("No.", under=("SACK",))',
            r"own/paper\.py: claim A: under: PAPER has no headlines",
        ),
        (
            "paper.py",
            "    scenarios=(",
            '    key=common.Key("table-1"),\n    scenarios=(',
            r"PAPER: key: unknown chart of the page \"table-1\" \(allowed: figure-1\)",
        ),
        (
            "paper.py",
            '        "queue",',
            '        "claims",',
            r"own/paper\.py: page: a second table has the name \"claims\" .*",
        ),
        (
            "paper.py",
            "page=page,",
            'page=page, headlines={"SACK": "SAKC"},',
            r"own/paper\.py: PAPER: headlines: SACK: unknown reading \"SAKC\" .*",
        ),
        ("published.csv", "0.05,0.05,", '"0.05,0.05,', r"published\.csv:2: is no row of CSV \(.*is a quote closed\?"),
    ],
)
def test_broken_files_of_a_paper_are_errors_of_one_line(tmp_path, name, old, new, message):
    folder = _broken(tmp_path / "own", name, old, new)
    with pytest.raises(InputError, match=message) as caught:
        aqmlab.reproduce(str(folder), quick=True, out=tmp_path / "results", progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (
            "{'loss': float('inf')}",
            r"measure: loss is infinite in the run n = 10, discipline = RED, seed 1 \(allowed: .*",
        ),
        ("{'loss': 'few', 'mean_queue': 1.0}", r"quantity loss: column loss: .*'few' \(allowed: a finite number, .*"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_of_a_run_that_no_interval_takes_are_errors_of_one_line(tmp_path, numbers, message):
    own = 'return quantities_of(folder, "bottleneck")'
    folder = _broken(tmp_path / "own", "paper.py", own, f"return {numbers}")
    (folder / "dumbbell.toml").write_text((folder / "dumbbell.toml").read_text().replace('"20s"', '"6s"'))
    with pytest.raises(InputError, match=message) as caught:
        aqmlab.reproduce(str(folder), quick=True, seeds=2, out=tmp_path / "results", progress=False)
    assert "\n" not in str(caught.value)
