"""The laboratory's server against hostile input of every kind: it answers or rejects each request."""

from __future__ import annotations

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

import aqmlab
from aqmlab import _core
from aqmlab.lab import message, sessions
from aqmlab.lab.laboratory import Lab
from aqmlab.lab.message import MOST_BYTES
from aqmlab.lab.page import BUILT_IN
from aqmlab.lab.server import MOST_CONNECTIONS
from aqmlab.results.parquet import values
from aqmlab.scenario import plugins
from aqmlab.scenario.file import read_text

PAGE = "00112233445566aa"
SHORT = [["run.duration", "6s"], ["run.warmup", "1s"]]


class Server:
    """A running laboratory, and raw connections to it."""

    def __init__(self, url):
        self.host, self.home = re.fullmatch(r"http://(127\.0\.0\.1:\d+)(/[\w-]{32}/)", url).groups()
        self.port = int(self.host.split(":")[1])

    def talk(self, raw):
        """Send bytes and return all that is answered."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(raw)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def ask(self, method="GET", path=None, body=None, headers=(), host=None, version="HTTP/1.1"):
        """Send a request; the status, the headers and the body of the answer."""
        lines = [f"{method} {self.home if path is None else path} {version}", f"Host: {host or self.host}"]
        if body is not None:
            lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
        return split(self.talk("\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + (body or b"")))

    def post(self, data):
        return self.ask("POST", f"{self.home}core", data if isinstance(data, bytes) else json.dumps(data).encode())

    def call(self, name, request="", page=PAGE):
        """Call the core as a page does; the status, and the answer."""
        text = request if isinstance(request, str) else json.dumps(request)
        status, _, body = self.post({"page": page, "call": name, "request": text})
        return status, body if name == "columns" or status != 200 else json.loads(body)

    def run(self, file, page=PAGE, overrides=(), text=None):
        """Run a scenario as a page does; the answer of `finish`, and its tables."""
        asked = {"text": text or read_text(file), "file": file, "overrides": [*SHORT, *overrides], "seed": 2}
        assert self.call("start", asked, page) == (200, {"ok": True})
        share = 0.0
        while share < 1:
            status, answer = self.call("advance", page=page)
            assert status == 200
            if not answer["ok"]:
                return answer, {}
            assert answer["share"] > share
            share = answer["share"]
        _, answer = self.call("finish", page=page)
        _, block = self.call("columns", page=page)
        return answer, {
            name: {one["name"]: column(one, block) for one in columns} for name, columns in answer["tables"].items()
        }


def column(one, block):
    """The values of a column: bytes, or words."""
    return one["values"] if one["kind"] == "text" else block[one["at"] : one["at"] + 8 * one["length"]]


def split(answer):
    head, _, rest = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    found = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(first.split()[1]), found, rest


@pytest.fixture(scope="module")
def server():
    with aqmlab.open_lab() as lab:
        yield Server(lab.url)


def test_the_page(server):
    status, headers, body = server.ask()
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    text = body.decode()
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "; connect-src 'self'; " in policy
    assert "unsafe" not in policy
    assert re.findall(r'(?:href|src)="([^"#]+)"', text) == ["data:,"]
    text = re.sub(r'<script type="application/json".*?</script>', "", text)
    for name in ("https://github.com/leeoniya/uPlot", "http://www.w3.org/2000/svg"):  # of the charts, and of SVG
        text = text.replace(name, "")
    assert not re.search(r"https?://", text)


def test_nothing_but_the_page_and_its_core_is_served():
    with Lab("<title>alone</title>") as lab:
        alone = Server(lab.url)
        status, _, body = alone.ask()
        assert (status, body) == (200, b"<title>alone</title>")
        assert alone.ask(path=f"{alone.home}lab.js")[0] == 404
        assert alone.ask("POST", body=b"{}")[0] == 405
        assert alone.ask(path="/")[0] == 401


@pytest.mark.parametrize("file", [BUILT_IN, "example:chain", "example:applications"])
def test_a_run_over_the_wire_is_that_of_the_command_line(server, file):
    answer, tables = server.run(file)
    native = _core.Scenario(read_text(file), file, [tuple(pair) for pair in SHORT]).run(2)
    warnings = native["summary"].pop("warnings", [])
    assert answer["summary"] == {**native["summary"], "warnings": warnings}
    assert tables == {
        name: {
            key: data if isinstance(kind, str) else values((kind, data)).tolist()
            for key, (kind, data) in columns.items()
        }
        for name, columns in native["tables"].items()
    }


def test_the_quantities_of_the_run_come_with_the_answer(server):
    answer, _ = server.run("example:applications")
    overrides = dict(SHORT)
    due = aqmlab.run("example:applications", seeds=[2], overrides=overrides, workers=1, progress=False).metrics()
    found = answer["quantities"]
    assert {"mos", "page_load_s", "stalled"} <= found.keys()
    assert found == {key: due[key].iloc[0] for key in due.columns if key != "seed"}
    assert "mos" not in server.run(BUILT_IN)[0]["quantities"]


def test_errors_of_the_core_are_answers_of_one_line(server):
    text = read_text(BUILT_IN)
    status, answer = server.call(
        "check", {"text": text, "file": "a.toml", "overrides": [["queue.bottleneck.max_p", "2"]]}
    )
    assert (status, answer["ok"]) == (200, False)
    assert answer["errors"][0]["key"] == "queue.bottleneck.max_p"
    wrong = ["[]", "5", "{", '{"seed": 1e999}', '{"seed": 1.5}', '{"text": 3, "seed": 1}', "[" * 9000, "\ud800"]
    for call in ("check", "start"):
        for request in wrong:
            status, answer = server.call(call, request)
            assert (status, answer["ok"]) == (200, False), (call, request)
            assert "\n" not in answer.get("error", "")


def test_a_plug_in_runs_and_its_error_is_one_line(server):
    @plugins.discipline("raises-late", title="Raises late")
    class RaisesLate(plugins.Discipline):
        """Raises at the hundredth packet."""

        def enqueue(self, now, packet, queue):
            self.average += 1
            if self.average > 99:
                raise RuntimeError("one hundred\npackets")
            return "accept"

    assert "raises-late" in [one["name"] for one in server.call("disciplines")[1]["disciplines"]]
    answer, _ = server.run(BUILT_IN, overrides=[["queue.bottleneck", "{ aqm = 'raises-late' }"]])
    assert re.match(r".*test_lab_server.py:\d+: RuntimeError: one hundred packets \(at \d", answer["error"])
    answer, tables = server.run(BUILT_IN)
    assert np.frombuffer(tables["links"]["arrivals"], "i8").sum() > 1000


@pytest.mark.slow
def test_a_run_is_finished_only_at_its_end(server):
    """No request takes longer than a slice of a run, whatever is asked for."""
    text = read_text(BUILT_IN)
    asked = {"text": text, "file": BUILT_IN, "overrides": [["run.duration", "20000s"]], "seed": 1}
    assert server.call("start", asked) == (200, {"ok": True})
    began = time.monotonic()
    assert server.call("finish") == (409, b"the run is not at its end\n")
    status, answer = server.call("advance")
    assert time.monotonic() - began < 3
    assert status == 200
    assert 0 < answer["share"] < 0.5
    assert server.call("start", {**asked, "text": ""})[1]["ok"] is False
    assert server.call("advance")[0] == 409


@pytest.mark.slow
def test_sessions_are_counted(server):
    """With too many pages the oldest loses its run; the others keep theirs."""
    asked = {"text": read_text(BUILT_IN), "file": BUILT_IN, "overrides": [["run.duration", "20000s"]], "seed": 1}
    pages = [f"{number:08x}" for number in range(sessions.MOST_SESSIONS + 1)]
    for page in pages:
        assert server.call("start", asked, page) == (200, {"ok": True})
    assert server.call("advance", page=pages[1])[0] == 200
    status, line = server.call("advance", page=pages[0])
    assert (status, line) == (409, b"this page has no run; at most 16 pages can be open\n")


@pytest.mark.slow
def test_other_runs_are_waited_for_only_so_long(server, monkeypatch):
    monkeypatch.setattr(sessions, "PATIENCE_S", 0.1)
    monkeypatch.setattr(sessions, "SLICE_S", 1.5)
    asked = {"text": read_text(BUILT_IN), "file": BUILT_IN, "overrides": [["run.duration", "20000s"]], "seed": 1}
    server.call("start", asked)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: server.call("advance")[0], range(2)))
    assert sorted(found) == [200, 503]


def good(request="", **other):
    return json.dumps({"page": PAGE, "call": "disciplines", "request": request, **other}).encode()


def deep(depth=8000):
    return b'{"page": "00112233", "call": "check", "request": ' + b"[" * depth + b"]" * depth + b"}"


HOSTILE = {
    "no token": (401, {"path": "/"}),
    "wrong token": (401, {"path": "/" + "x" * 32 + "/"}),
    "token in the query": (401, {"path": "/?token=x"}),
    "bytes for a token": (401, {"path": "/\xff\xfe/"}),
    "climbing up": (404, {"path": "HOME../sessions.py"}),
    "encoded climbing up": (404, {"path": "HOME%2e%2e/sessions.py"}),
    "another file of the package": (404, {"path": "HOMEserver.py"}),
    "a query": (404, {"path": "HOMElab.js?x=1"}),
    "token without slash": (404, {"path": "HOME", "cut": 1}),
    "absolute form": (400, {"path": "http://127.0.0.1/"}),
    "rebound name": (403, {"host": "evil.example:80"}),
    "name that begins well": (403, {"host": "127.0.0.1.evil.example"}),
    "port of another": (403, {"host": "127.0.0.1:1"}),
    "two hosts": (400, {"headers": ("Host: evil.example",)}),
    "other origin": (403, {"method": "POST", "path": "HOMEcore", "body": good(), "headers": ("Origin: http://evil",)}),
    "no origin": (403, {"method": "POST", "path": "HOMEcore", "body": good(), "headers": ("Origin: null",)}),
    "other site": (403, {"headers": ("Sec-Fetch-Site: cross-site",)}),
    "page posted to": (405, {"method": "POST", "body": good()}),
    "core fetched": (405, {"path": "HOMEcore"}),
    "put": (405, {"method": "PUT", "path": "HOMEcore", "body": good()}),
    "delete": (405, {"method": "DELETE"}),
    "options": (405, {"method": "OPTIONS", "path": "HOMEcore"}),
    "head": (405, {"method": "HEAD"}),
    "connect": (400, {"method": "CONNECT", "path": "evil.example:443"}),
    "made-up method": (405, {"method": "BREW"}),
    "HTTP/0.9": (400, {"version": ""}),
    "HTTP/2": (400, {"version": "HTTP/2.0"}),
    "no length": (411, {"method": "POST", "path": "HOMEcore"}),
    "in pieces": (411, {"method": "POST", "path": "HOMEcore", "body": good(),
                        "headers": ("Transfer-Encoding: chunked",)}),
    "two lengths": (400, {"method": "POST", "path": "HOMEcore", "body": good(), "headers": ("Content-Length: 1",)}),
    "length below 0": (400, {"method": "POST", "path": "HOMEcore", "headers": ("Content-Length: -1",)}),
    "length in hexadecimal": (400, {"method": "POST", "path": "HOMEcore", "headers": ("Content-Length: 0x10",)}),
    "large body": (413, {"method": "POST", "path": "HOMEcore", "headers": (f"Content-Length: {MOST_BYTES + 1}",)}),
    "huge body": (413, {"method": "POST", "path": "HOMEcore", "headers": (f"Content-Length: {10**30}",)}),
    "a form": (415, {"method": "POST", "path": "HOMEcore",
                     "headers": ("Content-Length: 1", "Content-Type: text/plain")}),
    "no JSON": (400, {"method": "POST", "path": "HOMEcore", "body": b"{"}),
    "no UTF-8": (400, {"method": "POST", "path": "HOMEcore", "body": b'{"page": "\xff"}'}),
    "not a number": (400, {"method": "POST", "path": "HOMEcore", "body": good().replace(b'""', b"NaN")}),
    "a key twice": (400, {"method": "POST", "path": "HOMEcore", "body": b'{"page": "aa", "page": "bb"}'}),
    "very deep": (400, {"method": "POST", "path": "HOMEcore", "body": deep()}),
    "a list": (422, {"method": "POST", "path": "HOMEcore", "body": b"[]"}),
    "a key more": (422, {"method": "POST", "path": "HOMEcore", "body": good().replace(b"{", b'{"x": 1, ', 1)}),
    "no page": (422, {"method": "POST", "path": "HOMEcore", "body": good().replace(PAGE.encode(), b"../../etc")}),
    "no call": (422, {"method": "POST", "path": "HOMEcore", "body": good(call="exit")}),
    "a list as a call": (422, {"method": "POST", "path": "HOMEcore", "body": good(call=["check"])}),
    "a number as a request": (422, {"method": "POST", "path": "HOMEcore", "body": good(request=1.5)}),
    "infinite request": (422, {"method": "POST", "path": "HOMEcore", "body": good().replace(b'""', b"1e999")}),
    "an object as a request": (422, {"method": "POST", "path": "HOMEcore", "body": good(request={"text": ""})}),
    "script for a page": (422, {"method": "POST", "path": "HOMEcore", "body": good(page="<script>")}),
    "no run": (409, {"method": "POST", "path": "HOMEcore", "body": good(call="advance", page="abcdef0123")}),
    "no end": (409, {"method": "POST", "path": "HOMEcore", "body": good(call="finish", page="abcdef0123")}),
    "header without a colon": (400, {"headers": ("what is this",)}),
    "host on two lines": (403, {"host": "127.0.0.1:1\r\n evil.example"}),
    "long address": (414, {"path": "/" + "a" * 5000}),
    "long header": (431, {"headers": ("X: " + "a" * 70000,)}),
    "many headers": (431, {"headers": tuple(f"X{i}: 1" for i in range(200))}),
}  # fmt: skip


@pytest.mark.parametrize(("status", "request_"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_is_rejected_in_one_line(server, status, request_):
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
        status, _, body = server.post(b" " * (MOST_BYTES + 400_000))
        assert (status, body) == (413, b"the body is larger than 1000000 bytes\n")


def test_bytes_that_are_no_request(server):
    for raw in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n"):
        status, _, body = split(server.talk(raw))
        assert (status, body.count(b"\n")) == (400, 1)
    assert server.ask()[0] == 200


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(server, monkeypatch):
    monkeypatch.setattr("aqmlab.lab.server.ARRIVAL_S", 0.3)
    began = time.monotonic()
    head = f"POST {server.home}core HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
    assert server.talk(f"{head}Content-Length: 100\r\n\r\nx".encode()) == b""
    assert time.monotonic() - began < 3


def test_connections_are_counted(server, monkeypatch):
    monkeypatch.setattr("aqmlab.lab.server.ARRIVAL_S", 1.0)
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(MOST_CONNECTIONS + 4)]
    try:
        time.sleep(0.2)
        with pytest.raises((OSError, IndexError)):
            server.ask()
    finally:
        for connection in held:
            connection.close()
    time.sleep(0.3)
    assert server.ask()[0] == 200


def test_only_the_loopback_interface_is_listened_on(server):
    try:
        own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except socket.gaierror:
        pytest.skip("this machine has no name")
    for address in own - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), timeout=1):  # noqa: PT011
            pass


@pytest.mark.slow
def test_tokens_differ_and_closing_twice_does_no_harm():
    with aqmlab.open_lab() as one, aqmlab.open_lab() as other:
        assert one.url.split("/")[3] != other.url.split("/")[3]
        other.close()


def test_random_bodies_are_answered(server):
    """Each request gets an answer or one line, never a broken connection."""
    rng = Random(5)
    keys = ["text", "file", "overrides", "seed", "whole", "queue", "x"]
    odd = [
        0,
        -1,
        1e-9,
        1e300,
        True,
        None,
        "",
        "red",
        "format = 1",
        "\u0000",
        "🙂",
        [],
        [[]],
        [["a"]],
        [["a", "b"]],
        {},
        7,
    ]
    for _ in range(60):
        request = {rng.choice(keys): rng.choice(odd) for _ in range(rng.randint(1, 4))}
        call = rng.choice(message.CALLS)
        status, body = server.call(call, request, "abcdef0123456789")
        assert status in (200, 409), (call, request)
        assert status == 200 or body.count(b"\n") == 1


def test_message_of_the_page():
    assert message.read(good("x")).request == "x"
