"""Linux's own disciplines below a tap: recorded logs replayed with and without faults, and the changed imports."""

import gzip
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import replay_faults
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.kernel.qdisc_options import PROGRAM, options_of, options_program
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.interop.kernel.tap import IMPORTS, MODULE, below_tap, logged, tap_files, tapped_queue, with_logged_imports
from aqmlab.interop.tc.queues import Qdisc
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import script
from aqmlab.live.tc.module import program_of
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm.build import find
from aqmlab.live.vm.headers import INSTALLED
from aqmlab.live.vm.tap import Tap, tapped_log
from aqmlab.scenario.file import Scenario
from programs import EMULATOR, HEADERS, compiler_of, needs, needs_headers, require
from replay_kernel import (
    DISCIPLINES,
    TRANSLATION,
    WAY_BACK,
    is_shown,
    log_of,
    paced,
    replayed,
    rows,
    translated,
    with_change,
)
from replayed.known import KNOWN
from replays import tap_for

DATA = Path(__file__).parents[1] / "data" / "vm"
CODEL, CAKE, DUALPI2 = DISCIPLINES["codel"], DISCIPLINES["cake"], DISCIPLINES["dualpi2"]
RECORDED = {
    "codel": ("target 0.1 ms, interval 1 ms; TCP with ECN", "linux"),
    "fq-codel": ("limit 200, drop_batch 8; overload", "linux-6.1"),
    "sfb": ("target 5, max 10, quick steps; TCP with ECN, UDP", "linux"),
    "cake": ("memlimit 64 KiB", "linux-6.1"),
    "pie": ("default; UDP, 200 % load", "linux"),
    "fq-pie": ("default; TCP with ECN", "linux"),
    "dualpi2": ("TCP and UDP of L4S", "linux"),
    "red": ("full buffer", "linux"),
    "choke": ("overload", "linux"),
    "rio": ("grio, overload", "linux"),
}
"""Recorded logs of Linux 6.1, of DualPI2 in Linux 7.3: the run of each, and the core's dialect."""
KEYS = {
    "codel": [],
    "fq-codel": [("drop_batch", "9"), ("queues", "4"), ("quantum", '"1513B"'), ("memory_limit", '"300000B"')],
    "sfb": [("increment", "0.0200195"), ("max_bin", "11"), ("bin_size", "6"), ("decrement", "0.0021")],
    "cake": [("memlimit", '"65472B"'), ("isolation", '"flowblind"'), ("rate", '"12.01Mbps"'), ("overhead", "15")],
    "pie": [("alpha", "0.1875"), ("beta", "1.3125"), ("max_burst", '"140ms"')],
    "fq-pie": [("quantum", '"1515B"'), ("mark_up_to", "0.05"), ("target", '"15.1ms"')],
    "dualpi2": [("coupling", "3"), ("classic_share", "0.11"), ("beta", str(820 / 256)), ("l4s_min_packets", "1")],
    "red": [("max_p", "0.11"), ("w_q", "0.00048828125"), ("limit", '"45000B"'), ("arithmetic", '"exact"')],
    "choke": [("max_th", "31"), ("draw_from", '"packets"'), ("candidates", "2")],
    "rio": [("averages", '"decoupled"'), ("w_q", "0.00390625"), ("idle_when", '"free"')],
}
"""Settings of the core that are not the kernel's."""


def recorded(aqm):
    return gzip.decompress((DATA / f"{aqm}-decisions.bin.gz").read_bytes())


def case(aqm, **keys):
    name, dialect = RECORDED[aqm]
    text = DISCIPLINES[aqm].scenario(name).text
    overrides = {"dialect": f'"{dialect}"', **keys}
    return Scenario.from_text(text, overrides={f"queue.bottleneck.{key}": value for key, value in overrides.items()})


class TestRecordedLogs:
    @pytest.mark.parametrize("aqm", RECORDED)
    def test_decisions_are_equal(self, aqm):
        found = replay_decisions(case(aqm), recorded(aqm))
        assert found.difference is None
        assert found.decisions > 1000
        assert found.drops + found.marks > 100

    @pytest.mark.parametrize(("aqm", "key", "value"), [(aqm, *one) for aqm, keys in KEYS.items() for one in keys])
    def test_another_setting_is_found(self, aqm, key, value):
        assert replay_decisions(case(aqm, **{key: value}), recorded(aqm)).difference is not None

    @pytest.mark.parametrize("aqm", RECORDED)
    def test_a_lost_record_is_found(self, aqm):
        log = recorded(aqm)
        assert replay_decisions(case(aqm), log[: 64 * 50] + log[64 * 51 :]).difference.what == "sequence"

    def test_a_value_too_few_is_found(self):
        log = bytearray(recorded("cake"))
        at = next(at for at in range(0, len(log), 64) if log[at + 56] == 36 and log[at + 20] > 3)
        log[at] = 0
        assert replay_decisions(case("cake"), bytes(log)).difference.what == "values of the call"

    def test_the_log_of_another_discipline_is_found(self):
        found = replay_decisions(case("codel"), recorded("cake")).difference
        assert (found.what, found.logged, found.replayed) == ("discipline", "cake", "codel")

    def test_disciplines_without_a_dialect_of_linux_are_an_error(self):
        other = Scenario.from_text(case("codel").text, overrides={"queue.bottleneck": {"aqm": "rem"}})
        with pytest.raises(InputError, match=r'no tap logs aqm = "rem" \(allowed: "codel", '):
            replay_decisions(other, recorded("codel"))

    def test_another_dialect_is_an_error(self):
        with pytest.raises(
            InputError, match=r'queue\.bottleneck\.dialect: "rfc8289" is not that of the log \(allowed: "linux"\)$'
        ):
            replay_decisions(case("codel", dialect='"rfc8289"'), recorded("codel"))


