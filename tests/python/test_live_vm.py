"""The emulated machine: its jobs, how their output is read, and runs where there are an emulator and an image."""

import base64
import gzip
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab.errors import InputError
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.tc.queues import own_words
from aqmlab.interop.tc.tool import measured_in
from aqmlab.live.plan import live_plan
from aqmlab.live.tc import backend as tc_backend
from aqmlab.live.tc.failure import judge
from aqmlab.live.tc.iperf import flow_counts, sent_s
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.link import configuration
from aqmlab.live.tc.outcome import TINS, PeerRun
from aqmlab.live.tc.setting import IN_USERSPACE, Client, setting_of
from aqmlab.live.vm import archive, machine, packages
from aqmlab.live.vm.backend import run as run_vm
from aqmlab.live.vm.build import ASKED, Image, find
from aqmlab.scenario.file import Scenario
from programs import EMULATOR, needs, require

DATA = Path(__file__).parents[1] / "data" / "vm"
SHORT = {"run.duration": "3s", "run.warmup": "1s"}


def plan(name="red-tcp.toml", seed=1, **overrides):
    changed = {key.replace("__", "."): value for key, value in overrides.items()}
    return live_plan(Scenario.load(DATA / name, overrides=changed), seed=seed)


def image():
    require(*EMULATOR)
    try:
        return find()
    except InputError as error:
        # A separate command downloads the kernel and makes its image.
        pytest.skip(str(error))


def require_namespaces():
    """Skip the test where namespaces are forbidden, with which alone the network can be built."""
    command = tc_backend.command(Path("/dev/null"), Path("/dev/null"))[:-6]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("network namespaces cannot be made here")


class TestArchive:
    def test_equal_contents_are_equal_bytes(self):
        entries = {"b/c": archive.file(b"1"), "a": archive.link("b/c")}
        assert archive.newc(entries) == archive.newc(dict(reversed(entries.items())))

    @needs("cpio")
    def test_cpio_reads_it(self, tmp_path):
        data = archive.newc({"bin/sh": archive.link("busybox"), "bin/busybox": archive.file(b"x" * 5, executable=True)})
        subprocess.run(["cpio", "-i", "--quiet"], input=data, cwd=tmp_path, check=True)
        assert (tmp_path / "bin/sh").readlink() == Path("busybox")
        assert (tmp_path / "bin/busybox").read_bytes() == b"xxxxx"
        assert os.access(tmp_path / "bin/busybox", os.X_OK)

    def test_a_header_has_the_numbers_of_its_file(self):
        data = archive.newc({"name": archive.file(b"12345")})
        fields = [int(data[at : at + 8], 16) for at in range(6, 110, 8)]
        assert data[:6] == b"070701"
        assert (fields[1], fields[4], fields[6], fields[11]) == (0o100644, 1, 5, len("name") + 1)
        assert data[110:115] == b"name\0"
        assert data[116:121] == b"12345"

    def test_folders_of_a_path_come_before_it(self):
        data = archive.newc({"a/b/c": archive.file(b"")})
        assert data.index(b"a\0") < data.index(b"a/b\0") < data.index(b"a/b/c\0")


class TestPackages:
    def test_a_program_that_is_missing_is_an_error_of_one_line(self):
        with pytest.raises(InputError, match="needs the program no-such-program, which is not installed"):
            packages.program("no-such-program")

    def test_a_command_that_is_missing_is_an_error_of_one_line(self):
        with pytest.raises(InputError, match="needs the command no-such-command"):
            packages.said(["no-such-command"])

    def test_libraries_of_a_program_are_files(self):
        assert all(path.is_file() for path in packages.libraries(Path("/bin/sh")))

    def test_without_an_image_the_message_has_the_command_that_builds_it(self, tmp_path):
        with pytest.raises(InputError, match=r"no image .* \(build it: aqmlab live --backend vm --build-vm\)"):
            find(tmp_path)

    def test_an_incomplete_image_is_an_error_of_one_line(self, tmp_path):
        (tmp_path / "current").mkdir()
        (tmp_path / "current/manifest.json").write_text(json.dumps({"asked": ASKED}))
        with pytest.raises(InputError, match=r"kernel is missing"):
            find(tmp_path)


