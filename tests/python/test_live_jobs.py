"""Live runs side by side: invalid runs are repeated, and an interrupt leaves no run behind."""

import pytest

import live_jobs
from live_jobs import Job, LiveJobs


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(live_jobs, "LOOK_S", 0.02)
    monkeypatch.setattr(live_jobs, "STAGGER_S", 0.0)
    monkeypatch.setattr(live_jobs, "stolen_s", lambda: 0.0)


def job(name, script, is_valid, seconds=60.0):
    return Job(name, ("/bin/sh", "-c", script), seconds, 1.0, is_valid)


def test_a_run_that_is_not_valid_is_done_again(tmp_path, capsys):
    count = tmp_path / "count"
    done = lambda: count.exists() and count.read_text().count("x") >= 3  # noqa: E731
    assert LiveJobs(2, 60).do([job("one", f"printf x >> {count}", done)]) == []
    assert count.read_text() == "xxx"
    assert capsys.readouterr().out.splitlines()[-1] == "one: valid"


def test_jobs_that_are_unfinished_at_the_deadline_are_named_and_ended(tmp_path):
    left = tmp_path / "left"
    one = job("one", f"trap 'echo ended > {left}; kill $!; exit' TERM; sleep 60 & wait", lambda: False)
    assert [missing.name for missing in LiveJobs(1, 1.0).do([one, job("two", "true", lambda: False)])] == ["two", "one"]
    assert left.read_text() == "ended\n"


def test_a_run_from_which_much_was_taken_is_given_up(monkeypatch, capsys):
    stolen = iter([0.0] * 8 + [5.0] * 10_000)
    monkeypatch.setattr(live_jobs, "stolen_s", lambda: next(stolen))
    LiveJobs(1, 1.0).do([job("one", "exec sleep 60", lambda: False)])
    assert "one: stopped after" in capsys.readouterr().out


def test_an_interrupt_ends_the_runs(monkeypatch):
    begun = []
    start = live_jobs.subprocess.Popen

    def keep(*words, **options):
        begun.append(start(*words, **options))
        return begun[-1]

    def look(self, now, stolen):
        if self._running:
            raise KeyboardInterrupt

    monkeypatch.setattr(live_jobs.subprocess, "Popen", keep)
    monkeypatch.setattr(LiveJobs, "_look", look)
    with pytest.raises(KeyboardInterrupt):
        LiveJobs(1, 60).do([job("one", "exec sleep 60", lambda: False)])
    assert [process.poll() for process in begun] == [-15]
