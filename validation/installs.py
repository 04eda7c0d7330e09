#!/usr/bin/env python3
"""Install wheels on other systems and run the README's first commands; writes docs/validation/installs.md.

installs.py [--only NAME,NAME] [--dist DIST] [--place FOLDER]

Needs root and `debootstrap`; for arm64 also `qemu-user-static` with binfmt_misc mounted. Each system is a folder below
FOLDER (default: /tmp/aqmlab-installs), made once and kept. One that cannot be made is reported with the reason. Results
of systems that were left out with `--only` stay as `docs/validation/installs.json` has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "validation" / "installs.json"
PAGE = RECORD.with_suffix(".md")
PACKAGES = "python3,python3-venv,ca-certificates"
MIRROR = "http://deb.debian.org/debian"
PIP = ("/venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
COMMANDS = (
    "aqmlab demo --no-open",
    "aqmlab compare example:dumbbell-red --aqm drop-tail,red,codel --seeds 10",
    "aqmlab lab --out lab.html",
)
"""The first commands of the README."""
SAME = (
    "aqmlab run example:dumbbell-red --seeds 2 --out same/run",
    "aqmlab run paper:mred/sole.toml --set run.duration=20s --set run.warmup=5s --out same/paper",
    "aqmlab run example:l4s --set run.duration=15s --set run.warmup=5s --out same/l4s",
    "aqmlab run example:wifi --set run.duration=15s --set run.warmup=5s --out same/wifi",
    "aqmlab sweep example:dumbbell-red --grid flow.tcp.count=2,20 --seeds 2 --out same/sweep",
)
"""Commands whose result files must be the same bytes on all systems."""
TESTS = "tests/python/test_ns2_events.py tests/python/test_codel_law.py tests/python/test_results.py"
"""A core of the tests: equal to ns-2 event for event, integers of CoDel, results on disk."""
RESULTS = ("*.parquet", "summary.json", "scenario.toml", "*.html")
LONGEST_S = 7200.0
OUTPUT_LINES = 12


@dataclass(frozen=True)
class System:
    """A system in a folder.

    Attributes
    ----------
    title
        Its name for people.
    wheel
        Pattern of the platform in the name of its wheel.
    make
        Function that makes the folder; `MissingError` with the reason if it cannot.
    tests
        Whether a core of the tests runs there too.
    native
        Whether it runs on this processor, without an emulator.
    environment
        Command that makes ``/venv``.
    extra
        Further requirements. NumPy from 2.1 on calls a function of C99 that Wine 10 lacks.
    """

    title: str
    wheel: str
    make: Callable[[Path], None]
    tests: bool = False
    native: bool = True
    environment: str = "python3 -m venv /venv"
    extra: tuple[str, ...] = ()


@dataclass
class Step:
    """One command: seconds, exit code, last lines of its output."""

    command: str
    seconds: float
    code: int
    output: list[str]


@dataclass
class Found:
    """Results of a system: steps, digests of result files, versions; or the reason why it could not be had."""

    title: str
    reason: str = ""
    about: str = ""
    wheel: str = ""
    steps: list[Step] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)


class MissingError(Exception):
    """A system that cannot be had here."""


def debian(suite: str, architecture: str = "amd64") -> Callable[[Path], None]:
    """Return a function that makes a system with Debian's packages alone."""

    def make(folder: Path) -> None:
        if shutil.which("debootstrap", path=f"{os.environ['PATH']}:/usr/sbin") is None:
            raise MissingError("debootstrap is not installed")
        if architecture == "arm64" and platform.machine() != "aarch64" and not _translated():
            raise MissingError("qemu-user-static with binfmt_misc is not set up")
        words = ("--variant=minbase", f"--arch={architecture}", f"--include={PACKAGES}", suite, str(folder), MIRROR)
        _must("/usr/sbin/debootstrap", *words)

    return make


def _translated() -> bool:
    try:
        return "enabled" in Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").read_text()
    except OSError:
        return False