class TestMachine:
    def test_the_guest_depends_on_nothing_of_the_host(self, tmp_path):
        words = machine.command(Image(tmp_path, {}), tmp_path, 7)
        assert words[words.index("-icount") + 1] == "shift=1,sleep=off,rr=record,rrfile=/dev/null"
        assert words[words.index("-rtc") + 1] == "base=2024-01-01T00:00:00,clock=vm"
        assert "-rdrand" in words[words.index("-cpu") + 1]
        assert "-nodefaults" in words
        assert words[words.index("-append") + 1].endswith(" aqmlab.seed=7")

    def test_without_an_emulator_the_message_has_its_package(self, monkeypatch):
        monkeypatch.setattr(machine, "QEMU", "qemu-system-nothing")
        with pytest.raises(InputError, match="apt-get install"):
            machine.version()


class TestJob:
    @pytest.mark.parametrize(
        "options", [Options(), Options(in_userspace=True), Options(sample_interval_s=0, ping_interval_s=0)]
    )
    @pytest.mark.parametrize("name", ["red-tcp.toml", "red-udp.toml"])
    def test_it_is_a_script_that_a_shell_can_read(self, name, options):
        text = script(setting_of(plan(name)), options)
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)

    def test_the_job_has_the_queue_of_the_scenario(self):
        text = script(setting_of(plan()))
        assert "dev rb root handle 1: tbf rate 10000000bit burst 1600 " in text
        assert "handle 10: red limit 150000 min 15000 max 45000 avpkt 1000 burst 22 probability 0.1 " in text
        assert "dev ra root handle 2: netem delay 20000us limit 10000" in text
        assert " -P 5 -C cubic" in text

    def test_a_group_has_its_route(self):
        text = script(setting_of(plan(flow__tcp__tcp__ecn=True)))
        assert "route add 10.77.1.2/32 via 10.76.0.1 dev sa src 10.77.1.1 congctl cubic features ecn" in text

    @pytest.mark.parametrize("options", [Options(), Options(in_userspace=True)])
    def test_control_connections_bypass_the_bottleneck(self, options):
        text = script(setting_of(plan()), options)
        assert "must $IP -n aql-s rule add ipproto 6 sport 32768-60999 dport 5201-5201 lookup 100" in text
        assert "must $IP -n aql-d rule add ipproto 6 sport 5201-5201 dport 32768-60999 lookup 100" in text
        # Ports of data are none of those.
        assert " --cport 10001 " in text

    def test_only_greetings_of_datagrams_bypass_the_bottleneck(self):
        text = script(setting_of(plan("red-udp.toml")))
        greets = "protocol ip u32 match ip protocol 17 0xff match u16 32 0xffff at 2"
        assert f"filter add dev sa egress {greets} action skbmod set dmac 02:00:00:00:00:06 pipe " in text
        assert "clsact" not in script(setting_of(plan()))

    def test_neighbours_are_known_from_the_start(self):
        text = script(setting_of(plan()))
        assert "must $IP -n aql-r neigh add 10.77.1.2 lladdr 02:00:00:00:00:04 dev rb nud permanent" in text
        assert "db address 02:00:00:00:00:04 netns aql-d" in text

    def test_red_below_a_token_bucket_has_no_idle_rule(self):
        assert any("never learns that its queue is empty" in note for note in setting_of(plan()).qdisc.notes)
        without = setting_of(plan(queue__bottleneck__at_idle="none"))
        assert not any("empty" in note for note in without.qdisc.notes)

    def test_datagrams_have_the_rate_of_their_packets(self):
        text = script(setting_of(plan("red-udp.toml")))
        assert f"-u -b {10402910 * 1472 / 1500:.0f} -l 1472" in text

    def test_a_limit_alone_is_a_fifo(self):
        packets = plan(queue__bottleneck={"aqm": "drop-tail", "limit": "100p"})
        assert setting_of(packets).qdisc.text == "pfifo limit 100"

    def test_codel_and_pie_are_tcs_own(self):
        codel = plan(queue__bottleneck={"aqm": "codel", "limit": "100p"})
        assert setting_of(codel).qdisc.text == "codel limit 100 target 5000us interval 100000us noecn"

    def test_words_of_tc_stand_in_place_of_the_queue(self):
        assert setting_of(plan(), qdisc="pie target 15ms").qdisc.text == "pie target 15ms"

    @pytest.mark.parametrize("words", ["", "pie; reboot", "pie\nreboot", "$(reboot)", "pie  target", "red `x`"])
    def test_words_are_only_words(self, words):
        with pytest.raises(InputError, match="is not a discipline in the words of tc"):
            own_words(words)

    def test_groups_of_different_distance_have_a_delay_each(self):
        own = setting_of(plan())
        far = replace(own, groups=(*own.groups, replace(own.groups[0], number=2, delay_s=0.1)))
        text = script(far)
        assert "parent 2:1 netem delay 20000us" in text
        assert "parent 2:2 netem delay 100000us" in text
        assert "match ip dst 10.77.2.1/32 flowid 2:2" in text

    def test_without_distance_there_is_no_netem(self):
        assert "netem" not in script(setting_of(plan(dumbbell__bottleneck__delay="0ms")))

    @pytest.mark.parametrize(
        ("name", "overrides", "why"),
        [
            ("red-tcp.toml", {"flow__tcp__size": "100p"}, "it has a size"),
            ("red-udp.toml", {"flow__udp__packet_size": "43B"}, "its packets are smaller than iperf3's of 44 bytes"),
            ("red-udp.toml", {"flow__udp__pattern": "poisson"}, "its rate is not constant"),
            ("red-tcp.toml", {"queue__bottleneck__aqm": "mred"}, 'tc has no discipline like "mred"'),
        ],
    )
    def test_a_scenario_that_linux_cannot_run_is_an_error_of_one_line(self, name, overrides, why):
        with pytest.raises(InputError, match=why):
            setting_of(plan(name, **overrides))

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"congestion_control": None}, "the kernel has no such congestion control"),
            ({"forward": False}, "its data cross the other direction"),
            ({"again_s": ((1.0, 2.0),)}, "it pauses"),
            ({"exec": "curl"}, "it is a command"),
        ],
    )
    def test_flows_that_cannot_be_sent_are_one_line(self, change, why):
        whole = plan()
        with pytest.raises(InputError, match=f'^flow "tcp" cannot be sent with tc as bottleneck: {why}$'):
            setting_of(replace(whole, groups=(replace(whole.groups[0], **change),)))

    @pytest.mark.parametrize(
        ("key", "value"),
        [("live__family", "ipv6"), ("live__loss", 0.01), ("live__distance", "option"), ("live__qosa_bit", True)],
    )
    def test_an_option_of_user_space_alone_is_an_error_of_one_line(self, key, value):
        with pytest.raises(InputError, match=r"^live: .* cannot be had with tc as bottleneck$"):
            setting_of(plan(**{key: value}))

    def test_a_token_bucket_that_marks_is_a_policer_at_the_sender(self):
        marked = live_plan(Scenario.load("paper:adaptive-rio/live.toml"), seed=1)
        text = script(setting_of(marked, qdisc="pfifo"))
        assert "match ip src 10.77.1.1/32 action police rate 4037333bit burst 25233 conform-exceed pipe/ok " in text
        assert "munge ip dsfield set 0x0 retain 0xfc pipe action csum ip4h" in text
        assert text.count(" --dscp 10 ") == text.count("action police") == 1
        assert not setting_of(marked, qdisc=IN_USERSPACE).policers

    @pytest.mark.parametrize("change", [{"flows": ["best-effort"]}, {"kind": "srtcm"}])
    def test_another_marker_is_an_error_of_one_line_but_in_user_space(self, change):
        marked = live_plan(Scenario.load("paper:adaptive-rio/live.toml"), seed=1)
        (marker,) = marked.scenario.markers
        marked = replace(marked, scenario=replace(marked.scenario, markers=({**marker, **change},)))
        with pytest.raises(InputError, match=r'^live: the marker "edge" cannot be had with tc as bottleneck'):
            setting_of(marked, qdisc="pfifo")
        assert setting_of(marked, qdisc=IN_USERSPACE).groups

    def test_the_bottleneck_in_user_space_has_the_whole_way(self):
        made = configuration(setting_of(plan(), qdisc=IN_USERSPACE))
        assert made["groups"][0]["delay_back_ns"] == 10_000_000
        assert made["count_bytes"] == "ethernet"
        # Behind as many routers as with tc, so that DDRED finds the same distances.
        assert made["groups"][0]["hops_before"] == 1
        assert json.dumps(made)

    def test_the_bottleneck_in_user_space_knows_priorities(self):
        made = configuration(setting_of(plan(flow__tcp__priority=2), qdisc=IN_USERSPACE))
        assert [group["class"] for group in made["groups"]] == [2]


