"""Processes of live runs: what they are told reaches them, what they say is read, and they end with their starter."""

import os
import signal
import subprocess
import sys

import pytest

from aqmlab.live import rootless
from aqmlab.live.link_process import LiveError


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

    def test_a_file_that_is_not_there_is_one_line(self, tmp_path):
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

    def test_where_it_is_refused_nothing_is_started(self, environment, monkeypatch):
        monkeypatch.setenv("REFUSED", "1")
        with pytest.raises(LiveError, match=r"^a live run needs root, or a user namespace in which TUN devices "):
            rootless.again(["live"])