def _must(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise MissingError(f"{Path(words[0]).name}: {said[-1] if said else done.returncode}")


def prepared(contents: str) -> Callable[[Path], None]:
    """Return a function that raises an error: this system is prepared by hand."""

    def make(folder: Path) -> None:
        raise MissingError(f"{folder} is missing: it needs {contents}")

    return make


WINDOWS_PYTHON = "/opt/python/python.exe"
WINE = f"""\
mkdir -p /venv/bin && cd /venv/bin
printf '#!/bin/sh\\nexport WINEDEBUG=-all\\nexec wine {WINDOWS_PYTHON} "$@"\\n' >python
printf '#!/bin/sh\\nexec /venv/bin/python -m aqmlab "$@"\\n' >aqmlab
chmod +x python aqmlab
./python -m pip uninstall --yes --quiet aqmlab"""
"""Commands that run Python for Windows, in place of a virtual environment; a wheel that is there goes."""

SYSTEMS = {
    "bookworm": System("Debian 12", "manylinux*x86_64", debian("bookworm")),
    "trixie": System("Debian 13", "manylinux*x86_64", debian("trixie")),
    "alpine": System("Alpine", "musllinux*x86_64", prepared("Alpine's root file system with Python 3.11 or later")),
    "windows": System(
        "Windows (Wine)",
        "win_amd64",
        prepared(f"Debian with wine, and Python for Windows with python3.dll as {WINDOWS_PYTHON}"),
        native=False,
        environment=WINE,
        extra=("numpy<2.1", "colorama"),
    ),
    "trixie-arm64": System(
        "Debian 13 on arm64", "manylinux*aarch64", debian("trixie", "arm64"), tests=True, native=False
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Examine systems, keep the record, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SYSTEMS), metavar="NAME,NAME", help="default: %(default)s")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder with wheels")
    parser.add_argument("--place", type=Path, default=Path(tempfile.gettempdir()) / "aqmlab-installs")
    given = parser.parse_args(arguments)
    for name in given.only.split(","):
        print(f"{SYSTEMS[name].title} ...", flush=True)
        found = asdict(examine(SYSTEMS[name], given.place / name, given.dist))
        known = (json.loads(RECORD.read_text()) if RECORD.exists() else {}) | {name: found}
        RECORD.write_text(json.dumps(known, indent=1) + "\n")
        PAGE.write_text(page(read_record()))
    return 1 if any(found.reason or any(step.code for step in found.steps) for found in read_record().values()) else 0


def read_record() -> dict[str, Found]:
    """Return what `main` found, by system."""
    record = json.loads(RECORD.read_text())
    return {
        name: Found(**{**record[name], "steps": [Step(**step) for step in record[name]["steps"]]})
        for name in SYSTEMS
        if name in record
    }


def examine(system: System, folder: Path, dist: Path) -> Found:
    """Install a wheel in a system and run the commands, until one fails."""
    found = Found(system.title)
    try:
        wheel = _wheel(dist, system.wheel)
        if not (folder / "etc").is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            system.make(folder)
        _connect(folder)
        if _run(folder, "python3 --version", place="/").code:
            raise MissingError(f"{folder} has no python3 that runs")
    except MissingError as error:
        found.reason = str(error)
        return found
    found.wheel = wheel.name
    work = folder / "srv" / "work"
    for old in (work, folder / "venv"):
        shutil.rmtree(old, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copy(wheel, work)
    made = _run(folder, system.environment)
    if made.code:
        raise SystemExit("\n".join(made.output))
    found.about = "; ".join(_run(folder, line).output[-1] for line in (ABOUT, "python --version"))
    install = " ".join(PIP)
    extra = (*system.extra, *(("pytest", "hypothesis") if system.tests else ()))
    if not system.native or _run(folder, "python -c 'import ssl'").code:
        _download(folder, work, extra)
        install += " --no-index --find-links wheels"
    if not system.native:
        install += " --no-compile"  # of all modules of all packages, which takes an hour under emulation
    lines = {f"pip install {wheel.name}": f"{install} ./{wheel.name} {shlex.join(extra)}"}
    lines |= {line: line for line in (*COMMANDS, *SAME)}
    if system.tests:
        for name in ("tests", "examples", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, work / name)
        lines[f"pytest {TESTS}"] = f"python -m pytest --quiet {TESTS}"
    for title, line in lines.items():
        step = _run(folder, line)
        step.command = title
        found.steps.append(step)
        print(f"  {step.seconds:6.1f} s  {title}", flush=True)
        if step.code:
            print("\n".join(step.output), file=sys.stderr)
            return found
    found.digests = {line: _digest(work, line) for line in SAME}
    return found


ABOUT = ". /etc/os-release && echo $PRETTY_NAME, $(uname -m)"


def _wheel(dist: Path, pattern: str) -> Path:
    found = sorted(dist.glob(f"aqmlab-*-{pattern}.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise MissingError(f"{dist} has no wheel for {pattern} (make wheels)")
    with zipfile.ZipFile(found[-1]) as archive:
        if "aqmlab/lab/aqmlab.wasm" not in archive.namelist():
            raise MissingError(f"{found[-1].name} lacks the simulator for browsers (make web)")
    return found[-1]


def _connect(folder: Path) -> None:
    """Give a system the name servers and certificates of this one."""
    for name in ("/etc/resolv.conf", os.environ.get("PIP_CERT"), os.environ.get("SSL_CERT_FILE")):
        if name and Path(name).is_file():
            (folder / name[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, folder / name[1:])


def _run(folder: Path, line: str, place: str = "/srv/work") -> Step:
    """Run a line of shell in a place of a system, in a mount namespace of its own, so that no mounts are left."""
    kept = {name: value for name, value in os.environ.items() if name in PASSED or name.lower().endswith("_proxy")}
    environment = {**kept, "PATH": "/venv/bin:/usr/local/bin:/usr/bin:/bin", "HOME": "/srv", "LANG": "C.UTF-8"}
    inside = f"cd {place} && {line}"
    mounts = f'mount -t proc proc {folder}/proc && mount --rbind /dev {folder}/dev && exec chroot {folder} sh -c "$0"'
    began = time.monotonic()
    done = subprocess.run(
        ("unshare", "--mount", "--propagation", "private", shutil.which("sh") or "sh", "-c", mounts, inside),
        env={**environment, "PATH": f"{environment['PATH']}:/usr/sbin:/sbin"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LONGEST_S,
        check=False,
    )
    lines = [one.rstrip() for one in done.stdout.splitlines() if one.strip()]
    return Step(line, round(time.monotonic() - began, 1), done.returncode, lines[-OUTPUT_LINES:])


PASSED = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_DEFAULT_TIMEOUT", "SSL_CERT_FILE")


def _download(folder: Path, work: Path, extra: Sequence[str]) -> None:
    """Fetch the dependencies on this machine, for a system whose Python has no TLS or is emulated."""
    version = _run(folder, "python -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'").output[-1]
    (wheel,) = work.glob("*.whl")
    _, _, tag = wheel.stem.rpartition("-")
    machine = "aarch64" if tag.endswith("aarch64") else "x86_64"
    oldest = (f"musllinux_1_{minor}" for minor in (1, 2)) if "musl" in tag else (f"manylinux_2_{n}" for n in GLIBC)
    names = [tag] if tag.startswith("win") else [f"{one}_{machine}" for one in oldest]
    platforms = [f"--platform={name}" for name in names]
    chosen = ("--quiet", "--only-binary", ":all:", "--python-version", version, *platforms)
    _must(sys.executable, "-m", "pip", "download", *chosen, "--dest", str(work / "wheels"), str(wheel), *extra)


GLIBC = (17, 27, 28, 34)
"""Minor versions of glibc 2 that wheels name and Debian 12 and 13 have."""


def _digest(work: Path, line: str) -> str:
    """Return one digest of all result files of a command; logs, which have times, are left out."""
    place = work / line.rpartition("--out ")[2]
    files = sorted(path for pattern in RESULTS for path in place.rglob(pattern))
    names = [f"{path.relative_to(place)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return f"{len(files)} files, {hashlib.sha256(chr(10).join(names).encode()).hexdigest()[:16]}"


INTRODUCTION = """\
# Installed on other systems

Written by `validation/installs.py`. Each wheel was installed with `pip` into a new virtual environment of a system that
has Python and no compiler and no Rust. The first commands of the README ran there. Times are wall times on a machine
with two cores that did other work too; arm64 is emulated by qemu-user. On Alpine and arm64 `pip install` reads files
that were downloaded before.
"""


def page(systems: dict[str, Found]) -> str:
    """Write the page."""
    ran = [found for found in systems.values() if found.steps]
    lines = [
        INTRODUCTION,
        "| system | wheel | "
        + " | ".join(("`pip install`", *(f"`{' '.join(c.split()[:2])}`" for c in COMMANDS)))
        + " |",
        "|---" * (3 + len(COMMANDS)) + "|",
    ]
    for found in systems.values():
        times = [_time(found, index) for index in range(1 + len(COMMANDS))]
        tag = found.wheel.removesuffix(".whl").rpartition("-")[2]
        lines.append(f"| {found.title} | {f'`{tag}`' if tag else ''} | {' | '.join(times)} |")
    lost = {system.title: "not tried yet" for name, system in SYSTEMS.items() if name not in systems}
    lost |= {found.title: found.reason for found in systems.values() if found.reason}
    missing = [f"* {title}: {reason}." for title, reason in lost.items()]
    if missing:
        lines += ["", "Not run, or not to the end:", "", *missing]
    whole = [found for found in ran if found.digests]
    if len(whole) > 1:
        lines += [
            "",
            "## Result files",
            "",
            "Digests over tables (Parquet) and summaries of the same commands:",
            "",
        ]
        lines += ["| command | " + " | ".join(found.title for found in whole) + " |", "|---" * (1 + len(whole)) + "|"]
        lines += [f"| `{line}` | {' | '.join(found.digests[line] for found in whole)} |" for line in SAME]
        same = all(len({found.digests[line] for found in whole}) == 1 for line in SAME)
        names = ", ".join(found.title for found in whole)
        lines += ["", f"The files are the same bytes on {names}." if same else f"**The files differ** among {names}."]
    lines += [""]
    for found in ran:
        lines += [f"## {found.title}", "", f"{found.about}.", ""]
        for step in found.steps:
            if step.code == 0 and step.command in SAME:
                continue
            ended = "" if step.code == 0 else f", exit code {step.code}"
            lines += [
                f"`{step.command}` ({step.seconds} s{ended}):",
                "",
                *(f"    {one}" for one in step.output or ["(no output)"]),
                "",
            ]
    return "\n".join(lines)


def _time(found: Found, index: int) -> str:
    if index >= len(found.steps):
        return "not run"
    step = found.steps[index]
    return f"{step.seconds:.1f} s" if step.code == 0 else f"**failed** ({step.seconds:.1f} s)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