class TestCoDelsSettings:
    """The tap logs the settings and the state of CoDel."""

    @pytest.mark.parametrize(
        ("key", "value"), [("interval", '"1.1ms"'), ("target", '"0.12ms"'), ("max_packet", '"1513B"'), ("ecn", "false")]
    )
    def test_another_setting_is_found_at_the_start(self, key, value):
        found = replay_decisions(case("codel", **{key: value}), recorded("codel")).difference
        assert (found.record, found.what) == (1, key)

    def test_an_interval_of_one_tick_more_is_found_with_both_states(self):
        from replayed.codel import INTERVAL, settings_of

        changed = case("codel", interval='"1001us"')
        found = replay_decisions(changed, settings_of(INTERVAL, 1)(recorded("codel"))).difference
        assert found.what == "state"
        for state in (found.logged, found.replayed):
            assert state.startswith("before [first_above 0, ")
            assert "after [first_above " in state


class TestModule:
    @pytest.mark.parametrize("name", sorted(tap_files()))
    def test_files(self, name):
        assert tap_files()[name]

    def test_its_sources_are_those_that_it_includes(self):
        files = tap_files()
        assert set(files) == {f"{MODULE}.c", "tap.h", "builtin.h", "child.h", "record.h", "log.h", "Kbuild", "Makefile"}
        assert "plugin" not in files["Makefile"]

    def test_its_child_is_the_scenarios_discipline_of_tc(self):
        assert tapped_queue(*plan_and_link(case("codel"))).module == MODULE
        words = "codel limit 1000 target 100us interval 1000us ecn"
        assert CODEL.words(RECORDED["codel"][0]) == words
        expected = Qdisc("aqmlab_tap", "", below=(f"qdisc add dev DEV parent 10:1 handle 20: {words}",))
        assert below_tap(words) == expected

    @needs("gcc", "objcopy", "nm")
    def test_imports_are_renamed(self, tmp_path):
        source = "\n".join(f"int {name}(void); int use_{name}(void) {{ return {name}(); }}" for name in IMPORTS)
        made = tmp_path / "made.o"
        subprocess.run(["gcc", "-c", "-x", "c", "-w", "-o", made, "-"], input=source.encode(), check=True)
        made.write_bytes(with_logged_imports(made.read_bytes(), "sch_made"))
        names = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout.split()
        assert {name for name in names if name != "U"} == {logged(name) for name in IMPORTS}

    @needs("gcc", "objcopy")
    def test_another_file_is_an_error(self):
        with pytest.raises(InputError, match=r"objcopy cannot change sch_cake\.ko"):
            with_logged_imports(b"text", "sch_cake")

    @needs_headers
    def test_it_compiles(self):
        require("make", compiler_of(HEADERS[-1].parent))
        assert program_of(tap_files(), MODULE, HEADERS[-1].parent)


class TestTranslatedAddresses:
    """Cake looks through the translation of addresses where tc translates them before the queue."""

    def test_a_job_translates_before_the_shaper_and_knows_the_way_back(self):
        plan = live_plan(CAKE.scenario("nat, translated addresses"), seed=1)
        text = script(setting_of(plan, qdisc=below_tap("cake nat")))
        found = translated(text)
        assert found.index(TRANSLATION) < found.index("must $R tc qdisc add dev rb root ")
        assert found.index("$IP -n aql-r addr add ") < found.index(WAY_BACK) < found.index("iperf3 -c ")
        assert found.replace(TRANSLATION, "").replace(WAY_BACK, "") == text

    def test_further_modules_are_loaded_before_the_tap(self, monkeypatch):
        booted = {}

        def boot(image, text, *, seed, files):
            booted.update(text=text, files=files)
            raise InputError("booted")

        monkeypatch.setattr("aqmlab.live.vm.tap.boot", boot)
        tap = Tap(b"tap", {"sch_cake": b"cake"}, {"nf_nat": b"nat", "act_ct": b"ct"})
        with pytest.raises(InputError, match="booted"):
            tapped_log(live_plan(CAKE.scenario("nat"), seed=1), "cake nat", tap, None)
        files = ("nf_nat", "act_ct", MODULE, "sch_cake")
        assert set(booted["files"]) == {f"job/{name}.ko" for name in files}
        places = [booted["text"].index(f'insmod "$JOB/{name}.ko"') for name in files]
        assert places == sorted(places)


