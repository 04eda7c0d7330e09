"""Live runs in namespaces, over a link that is not the real one: traffic passes, and nothing is left behind."""

import json
import signal
import subprocess
import sys
import time

import pytest

from aqmlab import live
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.live.checks import preflight
from aqmlab.live.link_process import LiveError
from aqmlab.live.plan import live_plan
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from live_machine import FAKE, SCENARIO, left_behind, needs_namespaces
from programs import require

FETCH = """
import sys, time, urllib.request
for attempt in range(40):
    try:
        print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
        break
    except OSError:
        time.sleep(0.1)
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


def run(scenario, **changes):
    return live.run(scenario, progress=False, link_command=FAKE, **changes)


@needs_namespaces
class TestRuns:
    @pytest.mark.parametrize("family", ["ipv4", "ipv6"])
    def test_traffic_passes_and_is_counted(self, scenario, family):
        found = run(scenario, family=family)
        flows = found.result.flows
        assert list(flows["flow"]) == ["tcp.0", "tcp.1"]
        assert (flows["goodput_bytes"] > 0).all()
        # Throughput in real time depends on the machine's other load: the test checks only the bound by the rate.
        assert flows["goodput_bps"].sum() < 12e6
        assert (flows["mean_rtt_s"] > 0.013).all()
        assert set(found.result.tables) >= {"links", "flows", "cwnd_samples", "flow_samples"}
        assert found.result.summaries[0]["world"] == "live"
        assert not left_behind()

    @pytest.mark.usefixtures("no_pictures")
    def test_results_are_kept_like_those_of_simulations(self, scenario, tmp_path):
        found = run(scenario, runs=2, out=tmp_path / "out", with_simulation=True)
        again = Result.load(found.result.folder)
        assert again.seeds == [1, 2]
        assert again.name == "small (live)"
        certificate = json.loads((found.result.folder / "seed-0001/certificate.json").read_text())
        assert certificate["valid"] is found.certificates[1]["valid"]
        assert set(found.agreement.table()["quantity"]) >= {"goodput of tcp", "Mean queueing delay", "Loss"}
        page = found.report(tmp_path / "page", pictures=False)
        assert "Live and simulated runs" in page.read_text()
        assert main(["report", str(tmp_path / "out")]) == 0

    def test_runs_that_are_there_are_not_done_again(self, scenario, tmp_path):
        out = tmp_path / "out"
        first = run(scenario, out=out)
        stamp = (first.result.folder / "seed-0001").stat().st_mtime_ns
        again = run(scenario, out=out, resume=True)
        assert (again.result.folder / "seed-0001").stat().st_mtime_ns == stamp
        assert again.certificates == first.certificates

    def test_commands_on_both_sides(self, scenario, tmp_path):
        (tmp_path / "page.txt").write_text("it came through")
        found = run(
            scenario,
            overrides={"run.duration": "5s"},
            out=tmp_path / "out",
            exec_a=f"{sys.executable} -c '{FETCH}' http://{{peer}}:8000/page.txt; echo $AQMLAB_LOCAL",
            exec_b=f"echo {{duration}}; {sys.executable} -m http.server 8000 --bind {{local}} --directory {tmp_path}",
        )
        folder = found.result.folder / "seed-0001"
        assert (folder / "exec-a.txt").read_text() == "it came through\n10.77.2.1\n"
        assert (folder / "exec-b.txt").read_text().startswith("5\n")
        assert not left_behind()

    def test_statistics_go_into_a_file(self, scenario, tmp_path):
        run(scenario, stats=[f"jsonl={tmp_path / 'seen.jsonl'}"], interval_s=0.2)
        times = [json.loads(line)["t"] for line in (tmp_path / "seen.jsonl").read_text().splitlines()]
        assert len(times) >= 2
        assert times == sorted(times)

    def test_flows_sent_by_a_command(self, scenario):
        overrides = {"flow.tcp.exec": "nc -q0 {server} {port} < /dev/zero", "flow.tcp.exec_server": "nc -l -p {port}"}
        require("nc")
        found = run(scenario, overrides=overrides)
        assert len(found.result.flows) == 2

    def test_iperf3(self, scenario):
        require("iperf3")
        flows = run(scenario, traffic="iperf3").result.flows
        assert flows["goodput_bps"].sum() > 0
        assert (flows["mean_rtt_s"] > 0.01).all()
        assert not left_behind()

    def test_kernel_settings_and_routes(self, scenario, tmp_path):
        show = "ip route show {peer}; cat /proc/sys/net/ipv4/tcp_no_metrics_save; ip route show 10.77.1.2"
        found = run(scenario, out=tmp_path, exec_a=show)
        said = (found.result.folder / "seed-0001/exec-a.txt").read_text().splitlines()
        assert said[1] == "1"
        assert "congctl reno" in said[2]
        assert "hoplimit 64" in said[2]


@needs_namespaces
class TestNothingIsLeft:
    def test_after_a_link_process_that_ends(self, scenario, monkeypatch):
        monkeypatch.setenv("FAKE_LINK", "dies")
        with pytest.raises(LiveError, match=r"^it broke$"):
            run(scenario)
        assert not left_behind()

    def test_after_a_rejected_configuration(self, scenario, monkeypatch):
        monkeypatch.setenv("FAKE_LINK", "2")
        with pytest.raises(InputError, match=r"^queue.bottleneck.limit"):
            run(scenario)
        assert not left_behind()

    def test_after_ctrl_c(self, scenario):
        def stop(_line):
            raise KeyboardInterrupt

        from aqmlab.live import one_run
        from aqmlab.live.options import Options
        from aqmlab.live.plan import live_plan
        from aqmlab.scenario.file import Scenario

        plan = live_plan(Scenario.load(scenario), seed=1)
        with pytest.raises(KeyboardInterrupt):
            one_run.perform(plan, Options(link_command=FAKE), show=stop, progress=lambda share: None)
        assert not left_behind()

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_after_signals(self, scenario, number):
        program = (
            "import sys; from aqmlab import live\n"
            f"live.run({str(scenario)!r}, overrides={{'run.duration': '60s'}}, exec_a='sleep 98', progress=False, "
            f"link_command={FAKE!r})"
        )
        process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while len([name for name in left_behind(process.pid) if name.startswith("aql")]) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        if number == signal.SIGKILL:
            assert left_behind(process.pid)
            assert any(name.startswith(f"{process.pid}-") for name in live.clean())
        else:
            assert "everything that the run had made is removed" in said
        assert not left_behind(process.pid)

    def test_the_next_run_removes_the_leftovers_of_a_killed_one(self, scenario, capsys):
        assert main(["live", "--clean"]) == 0
        assert "Removed: " in capsys.readouterr().out


@needs_namespaces
class TestBadInput:
    def fails(self, capsys, *words):
        code = main(["live", *map(str, words)])
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1, lines
        assert not left_behind()
        return code, lines[0]

    def test_one_line_each(self, scenario, capsys, tmp_path):
        for words, says in (
            ([], "FILE.toml is missing"),
            ([tmp_path / "no.toml"], "no such file"),
            ([scenario, "--family", "ipv5"], 'unknown family "ipv5" (allowed: ipv4, ipv6; did you mean ipv4?)'),
            ([scenario, "--backend", "tcc"], 'unknown backend "tcc" (allowed: link, tc, vm; did you mean tc?)'),
            ([scenario, "--traffic", "iperf"], 'unknown program "iperf" (allowed: sockets, iperf3'),
            ([scenario, "--interval", "0.001"], "allowed: 0.01 to 60"),
            ([scenario, "--runs", "2", "--seeds", "3"], "give one of them"),
            ([scenario, "--set", "flow.tcp.transport=tahoe"], 'no kernel has "tahoe" as congestion control'),
        ):
            code, line = self.fails(capsys, *words, "--out", tmp_path)
            assert code in (1, 2)
            assert says in line

    def test_no_program(self, scenario, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr("shutil.which", lambda name, **_: None if name == "iperf3" else f"/usr/bin/{name}")
        code, line = self.fails(capsys, scenario, "--traffic", "iperf3", "--out", tmp_path)
        assert code == 1
        assert "iperf3 is not installed (package iperf3); --traffic sockets needs no program" in line


@pytest.mark.parametrize(
    ("tcp", "told"),
    [
        ('ecn = "classic"', []),
        ('ecn = "accurate"', ['flow tcp: the kernel echoes marks as with ecn = "classic", not as with "accurate"']),
        ('congestion_control = "dctcp", ecn = "dctcp"', []),
        ('congestion_control = "bbr1"', []),
        ('congestion_control = "bbr"', ["flow tcp: the kernel's bbr is version 1, the scenario's version 3"]),
    ],
)
def test_differences_of_the_kernels_tcp_are_reported(tcp, told):
    text = SCENARIO.replace('"newreno"\npacket_size = "1000B"', f'"tcp"\ntcp = {{ {tcp} }}')
    found = preflight(live_plan(Scenario.from_text(text), seed=1), watch=False)
    assert [t.text for t in found if t.text.startswith("flow tcp:")] == told


def test_without_root_the_command_names_its_requirements(scenario, monkeypatch, capsys):
    monkeypatch.setattr("aqmlab.live.rootless.is_privileged", lambda: False)
    monkeypatch.setattr("shutil.which", lambda name, **_: None)
    assert main(["live", str(scenario)]) == 1
    assert capsys.readouterr().err.strip().endswith("needs root, or the program unshare (package util-linux)")
