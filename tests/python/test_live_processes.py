"""Processes of live runs: what they are told reaches them, what they say is read, and they end with their starter."""

import subprocess
import sys


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
