"""Linux's own CAKE below a tap: a recorded log replayed with and without faults, and the module's changed imports."""

import gzip
import subprocess
from pathlib import Path

import pytest

from aqmlab.errors import InputError
from aqmlab.interop.kernel.cake import IMPORTS, MODULE, cake_queue, tap_files, with_logged_imports
from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.live.tc.module import program_of
from aqmlab.scenario.file import Scenario
from programs import HEADERS, compiler_of, needs, needs_headers, require
from replay_cake import CASES, DECISIONS, FAULTS, dialect, rows, scenario

RECORDED = Path(__file__).parents[1] / "data" / "vm" / "cake-decisions.bin.gz"
CASE = "memlimit 64 KiB"
KERNEL = {"queue.bottleneck.dialect": '"linux-6.1"'}


class TestRecordedLog:
    def test_decisions_are_equal(self):
        found = replay_decisions(scenario(CASE), RECORDED, overrides=KERNEL)
        assert found.difference is None
        assert found.decisions > 1000
        assert found.drops > 300

    @pytest.mark.parametrize(
        ("key", "value"),
        [("memlimit", '"65472B"'), ("isolation", '"flowblind"'), ("rate", '"12.01Mbps"'), ("overhead", "15")],
    )
    def test_a_fault_is_found(self, key, value):
        found = replay_decisions(scenario(CASE), RECORDED, overrides={**KERNEL, f"queue.bottleneck.{key}": value})
        assert found.difference is not None

    def test_a_value_too_few_is_found(self):
        log = bytearray(gzip.decompress(RECORDED.read_bytes()))
        at = next(at for at in range(0, len(log), 64) if log[at + 56] == 36 and log[at + 20] > 3)
        log[at] = 0
        found = replay_decisions(scenario(CASE), bytes(log), overrides=KERNEL)
        assert found.difference is not None
        assert found.difference.what == "values of the call"

    def test_another_discipline_is_an_error(self):
        own = f'aqm = "cake"\n{CASES[CASE].queue}'
        other = Scenario.from_text(scenario(CASE).text.replace(own, 'aqm = "codel"'))
        with pytest.raises(InputError):
            cake_queue(*plan_and_link(other))


class TestModule:
    @pytest.mark.parametrize("name", sorted(tap_files()))
    def test_files(self, name):
        assert tap_files()[name]

    @needs("gcc", "objcopy", "nm")
    def test_imports_are_renamed(self, tmp_path):
        source = "\n".join(f"int {name}(void); int use_{name}(void) {{ return {name}(); }}" for name in IMPORTS)
        made = tmp_path / "made.o"
        subprocess.run(["gcc", "-c", "-x", "c", "-o", made, "-"], input=source.encode(), check=True)
        made.write_bytes(with_logged_imports(made.read_bytes()))
        names = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout.split()
        assert {name for name in names if name != "U"} == {f"aqmlab_{name}" for name in IMPORTS}

    @needs("gcc", "objcopy")
    def test_another_file_is_an_error(self):
        with pytest.raises(InputError, match=r"objcopy cannot change sch_cake\.ko"):
            with_logged_imports(b"text")

    @needs_headers
    def test_it_compiles(self):
        require("make", compiler_of(HEADERS[-1].parent))
        assert program_of(tap_files(), MODULE, HEADERS[-1].parent)


class TestRuns:
    def test_all_scenarios_were_run(self):
        runs = [row for row in rows() if not row["fault"]]
        assert {row["scenario"] for row in runs} == set(CASES)
        assert sum(int(row["decisions"] or 0) for row in runs) >= DECISIONS
        assert all(not row["difference"] for row in runs)

    def test_all_faults_were_found(self):
        faults = [row for row in rows() if row["fault"]]
        assert {row["fault"] for row in faults} == set(FAULTS)
        assert all(row["difference"] for row in faults)

    def test_dialects(self):
        assert {dialect(row["kernel"]) for row in rows()} <= {"linux-6.1", "linux-6.12", "linux-7.3"}
