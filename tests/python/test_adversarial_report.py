"""Reports write inside their folder only."""

import json

import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.figures.runs import slug
from aqmlab.reporting import plots

HOSTILE = "x/../../../outside"


@pytest.fixture
def results(tmp_path, dumbbell):
    path = tmp_path / "hostile.toml"
    text = dumbbell.replace('name = "small"', f'name = "{HOSTILE}"').replace('duration = "3s"', 'duration = "1s"')
    path.write_text(text)
    out = tmp_path / "results" / "deep"
    aqmlab.run(path, seeds=1, out=out, progress=False)
    return out


def files_outside(folder, root):
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not p.is_relative_to(folder))


@pytest.mark.slow
def test_a_scenario_name_with_folders_stays_a_file_name(results, tmp_path):
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    # The folder that makes figures/topology-x/../../../outside a path that can be opened.
    (folder / "figures" / "topology-x").mkdir(parents=True)
    before = files_outside(folder, tmp_path)
    aqmlab.report(folder)
    assert files_outside(folder, tmp_path) == before
    assert (folder / "figures" / f"{slug('topology ' + HOSTILE)}.svg").is_file()


@pytest.mark.slow
def test_a_name_that_comes_from_a_summary_stays_a_file_name(results, tmp_path):
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    path = folder / "seed-0001" / "summary.json"
    summary = json.loads(path.read_text())
    summary["scenario"]["name"] = "/tmp/../" + HOSTILE
    path.write_text(json.dumps(summary))
    (path.parent / "SHA256SUMS").unlink()
    (folder / "figures" / "topology-").mkdir(parents=True)
    before = files_outside(folder, tmp_path)
    aqmlab.report(results)
    assert files_outside(folder, tmp_path) == sorted(
        [*before, "results/deep/report.html", *new_figures(results, tmp_path)]
    )


def new_figures(results, root):
    return [str(p.relative_to(root)) for p in (results / "figures").iterdir()]


@pytest.mark.parametrize("key", ["", "..", "a/b", "/etc/x", ".hidden", "a\0b"])
def test_a_key_that_is_no_file_name_is_an_error(key):
    with pytest.raises(InputError, match="cannot be a file name"):
        plots.file_stem(key)
