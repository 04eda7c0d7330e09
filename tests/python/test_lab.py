"""The laboratory without a browser: settings and their runs, what the server refuses, the command."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import aqmlab
from aqmlab.cli import main, parse_overrides, parse_seeds
from aqmlab.lab import message
from aqmlab.lab.laboratory import show
from aqmlab.lab.refusal import Refusal
from aqmlab.lab.server import MOST_CONNECTIONS
from aqmlab.lab.simulation import Simulator
from aqmlab.lab.workbench import Workbench

PAGE = "00112233445566aa"
RED = "queue.bottleneck"


@pytest.fixture(scope="module")
def bench():
    made = Workbench()
    yield made
    made.close()


@pytest.fixture(scope="module")
def lab():
    with aqmlab.open_lab() as opened:
        yield opened


def values(answer, run=0):
    return {row["key"]: row["values"][run] for row in answer["numbers"]}


def again(command):
    """Run a command of the page, in memory; the numbers that the page shows."""
    words = shlex.split(command)
    assert words[:2] == ["aqmlab", "run"]
    seeds = parse_seeds(words[words.index("--seeds") + 1])
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    result = aqmlab.run(words[2], seeds=seeds, overrides=parse_overrides(sets), workers=1, progress=False)
    return result.metrics(link="bottleneck").iloc[0].to_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {f"{RED}.max_th": 45, "rate": 7.5, "rtt": 120.5, "flow.tcp.count": 17, "seed": 7},
        {"aqm": "drop-tail", f"{RED}.limit": 60, "seconds": 12},
        {"aqm": "rio", "beside": "adaptive-red", f"{RED}.class.out.max_p": 0.3, f"{RED}.w_q": 0.01, "seed": 3},
        {f"{RED}.curve": "nlred", f"{RED}.ecn": True, "flow.tcp.transport": "sack"},
    ],
    ids=["as it is", "sliders", "drop-tail", "classes beside", "words and switches"],
)
def test_the_command_repeats_the_numbers(bench, settings):
    answer = bench.answer(settings)
    for index, command in enumerate(answer["command"].splitlines()):
        shown, repeated = values(answer, index), again(command)
        assert shown == {key: repeated[key] for key in shown}


def test_the_scenario_text_is_the_setting(bench, tmp_path):
    answer = bench.answer({f"{RED}.min_th": 20, "seed": 5})
    path = tmp_path / "copied.toml"
    path.write_text(answer["text"])
    copied = aqmlab.run(path, seeds=[5], workers=1, progress=False).metrics(link="bottleneck").iloc[0].to_dict()
    assert values(answer) == {key: copied[key] for key in values(answer)}


def test_every_discipline_runs_with_its_own_controls(bench):
    for known in aqmlab.disciplines():
        answer = bench.answer({"aqm": known.name})
        assert answer["names"] == [known.name]
        keys = {control["key"] for control in answer["panel"]}
        assert {"aqm", "beside", "rate", "rtt", "flow.tcp.count", "seconds", "seed", f"{RED}.limit"} <= keys
        curved = known.parameter("curve") is not None
        assert (f"{RED}.w_q" in keys) == curved
        assert [chart["key"] for chart in answer["charts"]] == ["queue", "probability", "goodput", "delay"]
        assert all(len(chart["alt"]) > 30 for chart in answer["charts"])
        json.dumps(answer, allow_nan=False)


def test_two_disciplines_see_the_same_traffic(bench):
    answer = bench.answer({"beside": "red", "aqm": "mred"})
    assert answer["names"] == ["mred", "red"]
    assert values(answer, 1) == values(bench.answer({}))


def test_a_slider_sets_what_it_says(bench):
    plan = bench.plan.with_overrides(
        parse_overrides([w for w in shlex.split(bench.answer({"rtt": 200, "rate": 3})["command"]) if "=" in w])
    )
    way = [plan.link(name).delay_s for name in plan.flows[0].path]
    assert 2 * sum(way) == pytest.approx(0.2)
    assert plan.link("bottleneck").rate_bps == 3e6


@pytest.mark.parametrize("file", ["chain", "explicit-two-hop", "torus", "diffserv", "udp-mix"])
def test_other_networks_have_their_controls(file, pytestconfig):
    bench = Workbench(pytestconfig.rootpath / "examples" / f"{file}.toml")
    try:
        panel = {control.key: control for control in bench.panel(bench.plan.link(bench.link).aqm)}
        assert "rate" in panel
        assert panel.keys() & {"rtt", "delay"}
        answer = bench.answer({"rate": panel["rate"].value * 2, "seconds": 2})
        assert answer["simulated_s"] <= 2
        assert answer["link"] == bench.link
    finally:
        bench.close()


def test_a_run_that_takes_too_long_is_cut_and_says_so():
    bench = Workbench(overrides={"run.duration": "600s"}, budget_s=0.02)
    try:
        began = time.monotonic()
        answer = bench.answer({"rate": 1000, "flow.tcp.count": 200})
        assert answer["asked_s"] == 600
        assert 0.1 <= answer["simulated_s"] < 60
        assert time.monotonic() - began < 2
        assert answer["warmup_s"] < answer["simulated_s"] / 2
    finally:
        bench.close()


def test_changes_after_the_end_of_a_cut_run_are_left_out(pytestconfig):
    bench = Workbench(pytestconfig.rootpath / "examples" / "torus.toml", link="r1->r2")
    try:
        answer = bench.answer({"seconds": 3})
        assert "run.duration=3s" in answer["command"]
        assert "change=[]" in answer["command"]
    finally:
        bench.close()


def test_the_newest_request_wins(bench):
    turns = itertools.count()
    with pytest.raises(Refusal, match="409 a newer request"):
        bench.answer({}, superseded=lambda: next(turns) > 3)


def test_a_slow_run_gives_way_at_once():
    """A run without a bound on its time is given up as soon as a newer request is there."""
    simulator = Simulator("bottleneck", budget_s=1000.0)
    plan = aqmlab.Scenario.load("lab:dumbbell.toml", overrides={"run.duration": "20000s"})
    newer = threading.Event()
    threading.Timer(0.3, newer.set).start()
    began = time.monotonic()
    with pytest.raises(Refusal, match="409"):
        simulator.runs([("red", plan)], seconds=20000.0, seed=1, superseded=newer.is_set)
    assert time.monotonic() - began < 3
    simulator.close()


UNUSABLE = {
    "unknown": ({"run.duration": "1e9s"}, "'run.duration' is not among the controls of red"),
    "of the core": ({f"{RED}.min_th": 50}, "min_th (50p) is not below max_th (30p)"),
    "too many flows": ({"flow.tcp.count": 1e9}, "flow.tcp.count: is out of range (allowed: 1 to 2000)"),
    "half a flow": ({"flow.tcp.count": 1.5}, "flow.tcp.count: 1.5 is not a whole number"),
    "word for number": ({"rate": "10Mbps"}, "rate: is not a number"),
    "truth for number": ({"rate": True}, "rate: is not a number"),
    "unknown discipline": ({"aqm": "rde"}, "aqm: is none of drop-tail, red"),
    "no word": ({"aqm": 3}, "aqm: is none of drop-tail, red"),
    "no truth": ({f"{RED}.ecn": 1}, "is not true or false"),
    "half a surrogate": ({"aqm": "\ud800"}, "aqm: is none of"),
    "toml in a word": ({f"{RED}.curve": 'x"\nlimit = 1'}, "is none of"),
    "huge number": ({"seed": 10**400}, "seed: is out of range"),
}


@pytest.mark.parametrize(("settings", "line"), UNUSABLE.values(), ids=UNUSABLE)
def test_settings_that_are_none(bench, settings, line):
    with pytest.raises(Refusal) as found:
        bench.answer(settings)
    assert found.value.status == 422
    assert line in found.value.text
    assert "\n" not in found.value.text


def talk(lab, raw, *, wait=10.0):
    """Send bytes to the server and return all that it answers."""
    with socket.create_connection(("127.0.0.1", lab.bench_port), timeout=wait) as connection:
        connection.sendall(raw)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.fixture
def server(lab):
    port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", lab.url).groups()

    class Server:
        bench_port = int(port)
        host = f"127.0.0.1:{port}"
        home = f"/{token}/"

        def ask(self, method="GET", path=None, body=None, headers=(), host=None, version="HTTP/1.1"):
            lines = [f"{method} {self.home if path is None else path} {version}", f"Host: {host or self.host}"]
            if body is not None:
                lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
            raw = "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + (body or b"")
            return self.split(talk(self, raw))

        @staticmethod
        def split(answer):
            head, _, rest = answer.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            found = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            return int(first.split()[1]), found, rest

        def post(self, data, **more):
            body = data if isinstance(data, bytes) else json.dumps(data).encode()
            return self.ask("POST", f"{self.home}run", body, **more)

    return Server()


def test_the_page_and_its_files(server):
    status, headers, body = server.ask()
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    text = body.decode()
    for name in re.findall(r'(?:href|src)="([^"#]+)"', text):
        if not name.startswith("data:"):
            assert server.ask(path=f"{server.home}{name}")[0] == 200, name
    assert not re.search(r"https?://", text)
    for name in ("lab.js", "chart.js", "panel.js", "lab.css", "page.css"):
        assert not re.search(rb"https?://", server.ask(path=f"{server.home}{name}")[2]), name


def test_a_run_over_the_wire(server):
    status, headers, body = server.post({"page": PAGE, "number": 1, "settings": {"rate": 5}})
    assert (status, headers["content-type"]) == (200, "application/json; charset=utf-8")
    answer = json.loads(body)
    assert answer["number"] == 1
    assert answer["command"].endswith("--set dumbbell.bottleneck.rate=5Mbps")


def good(number=9, **settings):
    return json.dumps({"page": PAGE, "number": number, "settings": settings}).encode()


def deep(depth=8000):
    return b'{"page": "00112233", "number": 1, "settings": ' + b"[" * depth + b"]" * depth + b"}"


HOSTILE = {
    "no token": (401, {"path": "/"}),
    "wrong token": (401, {"path": "/" + "x" * 32 + "/"}),
    "token in the query": (401, {"path": "/?token=x"}),
    "bytes for a token": (401, {"path": "/\xff\xfe/"}),
    "climbing up": (404, {"path": "HOME../workbench.py"}),
    "encoded climbing up": (404, {"path": "HOME%2e%2e/workbench.py"}),
    "another file of the package": (404, {"path": "HOMEserver.py"}),
    "a query": (404, {"path": "HOMElab.js?x=1"}),
    "token without slash": (404, {"path": "HOME", "cut": 1}),
    "absolute form": (400, {"path": "http://127.0.0.1/"}),
    "rebound name": (403, {"host": "evil.example:80"}),
    "name that begins well": (403, {"host": "127.0.0.1.evil.example"}),
    "port of another": (403, {"host": "127.0.0.1:1"}),
    "two hosts": (400, {"headers": ("Host: evil.example",)}),
    "foreign origin": (403, {"method": "POST", "path": "HOMErun", "body": good(), "headers": ("Origin: http://evil",)}),
    "no origin": (403, {"method": "POST", "path": "HOMErun", "body": good(), "headers": ("Origin: null",)}),
    "foreign site": (403, {"headers": ("Sec-Fetch-Site: cross-site",)}),
    "page posted to": (405, {"method": "POST", "body": good()}),
    "run fetched": (405, {"path": "HOMErun"}),
    "put": (405, {"method": "PUT", "path": "HOMErun", "body": good()}),
    "delete": (405, {"method": "DELETE"}),
    "options": (405, {"method": "OPTIONS", "path": "HOMErun"}),
    "head": (405, {"method": "HEAD"}),
    "connect": (400, {"method": "CONNECT", "path": "evil.example:443"}),
    "made-up method": (405, {"method": "BREW"}),
    "HTTP/0.9": (400, {"version": ""}),
    "HTTP/2": (400, {"version": "HTTP/2.0"}),
    "no length": (411, {"method": "POST", "path": "HOMErun"}),
    "in pieces": (411, {"method": "POST", "path": "HOMErun", "body": good(),
                        "headers": ("Transfer-Encoding: chunked",)}),
    "two lengths": (400, {"method": "POST", "path": "HOMErun", "body": good(), "headers": ("Content-Length: 1",)}),
    "length below 0": (400, {"method": "POST", "path": "HOMErun", "headers": ("Content-Length: -1",)}),
    "length that is none": (400, {"method": "POST", "path": "HOMErun", "headers": ("Content-Length: 0x10",)}),
    "large body": (413, {"method": "POST", "path": "HOMErun", "headers": ("Content-Length: 16385",)}),
    "huge body": (413, {"method": "POST", "path": "HOMErun", "headers": (f"Content-Length: {10**30}",)}),
    "a form": (415, {"method": "POST", "path": "HOMErun",
                     "headers": ("Content-Length: 1", "Content-Type: text/plain")}),
    "no JSON": (400, {"method": "POST", "path": "HOMErun", "body": b"{"}),
    "no UTF-8": (400, {"method": "POST", "path": "HOMErun", "body": b'{"page": "\xff"}'}),
    "not a number": (400, {"method": "POST", "path": "HOMErun", "body": good().replace(b"9", b"NaN")}),
    "a key twice": (400, {"method": "POST", "path": "HOMErun", "body": b'{"page": "aa", "page": "bb"}'}),
    "very deep": (400, {"method": "POST", "path": "HOMErun", "body": deep()}),
    "a list": (422, {"method": "POST", "path": "HOMErun", "body": b"[]"}),
    "a key more": (422, {"method": "POST", "path": "HOMErun", "body": good().replace(b"{", b'{"x": 1, ', 1)}),
    "no page": (422, {"method": "POST", "path": "HOMErun", "body": good().replace(PAGE.encode(), b"../../etc")}),
    "half a request": (422, {"method": "POST", "path": "HOMErun", "body": good(number=1.5)}),
    "a list as a value": (422, {"method": "POST", "path": "HOMErun", "body": good(rate=[1])}),
    "an unknown key": (422, {"method": "POST", "path": "HOMErun", "body": good(**{"probe.events": True})}),
    "infinite rate": (422, {"method": "POST", "path": "HOMErun", "body": good(rate=77).replace(b"77", b"1e999")}),
    "script for a key": (422, {"method": "POST", "path": "HOMErun", "body": good(**{"<script>": 1})}),
    "long address": (414, {"path": "/" + "a" * 5000}),
    "long header": (431, {"headers": ("X: " + "a" * 70000,)}),
    "many headers": (431, {"headers": tuple(f"X{i}: 1" for i in range(200))}),
}  # fmt: skip


@pytest.mark.parametrize(("status", "request_"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_is_refused_in_one_line(server, status, request_):
    words = dict(request_)
    cut = words.pop("cut", 0)
    if "path" in words:
        path = words["path"].replace("HOME", server.home)
        words["path"] = path[: len(path) - cut]
    found, headers, body = server.ask(**words)
    assert found == status
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    if words.get("method") != "HEAD":
        text = body.decode()
        assert text.endswith("\n")
        assert text.count("\n") == 1
        assert len(text) < 400
        assert server.home.strip("/") not in text
    if status == 405:
        assert headers["allow"] in ("GET", "POST")


def test_a_body_that_is_sent_although_it_is_too_large(server):
    for _ in range(5):
        status, _, body = server.post(b" " * 400_000)
        assert (status, body) == (413, b"the body is larger than 16384 bytes\n")


def test_bytes_that_are_no_request(server):
    for raw in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n"):
        status, _, body = server.split(talk(server, raw))
        assert (status, body.count(b"\n")) == (400, 1)
    assert server.ask()[0] == 200


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(server, monkeypatch):
    monkeypatch.setattr("aqmlab.lab.server.ARRIVAL_S", 0.3)
    began = time.monotonic()
    head = f"POST {server.home}run HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
    assert talk(server, f"{head}Content-Length: 100\r\n\r\nx".encode()) == b""
    assert time.monotonic() - began < 3


def test_connections_are_counted(server, monkeypatch):
    monkeypatch.setattr("aqmlab.lab.server.ARRIVAL_S", 1.0)
    held = [socket.create_connection(("127.0.0.1", server.bench_port)) for _ in range(MOST_CONNECTIONS + 4)]
    try:
        time.sleep(0.2)
        with pytest.raises((OSError, IndexError)):
            server.ask()
    finally:
        for connection in held:
            connection.close()
    time.sleep(0.3)
    assert server.ask()[0] == 200


def test_an_older_number_is_told_that_it_is_late(server):
    page = "ffeeddccbbaa9988"
    assert server.post({"page": page, "number": 10, "settings": {}})[0] == 200
    assert server.post({"page": page, "number": 9, "settings": {}})[0] == 409
    assert server.post({"page": page, "number": 11, "settings": {}})[0] == 200


def test_only_the_loopback_interface_is_listened_on(server):
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in own - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError), socket.create_connection((address, server.bench_port), timeout=1):  # noqa: PT011
            pass


def test_tokens_differ_and_closing_twice_does_no_harm():
    with aqmlab.open_lab() as one, aqmlab.open_lab() as other:
        assert one.url.split("/")[3] != other.url.split("/")[3]
        other.close()


def test_random_bodies_are_answered(server):
    """Whatever the settings are, there is an answer or one line, never a broken connection."""
    from random import Random

    rng = Random(5)
    keys = ["aqm", "beside", "rate", "rtt", "seed", "seconds", f"{RED}.min_th", f"{RED}.max_p", "flow.tcp.count", "x"]
    odd = [0, -1, 1e-9, 1e9, 1e300, True, "", "red", "wred", "nothing", "\u0000", "🙂", 0.5, 7, 31]
    for number in range(60):
        settings = {rng.choice(keys): rng.choice(odd) for _ in range(rng.randint(1, 4))}
        status, _, body = server.post({"page": "abcdef0123456789", "number": number, "settings": settings})
        assert status in (200, 422), settings
        assert status == 200 or body.count(b"\n") == 1


def test_message_of_the_page():
    assert message.read(good(rate=1)).settings == {"rate": 1}


class Opened:
    """The command, running."""

    def __init__(self, shell, *words):
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "aqmlab", "lab", *words],
            cwd=shell.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.first = self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        return code, self.first + self.process.stdout.read(), self.process.stderr.read()


def test_the_command_ends_cleanly(shell):
    with Opened(shell, "small.toml", "--no-browser", "--set", "queue.bottleneck.max_th=20p") as opened:
        assert re.match(r"Laboratory: http://127\.0\.0\.1:\d+/[\w-]{32}/\n", opened.first)
        code, out, err = opened.stop()
    assert (code, err) == (0, "aqmlab: laboratory closed\n")
    assert out.endswith("Ctrl-C ends it.\n")


def test_without_a_display_it_says_so(shell):
    with Opened(shell, "--json") as opened:
        assert opened.first == "{\n"
        time.sleep(0.2)
        code, out, err = opened.stop()
    assert code == 0
    assert json.loads(out)["url"].startswith("http://127.0.0.1:")
    assert err.startswith("aqmlab: there is no display here; open the address in a browser of this machine\n")


def test_no_browser_is_one_line(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert show("http://127.0.0.1/") == "no browser was found; open the address in one of this machine"


def test_bad_input_of_the_command(small, server, capsys):
    port = str(server.bench_port)
    cases = [
        ((small, "--port", port), f"aqmlab: --port {port}: is in use (allowed: another from 1024 to 65535"),
        (("none.toml",), "aqmlab: none.toml: no such file"),
        ((small, "--link", "bottelneck"), 'aqmlab: unknown link "bottelneck" (allowed: bottleneck, '),
        ((small, "--set", "queue.bottleneck.max_p=2"), "--set queue.bottleneck.max_p: 2 is out of range (allowed: "),
        (("--port", "99999"), "aqmlab: Invalid value for '--port'"),
    ]  # fmt: skip
    for words, line in cases:
        assert main(["lab", "--no-browser", *map(str, words)]) == 2
        answer = capsys.readouterr()
        assert answer.out == ""
        assert answer.err.startswith(line)
        assert answer.err.count("\n") == 1
