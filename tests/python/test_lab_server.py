"""The laboratory's server against hostile input of every kind: it answers or rejects each request."""

from __future__ import annotations

import json
import re
import socket
import time
from random import Random

import pytest

import aqmlab
from aqmlab.lab import message
from aqmlab.lab.laboratory import Lab
from aqmlab.lab.server import MOST_CONNECTIONS
from aqmlab.lab.session import Session

PAGE = "00112233445566aa"
RED = "queue.bottleneck"


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
        return self.ask("POST", f"{self.home}run", data if isinstance(data, bytes) else json.dumps(data).encode())


def split(answer):
    head, _, rest = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    found = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(first.split()[1]), found, rest


@pytest.fixture(scope="module")
def server():
    with Lab(Session()) as lab:
        yield Server(lab.url)


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
    for name in (
        "lab.js",
        "chart.js",
        "panel.js",
        "queue_view.js",
        "address.js",
        "watching.js",
        "lab.css",
        "page.css",
        "uPlot.min.css",
    ):
        assert not re.search(rb"https?://", server.ask(path=f"{server.home}{name}")[2]), name


def test_of_a_page_that_simulates_by_itself_nothing_else_is_served():
    with Lab("<title>alone</title>") as lab:
        alone = Server(lab.url)
        status, headers, body = alone.ask()
        assert (status, body) == (200, b"<title>alone</title>")
        assert headers["content-security-policy"] == "frame-ancestors 'none'"
        assert headers["x-frame-options"] == "DENY"
        assert alone.post({"page": PAGE, "number": 1, "settings": {}})[0] == 404
        assert alone.ask(path=f"{alone.home}lab.js")[0] == 404
        assert alone.ask("POST", body=b"{}")[0] == 405
        assert alone.ask(path="/")[0] == 401


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
    "climbing up": (404, {"path": "HOME../session.py"}),
    "encoded climbing up": (404, {"path": "HOME%2e%2e/session.py"}),
    "another file of the package": (404, {"path": "HOMEserver.py"}),
    "a query": (404, {"path": "HOMElab.js?x=1"}),
    "token without slash": (404, {"path": "HOME", "cut": 1}),
    "absolute form": (400, {"path": "http://127.0.0.1/"}),
    "rebound name": (403, {"host": "evil.example:80"}),
    "name that begins well": (403, {"host": "127.0.0.1.evil.example"}),
    "port of another": (403, {"host": "127.0.0.1:1"}),
    "two hosts": (400, {"headers": ("Host: evil.example",)}),
    "other origin": (403, {"method": "POST", "path": "HOMErun", "body": good(), "headers": ("Origin: http://evil",)}),
    "no origin": (403, {"method": "POST", "path": "HOMErun", "body": good(), "headers": ("Origin: null",)}),
    "other site": (403, {"headers": ("Sec-Fetch-Site: cross-site",)}),
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
        status, _, body = server.post(b" " * 400_000)
        assert (status, body) == (413, b"the body is larger than 16384 bytes\n")


def test_bytes_that_are_no_request(server):
    for raw in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n"):
        status, _, body = split(server.talk(raw))
        assert (status, body.count(b"\n")) == (400, 1)
    assert server.ask()[0] == 200


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(server, monkeypatch):
    monkeypatch.setattr("aqmlab.lab.server.ARRIVAL_S", 0.3)
    began = time.monotonic()
    head = f"POST {server.home}run HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
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


def test_an_older_request_is_a_conflict(server):
    page = "ffeeddccbbaa9988"
    assert server.post({"page": page, "number": 10, "settings": {}})[0] == 200
    assert server.post({"page": page, "number": 9, "settings": {}})[0] == 409
    assert server.post({"page": page, "number": 11, "settings": {}})[0] == 200


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
    """Whatever the settings are, there is an answer or one line, never a broken connection."""
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