class TestOptions:
    """DualPI2's settings are sent by a program, since Debian's tc has no words for them."""

    @needs("cc")
    def test_a_job_sends_them_by_the_program_beside_it(self, monkeypatch):
        booted = {}

        def boot(image, text, *, seed, files):
            booted.update(text=text, files=files)
            raise InputError("booted")

        monkeypatch.setattr("aqmlab.live.vm.tap.boot", boot)
        name = "other settings"
        with pytest.raises(InputError, match="booted"):
            log_of(DUALPI2, name, None, Tap(b"tap", {"sch_dualpi2": b"dualpi2"}))
        options = options_of(DUALPI2.words(name))
        assert f'must $R "$JOB/{PROGRAM}" add rb 10:1 20: {options}\n' in booted["text"]
        program = booted["files"][f"job/{PROGRAM}"]
        assert program.mode & 0o111
        assert program.data[:4] == b"\x7fELF"

    @needs("cc")
    def test_errors_of_the_program_are_one_line(self, tmp_path):
        program = tmp_path / PROGRAM
        program.write_bytes(options_program())
        program.chmod(0o755)
        for words, line in (
            (["add"], "words: add|change DEVICE PARENT HANDLE KIND [ATTRIBUTE:BYTES:VALUE...]"),
            (["add", "no-device", "10:1", "20:", "dualpi2"], "no-device: No such device"),
            (["add", "lo", "ten", "20:", "dualpi2"], "ten: not a handle, for example 10:1"),
            (["add", "lo", "10:1", "20:", "dualpi2", "1:1:300"], "1:1:300: the value does not fit"),
        ):
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (1, f"{PROGRAM}: {line}\n")

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("codel limit 9", '"codel": options are known for dualpi2 only'),
            ("dualpi2 quantum 9", '"quantum" is not a word of dualpi2 \\(allowed: limit, '),
            ("dualpi2 limit", 'dualpi2 limit: "" is not a number for tc'),
        ],
    )
    def test_words_that_it_does_not_know_are_errors(self, words, error):
        with pytest.raises(InputError, match=error):
            options_of(words)


class TestRuns:
    @pytest.mark.parametrize("aqm", DISCIPLINES)
    def test_every_case_was_run_in_two_kernels_and_is_equal(self, aqm):
        found = [row for row in rows() if row["discipline"] == aqm]
        runs = [row for row in found if not row["fault"]]
        assert is_shown(DISCIPLINES[aqm], runs)
        assert {row["fault"] for row in found} == {"", *DISCIPLINES[aqm].faults}
        assert all(bool(row["fault"]) == bool(row["difference"]) for row in found)


class TestKnownFaults:
    @pytest.mark.parametrize("name", KNOWN)
    def test_they_are_found_and_the_source_as_it_is_is_equal(self, name):
        found = [row for row in replay_faults.rows() if row["known"] == name]
        assert {row["source"] for row in found} == {replay_faults.AS_IT_IS, replay_faults.WITH_FAULT}
        assert all(bool(row["difference"]) == (row["source"] == replay_faults.WITH_FAULT) for row in found)

    @pytest.mark.parametrize("name", [name for name, known in KNOWN.items() if known.case.later is not None])
    def test_a_change_of_settings_is_in_the_job(self, name):
        known = KNOWN[name]
        one = replace(DISCIPLINES[known.discipline], cases={name: known.case}, faults={})
        job = script(setting_of(live_plan(one.scenario(name), seed=1), qdisc=below_tap(one.words(name))))
        text = paced(with_change(job, known.case.later), known.case.pacing_ms)
        change = f"tc qdisc change dev rb parent 10:1 handle 20: {known.case.later.words}"
        assert f"sample &\n(until_ms {known.case.later.ms}; must $R {change}) &\n" in text
        assert text.count("--pacing-timer") == text.count(f"--pacing-timer {known.case.pacing_ms}000 ") > 0


@needs(*EMULATOR, "gcc", "make", "objcopy")
@pytest.mark.parametrize("aqm", RECORDED)
def test_linuxs_disciplines_in_the_emulated_machine_decide_like_the_core(aqm):
    try:
        image = find()
    except InputError as error:
        # A separate command downloads the kernel and makes its image.
        pytest.skip(str(error))
    if not (INSTALLED / image.release / "build" / "Makefile").is_file():
        pytest.skip(f"needs the headers of Linux {image.release} in {INSTALLED}")
    discipline, (name, _) = DISCIPLINES[aqm], RECORDED[aqm]
    if not discipline.is_in(image.release):
        pytest.skip(f"Linux {image.release} has no {aqm}")
    log = log_of(discipline, name, image, tap_for(image, None, discipline.modules))
    assert replayed(discipline, name, image.release, log).difference is None
