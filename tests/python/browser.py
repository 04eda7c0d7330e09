"""Opens a page in headless Chromium."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aqmlab.reporting.rendering import policy_for

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000")


def browse(page: Path, folder: Path) -> tuple[str, list[str]]:
    """Open a page; return the document after its scripts ran, and the lines of the console."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here")
    done = subprocess.run(
        [
            program,
            *SWITCHES,
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def allowing(page: str, scripts: list[str]) -> str:
    """Let the page's content security policy allow further scripts."""
    allowed = policy_for(scripts).partition("script-src ")[2].partition(";")[0]
    return page.replace("script-src ", f"script-src {allowed} ", 1)


def answer_of(page: str, script: str, folder: Path, *, libraries: str = "") -> Any:
    """Run a script on a page when its charts are drawn; return the argument of its call of `tell`, from JSON."""
    told = f"""
        function tell(answer) {{
          const block = document.createElement("pre");
          block.id = "answer";
          block.textContent = JSON.stringify(answer);
          document.body.append(block);
        }}
        setTimeout(function () {{ {script} }}, 300);
    """
    escaped = [text.replace("</script", r"<\/script") for text in (libraries, told)]
    scripts = "".join(f"<script>{text}</script>" for text in escaped)
    path = folder / "page.html"
    path.write_text(allowing(page, escaped).replace("</body>", scripts + "</body>"))
    document, console = browse(path, folder)
    assert console == []
    found = re.search(r'<pre id="answer">(.*?)</pre>', document, re.DOTALL)
    assert found is not None, "the script printed nothing"
    return json.loads(html.unescape(found[1]))
