"""How a program for ns-3 is compiled: with Debian's libns3-dev, and any installation that the compiler finds.

The flags that ns-3's pkg-config files of Debian 12 give name development packages that libns3-dev does not depend on
(GSL,
SQLite), so they are not asked: headers are in a standard place, and the libraries below are all that is needed.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from aqmlab.interop.crosscheck.tool import ToolError

COMPILER = "g++"
LIBRARIES = ("nix-vector-routing", "internet", "point-to-point", "traffic-control", "network", "core")
WRITTEN_FOR = "3.37"
LONGEST_S = 900.0
HINT = "Debian: apt-get install g++ libns3-dev"


def command(source: str) -> list[str]:
    """Return the words that compile a program."""
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    return [COMPILER, "-std=c++17", "-O2", source, "-o", source.removesuffix(".cc"), *libraries]


def compile_program(folder: Path, source: str) -> None:
    """Compile a program in its folder."""
    try:
        done = subprocess.run(
            command(source), cwd=folder, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
    except FileNotFoundError:
        raise ToolError(f"ns-3: compiler {COMPILER} is missing ({HINT})") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"ns-3: {source} was not compiled within {LONGEST_S:g} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line or "cannot find" in line]
        raise ToolError(f"ns-3: {source} cannot be compiled: {(errors or ['no reason was given'])[0]}")


@cache
def installed() -> str | None:
    """Return the version of the ns-3 that programs would be linked with; None without one."""
    if shutil.which("pkg-config") is not None:
        words = ["pkg-config", "--modversion", "ns3-core"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return None
