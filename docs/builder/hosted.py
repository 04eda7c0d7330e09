"""Opens a built site below a path of a server, as static hosting serves it, and as files, as an offline copy is read.

Looks for violations by axe-core on some pages, where that is installed.

``python docs/builder/hosted.py site``. Without Chromium it does nothing.
"""

from __future__ import annotations

import functools
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Response

BELOW = "/a/path/"
"""The path below which the site is served."""
READY = {
    "index.html": "#front-pause:not([hidden])",
    "try.html": ".u-wrap canvas",
    "lesson/index.html": "h1",
}
"""For each page that is opened, an element that exists when its scripts ran."""
SOUGHT = {
    "how to add a discipline": "extending.html",
    "tune for my uplink": "tuning.html",
    "compare": "start.html",
    "idle average": "questions.html",
    "log of every drop": "questions.html",
    "cite": "questions.html",
}
"""For the words of each search, a page that is among the first three."""
READ = ("index.html", "start.html", "lab.html", "lesson/delay.html", "disciplines/red.html", "questions.html")
"""Pages on which axe-core looks for violations, at each of `WIDTHS`, light and dark."""
WIDTHS = (390, 1440)
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"
"""Style without transitions, so that no colour is measured on its way to another."""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
SEARCH = "search_index.js"
"""The index of the search, which a site without a server lacks."""
NOT_FOUND = "Failed to load resource: net::ERR_FILE_NOT_FOUND"
PATIENCE_MS = 60_000.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class _Below(SimpleHTTPRequestHandler):
    """Serve files below a path only, and log nothing."""

    def translate_path(self, path: str) -> str:
        """Return the file of an address; outside of the path, one that does not exist."""
        name = unquote(urlsplit(path).path)
        return super().translate_path(
            "/" + name.removeprefix(BELOW) if name.startswith(BELOW) else "/outside-of-the-path"
        )

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve a folder below a path, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Below, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{BELOW}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def errors_of(browser: Browser, address: str, element: str) -> list[str]:
    """Open a page, wait for an element, and return the errors of its console and of its requests."""
    from playwright.sync_api import TimeoutError

    page = browser.new_page()
    found: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            found.append(message.text)

    def on_response(response: Response) -> None:
        if response.status >= 400:
            found.append(f"{response.url}: {response.status}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("requestfailed", lambda request: found.append(f"{request.url}: {request.failure}"))
    page.on("response", on_response)
    page.goto(address)
    try:
        page.wait_for_selector(element, state="attached", timeout=PATIENCE_MS)
    except TimeoutError as error:
        found.append(str(error).splitlines()[0])
    page.close()
    if address.startswith("file:") and any(SEARCH in error for error in found):
        found = [error for error in found if SEARCH not in error and error != NOT_FOUND]
    return found


def found_by(browser: Browser, address: str, words: str) -> list[str]:
    """Search for words, and return the pages that are found, the best first."""
    page = browser.new_page()
    page.goto(f"{address}index.html?q={quote(words)}")
    links = ".md-search-result__item > a"
    page.wait_for_selector(links, state="attached", timeout=PATIENCE_MS)
    read = "all => all.map(one => one.pathname.split('/').pop())"
    pages = list(dict.fromkeys(page.eval_on_selector_all(links, read)))
    page.close()
    return pages


def violations(browser: Browser, address: str, axe: str) -> list[str]:
    """Return the rules that a page breaks, each with its first element. Frames are pages of their own."""
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("h1", state="attached")
    page.add_style_tag(content=STILL)
    page.evaluate(axe)
    found: dict[str, None] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            run = "(rules) => axe.run({ exclude: [['iframe']] }, { runOnly: rules, iframes: false })"
            for one in page.evaluate(run, list(RULES))["violations"]:
                found[f"{one['id']} at {width} px, {scheme}: {one['nodes'][0]['html'][:160]}"] = None
    page.close()
    return list(found)


def axe_script() -> str | None:
    """Return axe-core's script; None without it."""
    spec = find_spec("axe_core_python")
    return None if spec is None or spec.origin is None else Path(spec.origin).with_name("axe.min.js").read_text("utf-8")


def main(arguments: list[str]) -> int:
    """Open the pages in both ways, print their errors, and return the exit code."""
    root = Path(arguments[0]).resolve()
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        print("hosted: no Chromium, pages not opened")
        return 0
    from playwright.sync_api import sync_playwright

    found = []
    with served(root) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for base in (address, root.as_uri() + "/"):
            for page, element in READY.items():
                found += [f"{base}{page}: {error}" for error in errors_of(browser, base + page, element)]
        for words, page in SOUGHT.items():
            if page not in (pages := found_by(browser, address, words)[:3]):
                found.append(f"the search for {words!r} finds {', '.join(pages)} before {page}")
        if axe := axe_script():
            found += [f"{page}: {rule}" for page in READ for rule in violations(browser, address + page, axe)]
        browser.close()
    opened = f"{len(READY)} pages open without errors below a path and as files, {len(SOUGHT)} searches find theirs"
    opened += f", {len(READ)} have no violation of axe-core's rules" if axe_script() else ""
    print("\n".join(found) or opened)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
