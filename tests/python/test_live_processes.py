"""Processes of live runs: their input and output, and their end with the process that started them."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from aqmlab.live import link_process, rootless
from aqmlab.live.link_process import LinkProcess, LiveError
from aqmlab.live.process_output import Heard
from aqmlab.live.processes import Identity, end, finish, start
from aqmlab.live.traffic import workers
from aqmlab.live.traffic.workers import Worker

pytestmark = pytest.mark.slow


class TestLinkOfThePackage:
    def be_a_link(self, argument, said=""):
        command = [sys.executable, "-m", "aqmlab.live.link", argument]
        done = subprocess.run(command, input=said, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.splitlines()

    def test_commands_behind_the_configuration_are_left_to_the_core(self):
        program = (
            "import os; from aqmlab import _core; from aqmlab.live import link\n"
            "_core.live_link = lambda argument: print(argument, os.read(0, 100)) or 0\n"
            "link.main(['-'])"
        )
        done = subprocess.run([sys.executable, "-c", program], input=b"{}\nstart\n", capture_output=True, check=True)
        assert done.stdout.decode().strip() == r"- b'{}\nstart\n'"

    def test_a_configuration_of_several_lines(self):
        code, said = self.be_a_link("-", '{\n"scenario": ""\n}\nstart\n')
        assert code == 2
        assert len(said) == 1
        assert said[0].startswith("configuration: missing field")

    def test_a_file_that_is_not_there_is_an_error_of_one_line(self, tmp_path):
        code, said = self.be_a_link(str(tmp_path / "no.json"))
        assert code == 2
        assert said == [f"configuration: {tmp_path / 'no.json'}: No such file or directory (os error 2)"]


class TestWithoutRoot:
    """The program `unshare` is one that says how it was called, and in which process, and then sleeps."""

    @pytest.fixture
    def environment(self, tmp_path, monkeypatch):
        unshare = tmp_path / "unshare"
        unshare.write_text('#!/bin/sh\n[ -n "$5" ] || exit "${REFUSED:-0}"\necho $$ "$@"\nexec sleep 97\n')
        unshare.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_the_process_becomes_the_run_so_that_signals_reach_it(self, environment, number):
        program = "from aqmlab.live import rootless; print('before'); rootless.again(['live', 'a b.toml'])"
        started = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        with started:
            assert started.stdout.readline() == "before\n"
            pid, words = started.stdout.readline().split(maxsplit=1)
            assert int(pid) == started.pid
            assert words.endswith("-m aqmlab live a b.toml\n")
            started.send_signal(number)
            assert started.wait(60) == -number

    def test_without_a_user_namespace_nothing_is_started(self, environment, monkeypatch):
        monkeypatch.setenv("REFUSED", "1")
        with pytest.raises(LiveError, match=r"^a live run needs root, or a user namespace in which TUN devices "):
            rootless.again(["live"])


def program(text):
    return [sys.executable, "-S", "-c", f"import os, sys, time\n{text}"]


class TestHeard:
    def test_neither_pipe_fills_up(self):
        process = start(
            program("os.write(2, b'e\\n' * 200_000); os.write(1, b'o' * 500_000 + b'\\nlast'); sys.exit(3)")
        )
        heard = Heard(process)
        assert process.wait(60) == 3
        assert [len(line) for line in heard.rest(60)] == [500_000, 4]
        assert heard.last_complaint(60) == "e"
        assert len(heard.complaints) == 200_000
        end(process)

    def test_the_beginning_of_a_line_is_known_before_its_end(self):
        process = start(
            program("os.write(1, b'one\\n{\"two'); sys.stdin.read(); os.write(1, b'\\n')"), stdin=subprocess.PIPE
        )
        heard = Heard(process)
        assert heard.line(60) == "one"
        assert (heard.line(0), heard.beginning) == (None, b'{"two')
        process.stdin.close()
        assert heard.line(60) == '{"two'
        assert heard.line(60) is None
        end(process)


class TestOutcome:
    @pytest.fixture
    def outcome(self, tmp_path, monkeypatch):
        """Yield a function that runs `text` in a link and returns its outcome; a silence of a second ends the wait."""
        monkeypatch.setattr(link_process, "SILENT_S", 1.0)
        monkeypatch.setattr(link_process, "POLL_S", 0.01)
        opened = []

        def of(text):
            opened.append(
                LinkProcess({}, tmp_path, command=program(f"print('{{\"ready\": {{}}}}', flush=True)\n{text}"))
            )
            opened[-1].wait_ready()
            return opened[-1].wait_outcome()

        yield of
        for one in opened:
            one.close()

    def test_it_is_waited_for_as_long_as_it_comes(self, tmp_path, monkeypatch):
        class Slow:
            """Says a bit of its outcome every 10 s, by a clock of its own."""

            at, beginning = 0.0, b'{"outcome": {'

            def line(self, _longest_s):
                self.at += 10.0
                return None if self.at < 200.0 else '{"outcome": {"x": 1}}'

        one = LinkProcess({}, tmp_path, command=program("time.sleep(60)"))
        one.heard = slow = Slow()
        monkeypatch.setattr(link_process, "time", SimpleNamespace(monotonic=lambda: slow.at))
        assert one.wait_outcome() == {"x": 1}
        one.close()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "os.write(1, b'{\"outcome\": {')\n",
            "for _ in range(600): os.write(1, b'{\"t\": 1}\\n'); time.sleep(0.1)\n",
        ],
        ids=["silent", "begun", "snapshots"],
    )
    def test_a_link_that_gives_none_is_not_waited_for(self, outcome, text):
        with pytest.raises(LiveError, match=r"^link process gave no outcome \(it still runs\)$"):
            outcome(f"{text}time.sleep(60)")


class Stage:
    """Starts another program in place of that of the traffic."""

    def __init__(self, text):
        self._text = text

    def start(self, _command, _side, *, stdin):
        return start(program(self._text), stdin=stdin)


class TestWorkers:
    @pytest.fixture
    def worker(self):
        opened = []

        def of(text):
            opened.append(Worker("sink", {}, Stage(text), "b"))
            return opened[-1]

        yield of
        for one in opened:
            end(one.process)

    def test_one_that_is_never_ready_is_not_waited_for(self, worker, monkeypatch):
        monkeypatch.setattr(workers, "READY_WITHIN_S", 0.1)
        monkeypatch.setattr(workers, "ENDING_S", 0.1)
        with pytest.raises(LiveError, match=r"^traffic sink: was not ready within 0.1 s$"):
            worker("time.sleep(60)").wait_ready()

    @pytest.mark.parametrize(
        ("text", "says"), [("sys.exit('no such port')", "no such port"), ("print('well')", "ended early")]
    )
    def test_one_that_cannot_begin_reports_the_reason(self, worker, monkeypatch, text, says):
        monkeypatch.setattr(workers, "ENDING_S", 60.0)
        with pytest.raises(LiveError, match=f"^traffic sink: {says}$"):
            worker(text).wait_ready()

    def test_one_that_ends_before_its_order_is_waited_for(self, worker, monkeypatch):
        """On a busy machine it may end before it is sent its order."""
        started = []
        start = Stage.start

        def late(stage, *words, **options):
            process = start(stage, *words, **options)
            process.wait(60)
            started.append(process)
            return process

        monkeypatch.setattr(Stage, "start", late)
        with pytest.raises(LiveError, match=r"^traffic sink: no such port$"):
            worker("sys.exit('no such port')").wait_ready()
        assert all(stream.closed for one in started for stream in (one.stdin, one.stdout) if stream is not None)

    def test_one_that_complains_much_goes_on(self, worker):
        # Its order comes before it is ready, and its start after.
        one = worker(
            "sys.stdin.readline(); print('ready', flush=True); sys.stdin.readline();"
            "os.write(2, b'e' * 200_000); print('{\"flows\": []}')"
        )
        one.wait_ready()
        one.begin(0.0)
        assert one.process.wait(60) == 0
        assert one.report() == {"flows": []}


class TestProgramsOfTheBackends:
    @pytest.mark.parametrize("module", ["aqmlab.live.vm.machine", "aqmlab.live.tc.backend"])
    def test_they_end_with_their_starter(self, tmp_path, module):
        said = tmp_path / "said"
        work = program(f"open({str(said)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(97)")
        limit = ", 97" if module.endswith("backend") else ""
        started = subprocess.Popen(
            [sys.executable, "-c", f"from {module} import _{'work' if limit else 'run'} as work; work({work!r}{limit})"]
        )
        until = time.monotonic() + 60
        while not (said.exists() and said.read_text().endswith("\n")):
            assert time.monotonic() < until
            time.sleep(0.02)
        found = Identity.of(int(said.read_text()))
        assert found.alive
        started.kill()
        started.wait()
        while found.alive and time.monotonic() < until:
            time.sleep(0.02)
        assert not found.alive

    def test_one_that_takes_too_long_is_ended(self):
        with pytest.raises(subprocess.TimeoutExpired) as raised:
            finish(program("time.sleep(97)"), longest_s=0.1)
        assert raised.value.timeout == 0.1

    def test_its_output_and_exit_code_are_known(self):
        done = finish(program("print('out'); sys.exit('why')"), longest_s=60)
        assert (done.returncode, done.stdout, done.stderr) == (1, "out\n", "why\n")
