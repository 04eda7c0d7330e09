"""`aqmlab shape` in namespaces of its own: packets find their way through it, and all is as before afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Shell

# An extra of the package brings it.
pytest.importorskip("pyroute2", reason="needs pyroute2, of the extra live")

from aqmlab.errors import InputError, ScenarioError
from aqmlab.live.shape.choosing import check_options
from aqmlab.live.shape.configuration import Configuration
from aqmlab.live.shape.journal import FOLDER
from router import ADDRESS, Router, needs_namespaces, router, wait_until

UPLINK = """\
format = 1

[[link]]
name = "uplink"
from = "inside"
to = "outside"
rate = "2Mbps"
delay = "10ms"
queue = "red"
duplex = false

[queue.red]
aqm = "red"
limit = "50p"
min_th = "5p"
max_th = "15p"
"""


@pytest.fixture
def uplink(tmp_path: Path) -> Path:
    path = tmp_path / "uplink.toml"
    path.write_text(UPLINK)
    return path


@pytest.fixture
def net() -> Iterator[Router]:
    with router() as made:
        yield made


def journals() -> set[str]:
    return {path.name for path in FOLDER.glob("*.json")}


def passed(line: str) -> int:
    """Packets that the link saw, by the last line of a shape."""
    return int(line.split(" packets in")[0].split()[-1])


def test_file_without_flows_is_enough(uplink: Path) -> None:
    found = Configuration.load(uplink)
    assert (found.link.name, found.link.aqm, found.link.rate_bps, found.reverse) == ("uplink", "red", 2e6, None)
    assert found.words() == "red, 2 Mb/s, 10 ms"


def test_the_way_back_has_the_same_rate_by_default(uplink: Path) -> None:
    uplink.write_text(UPLINK.replace("duplex = false\n", ""))
    found = Configuration.load(uplink)
    assert found.reverse is not None
    assert (found.reverse.name, found.reverse.rate_bps) == ("uplink.reverse", 2e6)


def test_link_of_a_whole_scenario(small: Path) -> None:
    found = Configuration.load(small)
    assert (found.link.name, found.reverse and found.reverse.name) == ("bottleneck", "bottleneck.reverse")


def test_rate_of_a_trace_replaces_that_of_the_file(uplink: Path, tmp_path: Path, small: Path) -> None:
    trace = tmp_path / "lte.up"
    trace.write_text("1\n2\n2\n4\n")
    found = Configuration.load(uplink, rate=f"trace:{trace}")
    assert found.words() == "red, trace of 12 Mb/s on average, repeated after 0.004 s, 10 ms"
    assert '"1 2*2 4"' in dict(found.message({}, {}, interval_s=None)["overrides"])["link.uplink.rate"]
    trace.write_text("0s 8Mbps\n1s 0Mbps\n2s 0Mbps\n")
    assert Configuration.load(uplink, rate=f"trace:{trace}").link.rate_bps == 4e6
    assert Configuration.load(uplink, rate="3Mbps").link.rate_bps == 3e6
    found = Configuration.load(small, rate=f"trace:{trace}")
    assert [found.link.rate_bps, found.reverse and found.reverse.rate_bps] == [4e6, 4e6]


def test_traces_that_are_wrong_are_one_line(uplink: Path, tmp_path: Path, small: Path) -> None:
    trace = tmp_path / "lte.up"
    for text, message in [
        ("", "the trace is empty"),
        ("3\n2\n", r"lte.up:2: the time 2 is below the one before it, 3 \(allowed: "),
        ("0\n0\n", "lasts no time"),
        ("0s 0bps\n1s 0bps\n", "the rate is 0 for ever"),
        ("1 2 3\n", "is not a line of this trace"),
    ]:
        trace.write_text(text)
        with pytest.raises(InputError, match=message) as caught:
            Configuration.load(uplink, rate=f"trace:{trace}")
        assert str(caught.value).startswith("--rate trace:")
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"--rate trace:.*none.up: no such file"):
        Configuration.load(uplink, rate=f"trace:{tmp_path / 'none.up'}")
    with pytest.raises(ScenarioError, match=r"link.uplink.rate: .quick. does not begin with a number"):
        Configuration.load(uplink, rate="quick")
    at_host = Configuration.load(small).scenario.links[-1].name
    with pytest.raises(InputError, match=r"--rate: the link .* has no key of its own"):
        Configuration.load(small, link=at_host, rate="1Mbps")


def test_settings_of_live_count(uplink: Path) -> None:
    end = {"netns": None, "device": "x"}
    plain = Configuration.load(uplink).message(end, end, interval_s=None)
    assert (plain["count_bytes"], plain["loss"]["forward"], plain["groups"][0]["flow_label"]) == ("ip", 0.0, "5-tuple")
    second = '\n[[link]]\nname = "second"\nfrom = "outside"\nto = "far"\nrate = "1Mbps"\ndelay = "1ms"\n'
    live = (
        '\n[live]\nlink = "uplink"\ncount_bytes = "ethernet"\nloss = 0.01\nfamily = "ipv6"\nflow_label = "ipv6-label"\n'
        'distance = "option"\nqosa_bit = true\n'
    )
    uplink.write_text(f"{UPLINK}{second}{live}")
    told = Configuration.load(uplink).message(end, end, interval_s=None)
    assert told["link"] == "uplink"
    assert (told["count_bytes"], told["loss"]["forward"]) == ("ethernet", 0.01)
    assert told["groups"][0]["flow_label"] == "ipv6-label"
    assert (plain["distance"]["rule"], plain["qosa_bit"]) == ("inferred", False)
    assert (told["distance"]["rule"], told["qosa_bit"]) == ("option", True)


def test_problems_name_the_lines_of_the_file(uplink: Path) -> None:
    uplink.write_text(UPLINK.replace('"5p"', '"25p"'))
    with pytest.raises(ScenarioError, match=r"uplink.toml:15:10: queue.red.min_th: min_th \(25p\) is not below"):
        Configuration.load(uplink)


def test_link_must_be_named_where_there_are_several(uplink: Path) -> None:
    second = (
        '\n[[link]]\nname = "second"\nfrom = "outside"\nto = "far"\nrate = "1Mbps"\ndelay = "1ms"\nduplex = false\n'
    )
    uplink.write_text(UPLINK + second)
    with pytest.raises(InputError, match=r"has 2 links; say which with --link \(allowed: uplink, second\)"):
        Configuration.load(uplink)
    assert Configuration.load(uplink, link="second").link.rate_bps == 1e6
    with pytest.raises(InputError, match=r"unknown link .secnd. .*did you mean second"):
        Configuration.load(uplink, link="secnd")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, r"say where \(allowed: --in IF and --out IF, or --netns NAME\)"),
        ({"into": "a"}, "say where"),
        ({"into": "a", "out": "a"}, "--out a: is the input too"),
        ({"into": "a", "netns": "n"}, "--in: cannot be given with --netns"),
        ({"into": "a", "out": "b", "addresses": ["10.0.0.1"]}, "--address: is for --netns"),
        ({"netns": "n", "addresses": ["10.0.0"]}, "--address 10.0.0: is not an IP address"),
    ],
)
def test_options_that_cannot_be_meant(words: dict[str, str], message: str) -> None:
    options = {"into": None, "out": None, "netns": None, "addresses": (), **words}
    with pytest.raises(InputError, match=message):
        check_options(**options)  # type: ignore[arg-type]


@needs_namespaces
@pytest.mark.parametrize("checks", ["0", "1"], ids=["no-source-check", "strict-source-check"])
def test_packets_go_through_it_and_all_is_as_before(net: Router, uplink: Path, checks: str) -> None:
    for name in ("all", "default", "in0", "out0"):
        net.set(f"ipv4/conf/{name}/rp_filter", checks)
    before = net.state()
    assert net.echo(4) == 0
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping in0 to out0: red, 2 Mb/s, 10 ms")
    assert net.echo(4, count=10) == 10
    assert net.echo(6, count=10) == 10
    code, out = running.stop()
    assert (code, running.err.count("\n")) == (0, 1)
    assert passed(out) == 40
    assert net.state() == before
    assert not journals()


@needs_namespaces
def test_a_machine_that_forwards_already_keeps_its_settings(net: Router, uplink: Path) -> None:
    net.set("ipv4/ip_forward", "1")
    net.set("ipv6/conf/all/forwarding", "1")
    before = net.state()
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping")
    assert net.echo(4) == net.echo(6) == 1
    # A router's interfaces, hence the link's too, report the group of all routers (MLD), each at most twice.
    assert 4 <= passed(running.stop(signal.SIGINT)[1]) <= 8
    assert net.state() == before
    assert net.echo(4) == 1


@needs_namespaces
def test_a_kernel_that_forwards_ipv6_everywhere_or_nowhere(net: Router, uplink: Path) -> None:
    net.ip("r", "link add other type veth peer name rehto")
    net.set("ipv6/conf/other/forwarding", "1")
    before = net.state()
    running = net.shape(uplink, into="in0", out="out0", old_kernel=True)
    running.wait_for("shaping")
    assert net.echo(4) == net.echo(6) == 1
    assert running.stop()[0] == 0
    assert net.state() == before


@needs_namespaces
def test_it_ends_with_its_terminal(net: Router, uplink: Path) -> None:
    before = net.state()
    ours, theirs = os.openpty()
    running = net.shape(uplink, terminal=theirs, into="in0", out="out0")
    os.close(theirs)
    running.wait_for("shaping")
    os.close(ours)
    code, out = running.end()
    assert (code, out.strip().endswith("0 reloads")) == (0, True)
    assert net.state() == before


@needs_namespaces
def test_packets_to_the_router_itself_bypass_the_link(net: Router, uplink: Path) -> None:
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping")
    with net.socket("a", 4) as near, net.socket("r", 4, 5000) as at_router:
        near.sendto(b"x", ("10.2.0.1", 5000))
        assert at_router.recv(10) == b"x"
    assert passed(running.stop()[1]) == 0


@needs_namespaces
def test_new_configuration_by_sighup(net: Router, uplink: Path) -> None:
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping")
    uplink.write_text(UPLINK.replace("2Mbps", "3Mbps"))
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("uplink.toml: read again: red, 3 Mb/s, 10 ms")
    uplink.write_text(UPLINK.replace('"red"\nlimit', '"rde"\nlimit').replace("2Mbps", "-2Mbps"))
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("the configuration stays as it is: ")
    uplink.unlink()
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("no such file")
    uplink.write_text(UPLINK.replace("duplex = false\n", ""))
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("duplex cannot change")
    assert net.echo(4) == 1
    code, out = running.stop()
    assert code == 0
    assert out.strip().endswith("1 reload")
    assert "and 1 more problem" in running.err
    assert running.err.count("\n") == 5


@needs_namespaces
@pytest.mark.parametrize(
    ("mark", "message"), [("fake-rejects", "scenario: is rejected"), ("fake-ends", "link process")]
)
def test_the_network_is_restored_after_an_error(net: Router, uplink: Path, mark: str, message: str) -> None:
    before = net.state()
    uplink.write_text(f"{UPLINK}# {mark}\n")
    running = net.shape(uplink, into="in0", out="out0")
    code, _ = running.end()
    assert code == (2 if mark == "fake-rejects" else 1)
    assert message in running.err
    assert net.state() == before
    assert not journals()


@needs_namespaces
def test_clean_undoes_what_kill_9_left_and_starts_nothing(net: Router, uplink: Path) -> None:
    before = net.state()
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping")
    running.stop(signal.SIGKILL)
    wait_until(lambda: "aqm0" not in net.ip("r", "link"), "the devices of a killed shape stay")
    assert net.state() != before
    command = ["nsenter", f"--net={net.path('r')}", str(Path(sys.executable).with_name("aqmlab")), "shape", "--clean"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"(process {running.process.pid}) had left behind" in done.stdout
    assert net.state() == before
    assert not journals()
    assert not list(FOLDER.glob(f"{running.process.pid}-*"))


@needs_namespaces
def test_next_start_cleans_after_kill_9(net: Router, uplink: Path) -> None:
    before = net.state()
    running = net.shape(uplink, into="in0", out="out0")
    running.wait_for("shaping")
    code, _ = running.stop(signal.SIGKILL)
    assert code == -signal.SIGKILL
    wait_until(lambda: "aqm0" not in net.ip("r", "link"), "the devices of a killed shape stay")
    assert "iif in0" in net.ip("r", "rule")
    again = net.shape(uplink, into="in0", out="out0")
    again.wait_for("shaping")
    assert f"undid what a shape that was killed (process {running.process.pid}) had left behind" in again.err
    assert net.ip("r", "rule").count("iif in0") == 1
    assert net.echo(6) == 1
    assert again.stop()[0] == 0
    assert net.state() == before
    assert not journals()


@needs_namespaces
@pytest.mark.parametrize(
    ("into", "out", "message"),
    [
        ("in1", "out0", "--in in1: unknown interface (allowed: in0, out0)"),
        ("in0", "lo", "--out lo: is the loopback interface (allowed: one to other machines)"),
        (
            "in0",
            "out0",
            "--out out0: carries the default route; what goes wrong may cut you off (--yes takes it all the",
        ),
    ],
)
def test_interfaces_that_are_rejected(net: Router, uplink: Path, into: str, out: str, message: str) -> None:
    net.ip("r", "route add default via 10.2.0.2")
    before = net.state()
    running = net.shape(uplink, into=into, out=out)
    code, _ = running.end()
    assert (code, running.err.count("\n")) == (2, 1)
    assert message in running.err
    assert net.state() == before


@needs_namespaces
def test_default_route_only_on_request_and_no_interface_twice(net: Router, uplink: Path) -> None:
    net.ip("r", "-6 route add default via fd02::2")
    running = net.shape(uplink, into="in0", out="out0", yes=True)
    running.wait_for("shaping")
    second = net.shape(uplink, into="in0", out="out0", yes=True)
    assert second.end()[0] == 2
    assert "--in in0: has a shape already" in second.err
    assert running.stop()[0] == 0


@needs_namespaces
def test_default_route_of_a_namespace(net: Router, uplink: Path) -> None:
    """A's own way to the router goes; its only way left is the bottleneck."""
    net.ip("a", "route del default")
    net.ip("a", "-6 route del default")
    before, inside = net.state(), net.ip("a", "rule") + net.ip("a", "-6 rule")
    running = net.shape(uplink, netns=net.name("a"), out="out0", addresses=["10.9.0.1", "fd09::1"])
    running.wait_for(f"shaping namespace {net.name('a')} to out0")
    assert net.echo(4, count=5) == net.echo(6, count=5) == 5
    with net.socket("a", 4) as near, net.socket("b", 4, 5000) as far:
        near.sendto(b"x", (ADDRESS[4]["b"], 5000))
        assert far.recvfrom(10)[1][0] == "10.9.0.1"
    second = net.shape(uplink, netns=net.name("a"))
    assert second.end()[0] == 2
    assert "has a shape already" in second.err
    code, out = running.stop()
    assert (code, passed(out)) == (0, 21)
    assert net.state() == before
    assert net.ip("a", "rule") + net.ip("a", "-6 rule") == inside


@needs_namespaces
def test_without_the_right_to_change_routes(net: Router, uplink: Path) -> None:
    del net
    command = ["setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin", sys.executable, "-m", "aqmlab"]
    done = subprocess.run(
        [*command, "shape", "--in", "x", "--out", "y", str(uplink)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "aqmlab: shape: changing routes needs root (CAP_NET_ADMIN); start it with sudo\n"


@pytest.mark.slow
def test_command_line(shell: Shell) -> None:
    assert shell("shape", "small.toml").err.startswith("aqmlab: shape: say where")
    assert "--interval 0: is out of range" in shell("shape", "small.toml", "--interval", "0").err
    assert "stdout is for --json" in shell("shape", "small.toml", "--json", "--stats", "terminal").err