class TestOutcome:
    @pytest.fixture
    def finished(self):
        lines = tuple(gzip.decompress((DATA / "red-tcp.jsonl.gz").read_bytes()).decode().splitlines())
        return PeerRun(setting_of(plan(**{"run__duration": "3s", "run__warmup": "1s"})), lines, {}, 0.1)

    def test_counts_are_those_after_the_warm_up(self, finished):
        links = finished.tables["links"].to_pylist()[0]
        first, last = finished.counts[1], finished.counts[-1]
        assert (first.t_s, last.t_s) == (pytest.approx(1, abs=0.1), pytest.approx(3, abs=0.1))
        assert links["drops"] == last.drops - first.drops
        assert links["arrivals"] == links["departures"] + links["drops"] + last.packets - first.packets
        assert 0.9 < links["utilization"] <= 1.01

    def test_the_wait_of_pings_is_their_delay_without_the_distance(self, finished):
        rtt = [rtt for t, rtt in finished.pings if t >= 1]
        assert finished.sparse_flow_wait_s() == pytest.approx(sum(rtt) / len(rtt) - 0.02 - 98 * 8 / 1e7)

    def test_queue_and_delay_are_tcs_backlog_and_not_the_delay_of_pings(self, finished):
        """FQ-CoDel serves pings first: here they wait 1 ms, where four packets wait."""
        queue = json.dumps([{"kind": "fq_codel", "handle": "10:", "qlen": 4, "backlog": 4 * 1514}])
        log = "".join(f"{ms} {queue}\n" for ms in range(0, 3001, 100))
        packed = base64.b64encode(gzip.compress(log.encode())).decode()
        told = [line for line in finished.lines if json.loads(line)["kind"] != "ping"]
        told += [json.dumps({"kind": "backlog", "data": part}) for part in (packed[:16], packed[16:])]
        told += [json.dumps({"kind": "ping", "seq": n, "rtt_ms": 21 + 98 * 8 / 1e4}) for n in range(30)]
        run = replace(finished, lines=tuple(told))
        assert run.sparse_flow_wait_s() == pytest.approx(0.001)
        links = run.tables["links"].to_pylist()[0]
        assert (links["mean_queue"], links["mean_queue_bytes"], links["max_queue"]) == (3, 4500, 4)
        after = run.counted(1.0)
        assert links["mean_delay_s"] == pytest.approx(3 * after.t_s / after.departures)
        assert len(run.tables["queue_samples"]) == 31
        measured = measured_in(run)
        assert (measured[Measure.MEAN_QUEUE, "bottleneck"], measured[Measure.MEAN_BACKLOG, "bottleneck"]) == (3, 4)

    def test_tins_of_cake_count_after_the_warm_up(self, finished):
        def look(ms, packets):
            tin = {word: 0 for word, _ in TINS.values()}
            tin |= {"threshold_rate": 62_500, "target_us": 5000, "sent_packets": packets, "sparse_flows": packets}
            own = {"kind": "cake", "handle": "10:", "packets": 3 * packets, "bytes": 4542 * packets, "drops": 0}
            return json.dumps(
                {"kind": "qdisc", "ms": ms, "data": [{**own, "qlen": 0, "backlog": 0, "tins": [tin] * 3}]}
            )

        told = [line for line in finished.lines if json.loads(line)["kind"] != "qdisc"]
        run = replace(finished, lines=(*told, *(look(1000 * second, 10 * second) for second in range(4))))
        tins = run.tables["tins"].to_pylist()
        assert [tin["tin"] for tin in tins] == ["bulk", "best-effort", "voice"]
        assert (tins[0]["threshold_bps"], tins[0]["target_s"]) == (500_000, 0.005)
        assert (tins[0]["packets"], tins[0]["sparse_flows"]) == (20, 30)
        assert "tins" not in finished.tables

    def test_a_report_without_samples_has_the_queue_of_each_second(self, finished):
        links = finished.tables["links"].to_pylist()[0]
        after = [one.packets for one in finished.counts if one.t_s >= 1]
        assert finished.mean_backlog() == sum(after) / len(after)
        assert links["mean_queue"] == sum(after) / len(after) - 1

    def test_flows_are_those_of_the_scenario(self, finished):
        flows = finished.tables["flows"].to_pylist()
        assert [flow["flow"] for flow in flows] == [f"tcp.{n}" for n in range(5)]
        assert sum(flow["goodput_bps"] for flow in flows) == pytest.approx(9.9e6, rel=0.02)
        assert all(0.02 < flow["mean_rtt_s"] < 0.1 for flow in flows)

    def test_what_is_sent_behind_the_end_is_not_counted(self, finished):
        shorter = setting_of(plan(**{"run__duration": "2s", "run__warmup": "1s"}))
        whole, cut = (
            sum(flow["goodput_bytes"] for flow in PeerRun(setting, finished.lines, {}, 0.1).tables["flows"].to_pylist())
            for setting in (finished.setting, shorter)
        )
        assert cut == pytest.approx(whole / 2, rel=0.02)

    def test_goodput_is_counted_by_the_time_at_which_a_flow_began(self, finished):
        whole = sum(flow["goodput_bps"] for flow in finished.tables["flows"].to_pylist())
        sent = max(json.loads(line)["data"]["end"]["sum_sent"]["end"] for line in finished.lines if '"client"' in line)
        late = json.dumps({"kind": "ended", "data": {"client": 0, "ms": round(1000 * (sent + 1))}})
        lines = (*(line for line in finished.lines if json.loads(line)["kind"] != "ended"), late)
        # A second later the warm-up is over at its start, so that its slow start counts.
        shifted = sum(
            flow["goodput_bps"] for flow in PeerRun(finished.setting, lines, {}, 0.1).tables["flows"].to_pylist()
        )
        assert shifted != whole
        assert shifted == pytest.approx(9.7e6, rel=0.1)

    def test_a_client_sends_whole_seconds_and_to_its_end_at_least(self):
        assert [Client(1, ("a",), start, 30.0).length_s for start in (0.0, 0.3, 0.7, 29.9)] == [30, 30, 30, 1]

    def test_a_reported_error_is_an_error_of_one_line(self):
        with pytest.raises(InputError, match="iperf3: unable to connect"):
            flow_counts({"error": "unable to connect"}, after_s=0)

    def test_flows_whose_first_packets_never_came_through_got_nothing(self):
        shut_out = {"error": "unable to connect stream: Connection timed out"}
        found = flow_counts(shut_out, flows=2, after_s=0)
        assert [(one.received_bps, one.received_bytes, one.sent_bytes) for one in found] == [(0.0, 0, 0)] * 2

    def test_flows_that_begin_late_are_reported_in_the_time_of_the_run(self, finished):
        kept = tuple(line for line in finished.lines if '"kind":"ended"' not in line)
        once = replace(finished, lines=kept).tables["flows"].to_pylist()
        # All five are one client, of 3 s; it began more than two seconds late.
        (client,) = finished.setting.clients
        ms = round((client.start_s + 2.2 + sent_s(finished.of_kind("client")[0]["data"])) * 1000)
        late = replace(finished, lines=(*kept, f'{{"kind":"ended","ms":{ms},"data":{{"client":0,"ms":{ms}}}}}'))
        flows = late.tables["flows"].to_pylist()
        assert 0 < sum(flow["goodput_bytes"] for flow in flows) < sum(flow["goodput_bytes"] for flow in once)
        # From the first second to the third, of which the flows had less than one.
        assert all(flow["goodput_bps"] == pytest.approx(flow["goodput_bytes"] * 8 / 2, rel=1e-3) for flow in flows)

    def test_an_error_of_the_job_is_an_error_of_one_line(self):
        with pytest.raises(InputError, match=r"^on this machine: ip link add: Operation not permitted$"):
            judge(['{"kind":"error","what":"ip link add: Operation not permitted"}'], "this machine")


