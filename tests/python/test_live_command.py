"""The command `live`: options, progress and messages. No test starts a run."""

import io
import json
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from aqmlab import Scenario
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.live import kernel_backends, running
from aqmlab.live.kernel_backends import Bottleneck
from aqmlab.live.link_process import LiveError
from aqmlab.live.plan import live_plan
from aqmlab.live.vm import build
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

    def test_other_runs_have_a_bar_unless_progress_is_off(self, bar, tmp_path):
        assert bar(Screen())
        assert bar(Screen(), f"jsonl={tmp_path / 'seen'}")
        assert not bar(Screen(), progress=False)


class TestQdisc:
    WORDS = "pfifo limit 100"

    def test_it_reaches_the_backend_and_is_in_the_result(self, scenario, monkeypatch):
        def work(_plan, *, qdisc):
            setting = SimpleNamespace(qdisc=SimpleNamespace(text=qdisc))
            return SimpleNamespace(setting=setting, tables={}, system={}, longest_gap_s=1.0, pings=[])

        monkeypatch.setattr("aqmlab.live.tc.backend.run", work)
        output, _, _ = kernel_backends.perform(live_plan(Scenario.load(scenario), seed=1), Bottleneck("tc", self.WORDS))
        assert output.summary["live"]["qdisc"] == self.WORDS

    @pytest.mark.parametrize("backend", ["tc", "vm"])
    def test_the_command_passes_it_to_the_run(self, scenario, monkeypatch, capsys, backend):
        given = {}

        def run(*_, **words):
            given.update(words)
            raise LiveError("far enough")

        monkeypatch.setattr(running, "run", run)
        assert main(["live", str(scenario), "--backend", backend, "--qdisc", self.WORDS]) == 1
        assert (given["backend"], given["qdisc"]) == (backend, self.WORDS)
        assert capsys.readouterr().err == "aqmlab: far enough\n"

    @pytest.mark.parametrize(
        ("backend", "words", "says"),
        [
            ("link", WORDS, "^--qdisc: is for --backend tc or vm$"),
            ("tc", "pfifo; reboot", '^"pfifo; reboot" is not a discipline in the words of tc'),
        ],
    )
    def test_an_invalid_discipline_is_reported_before_anything_is_made(self, scenario, tmp_path, backend, words, says):
        with pytest.raises(InputError, match=says):
            running.run(scenario, backend=backend, qdisc=words, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


class TestBuildVm:
    @pytest.fixture
    def built(self, tmp_path, monkeypatch):
        """Return the list of builds; the kernel of a built image is one letter."""
        found = []
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

        def make(folder, *, tell):
            image = build.cache() / build.CURRENT
            image.mkdir(parents=True, exist_ok=True)
            for name, text in {
                "kernel": "k",
                "initramfs": "i",
                "manifest.json": json.dumps({"asked": build.ASKED}),
            }.items():
                (image / name).write_text(text)
            found.append(folder)
            tell("fetching it")
            return build.find(folder)

        monkeypatch.setattr(build, "build", make)
        return found

    def test_an_image_is_built_once(self, built, capsys):
        said = []
        for _ in range(2):
            assert main(["live", "--backend", "vm", "--build-vm"]) == 0
            answer = capsys.readouterr()
            assert answer.out == ""
            said.append(answer.err.splitlines())
        image = f"aqmlab: image {build.cache() / build.CURRENT}"
        assert said == [["aqmlab: fetching it", image], [image]]
        assert len(built) == 1

    def test_an_incomplete_image_is_built_again(self, built):
        build.find_or_build()
        (build.cache() / build.CURRENT / "manifest.json").write_text("{")
        build.find_or_build()
        assert len(built) == 2

    def test_an_image_of_another_version_is_built_again(self, built):
        build.find_or_build()
        (build.cache() / build.CURRENT / "manifest.json").write_text('{"asked": ["ip", "tc"]}')
        with pytest.raises(InputError, match=r"was built by another version of aqmlab \(build it again: "):
            build.find()
        build.find_or_build()
        assert len(built) == 2

    def test_the_image_of_a_kernel_is_built(self, built, monkeypatch, capsys, tmp_path):
        asked = []

        def images(words, *, option, tell):
            asked.append((list(words), option))
            return [build.Image(tmp_path / "6.12", {})]

        monkeypatch.setattr("aqmlab.live.vm.kernels.images", images)
        assert main(["live", "--backend", "vm", "--build-vm", "--kernel", "6.12"]) == 0
        assert asked == [(["6.12"], "--kernel")]
        assert capsys.readouterr().err == f"aqmlab: image {tmp_path / '6.12'}\n"
        assert not built

    @pytest.mark.parametrize("backend", ["link", "tc"])
    def test_other_backends_have_no_image(self, built, capsys, backend):
        assert main(["live", "--backend", backend, "--build-vm"]) == 2
        assert capsys.readouterr().err == "aqmlab: --build-vm: is for --backend vm\n"
        assert not built
