"""Hostile scenario files, options and plug-ins: one clear message, in bounded time and memory."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.cli.output import print_rows
from aqmlab.errors import InputError, ScenarioError, escaped, printable
from aqmlab.runs import runner
from aqmlab.scenario import plugins
from aqmlab.scenario.file import LONGEST_TEXT, Scenario, read_text
from aqmlab.scenario.toml_text import override

pytestmark = pytest.mark.slow

AQMLAB = Path(sys.executable).with_name("aqmlab")


def problems_of(text, **overrides):
    with pytest.raises(ScenarioError) as found:
        Scenario.from_text(text, overrides=overrides)
    return str(found.value)


def message_of(capsys):
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert "Traceback" not in said
    return said


class TestSeeds:
    def test_a_log_line_of_two_seeds_far_apart_takes_no_memory(self):
        tracemalloc.start()
        try:
            assert runner._ranges([1, 300_000_000]) == "1,300000000"
            assert runner._ranges([5, 6, 7]) == "5-7"
            assert tracemalloc.get_traced_memory()[1] < 1e6
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize(
        "text", ["²", "１", "1,²", "1-²", "9" * 5000, f"1,{2**63}", str(2**64), "-1", "", "1-", "٣"]
    )
    def test_that_are_no_numbers_are_bad_input(self, small, text, tmp_path, capsys):
        assert main(["run", str(small), f"--seeds={text}", "--out", str(tmp_path / "out")]) == 2
        message_of(capsys)

    def test_in_one_list_are_bounded_together(self, small, capsys):
        assert main(["run", str(small), "--seeds", "1-900000,1000001-1900000"]) == 2
        assert "too many (allowed: up to 1,000,000 seeds)" in message_of(capsys)

    @pytest.mark.parametrize("seeds", [[2**63], [-1], []])
    def test_of_python_are_checked_too(self, small, seeds):
        with pytest.raises(InputError, match="seeds"):
            aqmlab.run(small, seeds=seeds, progress=False)

    def test_the_largest_is_run(self, small):
        found = aqmlab.run(small, seeds=[2**63 - 1], overrides={"run.duration": "100ms"}, progress=False)
        assert found.seeds == [2**63 - 1]


class TestMemory:
    def test_of_samples_is_bounded_with_the_figure(self, dumbbell):
        said = problems_of(dumbbell, **{"run.duration": "100s", "probe.queue_interval": "1us"})
        assert "makes 100000000 samples, about 25.000 GB of memory" in said
        assert "at most 16000000 samples, 4 GB" in said

    def test_of_several_kinds_of_samples_is_bounded_together(self, dumbbell):
        each = {"probe.queue_interval": "12us", "probe.cwnd_interval": "36us"}
        Scenario.from_text(dumbbell, overrides={"run.duration": "100s", "probe.queue_interval": "12us"})
        assert "with those before" in problems_of(dumbbell, **{"run.duration": "100s", **each})

    def test_of_segments_is_bounded_with_the_figure(self, dumbbell):
        video = 'transport = "newreno"\nvideo = { buffer = "1000s", segment = "1us" }'
        said = problems_of(dumbbell.replace('transport = "newreno"', video))
        assert "flow.tcp.video.segment: makes up to 3009000000 segments in a run, about 1504.500 GB" in said
        assert "at most 8000000 segments, 4 GB" in said

    def test_usual_videos_are_allowed(self, dumbbell):
        video = 'transport = "newreno"\nvideo = { segment = "1s" }'
        Scenario.from_text(dumbbell.replace('transport = "newreno"', video), overrides={"run.duration": "1000s"})

    def test_a_mistake_does_not_expand_a_million_flows(self, dumbbell):
        before = time.process_time()
        text = dumbbell.replace("count = 3", "count = 1000000").replace("max_p = 0.1", 'max_p = "no"')
        assert "queue.bottleneck.max_p" in problems_of(text)
        assert time.process_time() - before < 1.0


class TestNames:
    def test_of_a_scenario_are_bounded(self, dumbbell):
        Scenario.from_text(dumbbell, overrides={"name": "x" * 120})
        for name in ("x" * 121, "ä" * 61, "x" * 100_000):
            assert "bytes (allowed: at most 120 bytes)" in problems_of(dumbbell, name=name)

    def test_that_come_from_the_file_are_bounded(self, dumbbell):
        text = dumbbell.replace('name = "small"\n', "")
        with pytest.raises(ScenarioError, match=r"the name, which is the file's, has 121 bytes"):
            Scenario.from_text(text, filename=f"/tmp/{'x' * 121}.toml")

    def test_of_flows_are_bounded(self, dumbbell):
        assert "too long (allowed: at most 120 bytes)" in problems_of(dumbbell, **{"flow.tcp.name": "x" * 121})

    def test_without_control_characters(self, dumbbell):
        text = dumbbell.replace('"small"', r'"red\u001b[31m"')
        assert "control character" in problems_of(text)
        assert "\x1b" not in problems_of(text)

    def test_of_120_bytes_are_run_and_reported(self, dumbbell, tmp_path):
        name = "é" * 60
        path = tmp_path / "long.toml"
        path.write_text(dumbbell.replace('"small"', f'"{name}"'))
        found = aqmlab.run(path, seeds=1, out=tmp_path, overrides={"run.duration": "1s"}, progress=False)
        assert aqmlab.report(found.folder, pictures=False).exists()


class TestDurations:
    @pytest.mark.parametrize("duration", ["8640001s", "18446744.073709551615s", "18446744s", "144001min"])
    def test_near_the_end_of_time_are_refused_with_the_figure(self, dumbbell, duration):
        said = problems_of(dumbbell, **{"run.duration": duration, "probe.queue_interval": "100000s"})
        assert "run.duration: is longer than 100 days, the longest run there is (allowed: at most 8640000s)" in said

    @pytest.mark.parametrize("engine", ["events", "windows"])
    def test_up_to_100_days_times_do_not_wrap(self, dumbbell, engine):
        flow = dumbbell.index("[[flow]]")
        slow = '[[flow]]\nname = "slow"\ntransport = "udp"\nrate = "1bps"\n\n[probe]\nqueue_interval = "1728000s"\n'
        found = aqmlab.run(
            Scenario.from_text(dumbbell[:flow] + slow),
            seeds=1,
            overrides={"run.duration": "8640000s"},
            progress=False,
            engine=engine,
        )
        assert int(found.links.set_index("link").loc["bottleneck", "arrivals"]) == 1080  # 8000 bits each
        assert list(found.queue_samples["t_s"].unique()) == [1728000.0 * n for n in range(6)]


class TestValues:
    def test_a_date_in_a_grid_is_bad_input(self, small, tmp_path, capsys):
        study = tmp_path / "study.toml"
        for grid in ("[2020-01-01]", "[[2020-01-01]]", "2020-01-01", "[{ a = 10:00:00 }]"):
            study.write_text(f'study = 1\nscenario = "small.toml"\n[grid]\n"flow.tcp.count" = {grid}\n')
            assert main(["sweep", str(study), "--out", str(tmp_path / "store")]) == 2
            assert re.search(r"study\.toml:4:\d+: not TOML: ", message_of(capsys))

    def test_bytes_are_no_value(self):
        with pytest.raises(InputError, match="is not a value of a scenario"):
            override(None)

    @pytest.mark.parametrize(
        "address", ["garbage", "tcp://", "://", "tcp://[", "tls://x", "xyz://a:1", "\x00", "tcp://127.0.0.1:99999"]
    )
    def test_an_address_that_is_none_is_bad_input_at_once(self, small, tmp_path, capsys, monkeypatch, address):
        def client(*_):
            raise AssertionError("Dask reports a client that cannot connect only when the client is collected")

        monkeypatch.setattr("aqmlab.runs.executors._dask_client", client)
        words = ["sweep", str(small), "--grid", "flow.tcp.count=1", "--out", str(tmp_path), "--dask", address]
        assert main(words) == 2
        assert message_of(capsys).count("\n") == 1


class TestMessages:
    def test_show_control_characters_as_escapes(self, dumbbell, tmp_path, capsys):
        path = tmp_path / "a.toml"
        path.write_text(dumbbell.replace('aqm = "red"', r'aqm = "r\u001b]0;title\u0007ed\u202e\u009b"'))
        assert main(["check", str(path)]) == 2
        said = message_of(capsys)
        assert not any(c in said for c in "\x1b\x07\u202e\x9b\r")

    def test_of_file_names_and_options_too(self, capsys):
        for words in (
            ["check", "a\x1b[2J.toml"],
            ["run", "a.toml", "--seeds", "\x1b[2J"],
            ["\x1b[2J"],
            ["list", "\x1b"],
        ):
            assert main(words) == 2
            said = message_of(capsys)
            assert "\x1b" not in said
            assert r"\x1b" in said

    def test_of_a_value_of_a_megabyte_are_short(self, dumbbell, tmp_path, capsys):
        path = tmp_path / "a.toml"
        for key, old in (("aqm", 'aqm = "red"'), ("rate", 'rate = "2Mbps"'), ("max_p", "max_p = 0.1")):
            path.write_text(dumbbell.replace(old, f'{key} = "{"x" * 1_000_000}"'))
            assert main(["check", str(path)]) == 2
            said = message_of(capsys)
            assert len(said) < 20_000
            assert said.startswith(str(path))
            assert "characters left out" in said

    def test_cells_of_tables_show_escapes(self, capsys):
        print_rows(["name"], [["a\x1b[31mb\nc"]])
        assert r"a\x1b[31mb\nc" in capsys.readouterr().out

    def test_are_cut_and_keep_both_ends(self):
        assert printable("begin" + "x" * 10_000 + "end").endswith("end")
        assert printable("a\n" * 10_000).count("\n") == 200
        assert escaped("a\nb\x7f\ud800") == "a\nb\\x7f\\ud800"


class TestStandardFiles:
    @pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
    @pytest.mark.parametrize("words", [["list", "tcp"], ["--help"], ["list", "red"]])
    def test_without_unicode_lose_nothing(self, encoding, words, monkeypatch):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
        assert main(words) == 0
        sys.stdout.flush()
        assert len(raw.getvalue()) > 500

    def test_that_are_closed_are_no_error_and_hold_no_results(self, small):
        for closed in (">&-", ">&- 2>&- <&-"):
            script = f'exec "{AQMLAB}" check "{small}" {closed}'
            done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""


class TestFiles:
    def test_a_pipe_in_which_nothing_comes(self, tmp_path, monkeypatch):
        monkeypatch.setattr("aqmlab.input_files.SILENT_S", 0.2)
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match=r"nothing came out of this pipe for 0\.2 s"):
            read_text(tmp_path / "pipe")

    def test_a_pipe_that_is_written_is_read(self, tmp_path, dumbbell):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text(dumbbell))
        writer.start()
        assert Scenario.load(pipe).name == "small"
        writer.join()

    def test_a_pipe_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr("aqmlab.scenario.file.LONGEST_TEXT", 3_000_000)
        with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
            with pytest.raises(InputError, match="is too long"):
                read_text(Path(f"/dev/fd/{endless.stdout.fileno()}"))
            endless.kill()

    @pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "/dev/urandom"])
    def test_a_device(self, name):
        with pytest.raises(InputError, match="is a device"):
            read_text(Path(name))

    def test_a_file_that_is_too_long(self, tmp_path):
        with (tmp_path / "a.toml").open("wb") as file:
            file.truncate(LONGEST_TEXT + 1)
        with pytest.raises(InputError, match="too long"):
            read_text(tmp_path / "a.toml")

    def test_a_carriage_return_alone(self, tmp_path, dumbbell):
        path = tmp_path / "a.toml"
        path.write_bytes(dumbbell.replace("\n", "\r\n").encode())
        assert Scenario.load(path).hash == Scenario.from_text(dumbbell, filename="a.toml").hash
        path.write_bytes(dumbbell.replace("\nname", "\rname").encode())
        with pytest.raises(ScenarioError, match=r"a\.toml:1:11: not TOML: a carriage return without a line feed"):
            Scenario.load(path)


class TestPlugins:
    @pytest.mark.parametrize("every", [0, 0.0, -1.0, float("nan"), float("inf"), 1e-12, 9e-7])
    def test_with_a_timer_that_never_ends_are_refused_with_the_figure(self, every):
        class Fast(plugins.Discipline):
            pass

        Fast.every = every
        with pytest.raises(InputError, match=r"every: .* is out of range \(allowed: 0.000001 s or more, or None\)"):
            plugins.discipline("too-fast")(Fast)

    def test_ctrl_c_inside_one_ends_with_130(self, dumbbell, tmp_path):
        (tmp_path / "slow.py").write_text(
            "import os, signal\nfrom aqmlab.scenario import plugins\n"
            "@plugins.discipline('slow')\nclass Slow(plugins.Discipline):\n"
            "    def enqueue(self, now, packet, queue):\n"
            "        os.kill(os.getpid(), signal.SIGINT)\n        return 'accept'\n"
        )
        (tmp_path / "a.toml").write_text(dumbbell)
        words = ["--plugin", str(tmp_path / "slow.py"), "run", str(tmp_path / "a.toml"), "--seeds", "1"]
        limit = ["--set", 'queue.bottleneck={ aqm = "slow" }', "--out", str(tmp_path / "out")]
        done = subprocess.run(
            [AQMLAB, *words, *limit],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert done.returncode == 130, done.stderr
        assert "interrupted" in done.stderr
        assert "Traceback" not in done.stderr

    def test_ctrl_c_inside_a_curve_ends_the_check(self, dumbbell):
        """In a process of its own, since a plug-in stays registered as long as its process lives."""
        program = (
            "from aqmlab import _core\nfrom aqmlab.scenario import plugins\n"
            "@plugins.curve('interrupted-curve')\ndef curve(average, red):\n    raise KeyboardInterrupt\n"
            f"text = {dumbbell!r}\n"
            "try:\n    _core.Scenario(text.replace('\"red\"', '\"interrupted-curve\"'), 'a.toml')\n"
            "except KeyboardInterrupt:\n    print('interrupted')\n"
            "print(_core.Scenario(text, 'a.toml').description()['name'])\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "interrupted\nsmall\n"

    def test_a_second_ctrl_c_ends_one_that_never_ends(self, dumbbell, tmp_path):
        (tmp_path / "endless.py").write_text(
            "import pathlib, time\nfrom aqmlab.scenario import plugins\n"
            "@plugins.discipline('endless')\nclass Endless(plugins.Discipline):\n"
            "    def enqueue(self, now, packet, queue):\n"
            f"        pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
            "        while True:\n            time.sleep(0.01)\n"
        )
        (tmp_path / "a.toml").write_text(dumbbell)
        words = ["--plugin", str(tmp_path / "endless.py"), "run", str(tmp_path / "a.toml"), "--seeds", "2"]
        limit = ["--workers", "2", "--set", 'queue.bottleneck={ aqm = "endless" }', "--out", str(tmp_path / "out")]
        with subprocess.Popen(
            [AQMLAB, *words, *limit],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:
            until = time.monotonic() + 60
            while not (tmp_path / "begun").exists() and time.monotonic() < until:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
            assert "interrupted" in process.stderr.read()