class TestRuns:
    def test_two_runs_of_a_seed_are_equal_to_the_byte_and_of_two_seeds_are_not(self):
        kept = image()
        short = Scenario.load(DATA / "red-tcp.toml", overrides=SHORT)
        runs = [run_vm(live_plan(short, seed=seed), image=kept) for seed in (1, 1, 2)]
        assert runs[0].lines == runs[1].lines
        assert runs[0].digest != runs[2].digest

    def test_a_bottleneck_that_loses_everything_lets_datagrams_begin(self):
        short = plan("red-udp.toml", seed=1, run__duration="2s", run__warmup="1s")
        (flow,) = run_vm(short, qdisc="netem loss 100%", image=image()).tables["flows"].to_pylist()
        assert flow["sent"] > 0
        assert flow["received"] == 0

    @pytest.mark.live
    @needs(*tc_backend.NEEDED)
    def test_this_kernel_carries_a_fifo(self):
        require_namespaces()
        fifo = {"aqm": "drop-tail", "limit": "100p"}
        short = plan(queue__bottleneck=fifo, dumbbell__bottleneck__delay="0ms", run__duration="2s", run__warmup="1s")
        try:
            links = tc_backend.run(short).tables["links"].to_pylist()[0]
        except InputError as error:
            if "has no qdisc" in str(error):
                # Kernels are built with or without each discipline.
                pytest.skip(str(error))
            raise
        # Throughput in real time depends on the machine's other load; the test checks only the results that do not.
        assert 0 < links["utilization"] <= 1.05
        assert links["departures"] > 0
        assert links["drops_early"] == 0

    @pytest.mark.live
    @needs(*tc_backend.NEEDED)
    def test_a_qdisc_that_this_kernel_lacks_is_an_error_of_one_line(self):
        require_namespaces()
        with pytest.raises(InputError, match=r"^the kernel of this machine has no qdisc nothing "):
            tc_backend.run(plan(dumbbell__bottleneck__delay="0ms"), qdisc="nothing limit 5")
