"""What the command `live` does around its runs: nothing runs here."""

import io
from contextlib import contextmanager
from unittest.mock import Mock

import pytest

from aqmlab.live import running
from aqmlab.live.link_process import LiveError
from live_machine import SCENARIO


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


class Screen(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    @pytest.fixture
    def bar(self, scenario, monkeypatch):
        """Whether a run draws a bar that writes what it shows on this stdout."""
        shown = []

        @contextmanager
        def bar_over(*_, shown: bool, found=shown):
            found.append(shown)
            yield Mock()

        def perform(*_, **__):
            raise LiveError("far enough")

        for name, instead in {
            "checked": lambda *_: [],
            "clean": list,
            "bar_over": bar_over,
            "perform": perform,
        }.items():
            monkeypatch.setattr(running, name, instead)

        def drawn(stdout, *views, progress=True):
            monkeypatch.setattr("sys.stdout", stdout)
            with pytest.raises(LiveError, match="far enough"):
                running.run(scenario, stats=views, progress=progress)
            return shown[-1]

        return drawn

    @pytest.mark.parametrize("view", ["terminal", "tc", "jsonl"])
    def test_a_view_on_the_terminal_is_alone_there(self, bar, view):
        assert not bar(Screen(), view)
        assert bar(io.StringIO(), view)

    def test_other_runs_have_a_bar_unless_they_are_told_not_to(self, bar, tmp_path):
        assert bar(Screen())
        assert bar(Screen(), f"jsonl={tmp_path / 'seen'}")
        assert not bar(Screen(), progress=False)
