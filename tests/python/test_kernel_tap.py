"""Linux's own CoDel below a tap: a recorded log replayed with and without faults, and a run in the emulated machine."""

import gzip
import json
from pathlib import Path

import pytest

from aqmlab.errors import InputError
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.interop.kernel.tap import MODULE, tap_files, tapped_queue
from aqmlab.interop.tc.queues import Qdisc
from aqmlab.live.tc.outcome import unpacked
from aqmlab.live.tc.tap import Tap, tap_program
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import find
from aqmlab.live.vm.headers import INSTALLED
from aqmlab.live.vm.machine import boot
from aqmlab.scenario.file import Scenario
from netem_runs import HEAD, compiled
from programs import EMULATOR, needs
from replay_kernel import CASES, DECISIONS, FAULTS, rows, scenario, with_fault

RECORDED = Path(__file__).parents[1] / "data" / "vm" / "codel-decisions.bin.gz"
CASE = scenario("target 0.1 ms, interval 1 ms", "TCP", 4)
MARKED = RECORDED.with_name("codel-ce-threshold.bin.gz")
"""The beginning of a run of Linux 6.1: two CUBIC flows with ECN, a CE threshold of 2 ms."""
JOB = f"""\
mount -t debugfs debugfs /sys/kernel/debug
must insmod /job/{MODULE}.ko log=65536
must $IP link set lo mtu 1500
must $TC qdisc add dev lo root handle 1: tbf rate 1mbit burst 1600 limit 100000
must $TC qdisc add dev lo parent 1:1 handle 10: aqmlab_tap
must $TC qdisc add dev lo parent 10:1 handle 20: codel target 100us interval 1ms
/job/numbered 1200 500 100 > /tmp/arrivals 2> /tmp/said || fail "numbered: $(head -n 1 /tmp/said)"
must $TC qdisc del dev lo root
gzip -c /sys/kernel/debug/{MODULE}/decisions | base64 -w 4000 | sed 's/.*/{{"kind":"log","data":"&"}}/' >&3
must rmmod {MODULE}
"""


def recorded():
    return gzip.decompress(RECORDED.read_bytes())


def run_in_the_machine(image, program):
    """Send 1200 UDP packets at 1.8 times the rate of a token bucket through CoDel, and return the tap's log."""
    files = {
        "job/numbered": archive.file(compiled(), executable=True),
        f"job/{MODULE}.ko": archive.file(program),
    }
    told = boot(image, HEAD + JOB, seed=1, files=files)
    return unpacked(json.loads(line)["data"] for line in told.lines)


class TestRecordedLog:
    def test_decisions_are_equal(self):
        found = replay_decisions(CASE, RECORDED)
        assert found.difference is None
        assert found.decisions > 2000
        assert found.drops > 500

    @pytest.mark.parametrize("offset", [36, 32, 44])
    def test_another_setting_is_found_at_the_start(self, offset):
        fault = next(fault for fault in FAULTS.values() if fault.offset == offset)
        found = replay_decisions(CASE, with_fault(recorded(), fault)).difference
        assert (found.record, found.what) == (0, {36: "interval", 32: "target", 44: "max_packet"}[offset])

    def test_an_interval_of_one_tick_more_is_found_with_both_states(self):
        fault = FAULTS["interval one tick longer"]
        changed = Scenario.from_text(CASE.text, overrides={"queue.bottleneck.interval": f"{977.5 * 1.024e-6:.9f}s"})
        found = replay_decisions(changed, with_fault(recorded(), fault)).difference
        assert found.what == "state"
        for state in (found.logged, found.replayed):
            assert state.startswith("before [first_above 0, ")
            assert "after [first_above " in state

    def test_a_lost_record_is_found(self):
        log = recorded()
        assert replay_decisions(CASE, log[: 64 * 50] + log[64 * 51 :]).difference.what == "sequence"

    def test_other_disciplines_are_an_error(self):
        other = Scenario.from_text(CASE.text, overrides={"queue.bottleneck": {"aqm": "pie"}})
        with pytest.raises(InputError, match=r'no tap logs aqm = "pie" \(allowed: "codel"\)$'):
            replay_decisions(other, recorded())


class TestRecordedThreshold:
    def case(self, threshold):
        overrides = {"queue.bottleneck.ce_threshold": threshold}
        return Scenario.from_text(scenario("default", "TCP with ECN", 4).text, overrides=overrides)

    def test_marks_above_the_threshold_are_those_of_linux(self):
        found = replay_decisions(self.case("2ms"), gzip.decompress(MARKED.read_bytes()))
        assert found.difference is None
        assert found.marks > 100
        assert found.decisions > 3000

    @pytest.mark.parametrize("threshold", ["2.1ms", "off"])
    def test_another_threshold_is_found_at_the_start(self, threshold):
        found = replay_decisions(self.case(threshold), gzip.decompress(MARKED.read_bytes())).difference
        assert (found.record, found.what, found.logged) == (0, "ce_threshold", "1953")


class TestTap:
    def test_its_child_is_the_scenarios_discipline_of_tc(self):
        queue = tapped_queue(CASE, CASE.link("bottleneck"))
        assert queue.module == MODULE
        assert Tap(queue, b"").qdisc == Qdisc(
            "aqmlab_tap",
            "",
            below=("qdisc add dev DEV parent 10:1 handle 20: codel limit 1000 target 100us interval 1000us noecn",),
        )

    def test_its_sources_are_those_that_it_includes(self):
        files = tap_files()
        assert set(files) == {f"{MODULE}.c", "tap.h", "child.h", "record.h", "log.h", "Kbuild", "Makefile"}
        assert "plugin" not in files["Makefile"]

    def test_every_case_was_run_in_two_kernels_and_is_equal(self):
        found = rows()
        kernels = {row["kernel"] for row in found}
        assert len(kernels) >= 2
        assert len([row for row in found if not row["fault"]]) == len(CASES) * len(kernels)
        assert all(bool(row["fault"]) == bool(row["difference"]) for row in found)
        for kernel in kernels:
            assert sum(int(row["decisions"] or 0) for row in found if row["kernel"] == kernel) >= DECISIONS


@needs(*EMULATOR, "gcc", "make")
def test_linuxs_codel_in_the_emulated_machine_decides_like_the_core():
    try:
        image = find()
    except InputError as error:
        # A separate command downloads the kernel and makes its image.
        pytest.skip(str(error))
    build = INSTALLED / image.release / "build"
    if not (build / "Makefile").is_file():
        pytest.skip(f"needs the headers of Linux {image.release} in {build}")
    log = run_in_the_machine(image, tap_program(build))
    found = replay_decisions(CASE, log)
    assert found.difference is None
    assert found.decisions > 1700
    assert found.drops > 400
