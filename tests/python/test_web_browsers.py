"""Every example in real browsers: the tables of the native core, to the byte."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aqmlab import _core
from aqmlab.lab.page import bundle
from aqmlab.results.parquet import values
from aqmlab.scenario.file import examples
from browser_core import MODULES, wasm_path
from measure_lab import browser_path

SHORT = [("run.duration", "12s"), ("run.warmup", "2s")]
SCRIPT = """
const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
const bytes = (values) => (Array.isArray(values) ? new TextEncoder().encode(values.join("\\n")) : values.buffer);
try {
  const core = await Core.load(await (await fetch("core")).arrayBuffer()), found = {};
  for (const [name, asked] of Object.entries(await (await fetch("asked")).json())) {
    const { tables } = await core.run(asked);
    for (const [table, columns] of Object.entries(tables)) {
      for (const [key, values] of Object.entries(columns)) {
        found[`${name} ${table} ${key}`] = hex(await crypto.subtle.digest("SHA-256", bytes(values)));
      }
    }
  }
  await fetch("found", { method: "POST", body: JSON.stringify(found) });
} catch (error) {
  await fetch("found", { method: "POST", body: JSON.stringify({ error: String(error) }) });
}
"""


def asked() -> dict[str, dict]:
    return {
        name: {"text": text, "file": f"{name}.toml", "overrides": SHORT, "seed": 3} for name, text in examples().items()
    }


def native() -> dict[str, str]:
    """The SHA-256 of every column, as the page names them."""
    found = {}
    for name, one in asked().items():
        tables = _core.Scenario(one["text"], one["file"], SHORT).run(one["seed"])["tables"]
        for table, columns in tables.items():
            for key, (kind, numbers) in columns.items():
                data = numbers if isinstance(kind, str) else "\n".join(values((kind, numbers))).encode()
                found[f"{name} {table} {key}"] = hashlib.sha256(data).hexdigest()
    return found


@pytest.fixture
def served() -> Iterator[tuple[str, list[dict[str, str]], threading.Event]]:
    """Yield the address of a server of the page, the browser's answers, and an event that an answer sets."""
    page = f'<!DOCTYPE html><meta charset="utf-8"><script type="module">{bundle(MODULES)}\n{SCRIPT}</script>'
    files = {"/": page.encode(), "/core": wasm_path().read_bytes(), "/asked": json.dumps(asked()).encode()}
    found, done = [], threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = files.get(self.path, b"")
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", "text/html" if self.path == "/" else "application/octet-stream")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            found.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", found, done
    server.shutdown()
    thread.join()
    server.server_close()


def command(browser: str, profile: Path, address: str) -> list[str]:
    if browser == "chromium":
        program = browser_path()
        words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    else:
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        words = ["--headless", "--no-remote", "--profile", str(profile)]
    if program is None:
        pytest.skip(f"no {browser} here")
    return [program, *words, address]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_every_example_has_the_tables_of_the_native_core(browser, served, tmp_path):
    address, found, done = served
    profile = tmp_path / "profile"
    profile.mkdir()
    words = command(browser, profile, address)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            assert done.wait(300)
        finally:
            process.terminate()
    assert found == [native()]
    assert len(found[0]) > 1000
