#!/usr/bin/env python3
"""Check a wheel: it is complete, installs without a Rust toolchain, and runs the README's example.

check_wheel.py DIST               checks the newest wheel and the newest source archive in this folder
check_wheel.py --run DIST         checks the newest wheel alone
check_wheel.py --complete DIST    checks only whether the newest wheel is complete and for the machine of its name

The wheel is installed with its dependencies (the versions of requirements.lock) into a virtual environment of its own.
Neither there nor on the path of its programs is a Rust compiler, and nothing runs in the checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "aqmlab"
NOT_IN_A_WHEEL = {"__pycache__", ".so", ".pyd"}
RUST = ("cargo", "rustc", "rustup", "maturin")
IMPORTED = "import aqmlab, sys; print(aqmlab.__version__, len(aqmlab.disciplines()), aqmlab.__file__)"
JOB = ("reproduce", "mred", "--quick", "--seeds", "2", "--report", "report", "--out", "results")
"""The command of `make demo`, with fewer seeds."""
SYSTEMS = ("manylinux", "musllinux", "macosx", "win")
ELF, MACH_O, PE = b"\x7fELF\x02\x01", b"\xcf\xfa\xed\xfe", b"PE\x00\x00"
MACHINES = (
    (ELF, (18, b"\x3e\x00"), ("linux", "x86_64")),
    (ELF, (18, b"\xb7\x00"), ("linux", "aarch64")),
    (MACH_O, (4, b"\x07\x00\x00\x01"), ("macosx", "x86_64")),
    (MACH_O, (4, b"\x0c\x00\x00\x01"), ("macosx", "arm64")),
    (PE, (4, b"\x64\x86"), ("win", "amd64")),
)
"""Beginning of a library, offset and bytes of its machine, and the words in the name of a wheel for it."""
KEPT = ("HOME", "LANG", "PIP_INDEX_URL", "PIP_CACHE_DIR", "SYSTEMROOT", "TEMP", "USERPROFILE")
"""Variables of the environment that the test passes on."""
LIVE = "aqmlab.live.link"
"""The process of a live link is a module of the package: it needs no program beside it."""


def main(arguments: list[str]) -> int:
    """Check the archives of a folder."""
    folder = Path(arguments[-1]).resolve()
    wheel = _newest(folder, "*.whl")
    wrong = [*_wheel(wheel), *_machine(wheel)]
    if arguments[0] == "--complete":
        print("\n".join(wrong) or f"{wheel.name} is complete.")
        return 1 if wrong else 0
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    if arguments[0] != "--run":
        wrong += _source(_newest(folder, "*.tar.gz"))
    if not wrong:
        with tempfile.TemporaryDirectory() as place:
            wrong += _install_and_run(wheel, Path(place))
    print("\n".join(wrong) or "The wheel is complete, installs without Rust, and reproduces a paper.")
    return 1 if wrong else 0


def _newest(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        sys.exit(f"{folder}: no {pattern}; `make wheel` makes it")
    return found[-1]


def package_files() -> set[str]:
    """Return the package's files in the checkout, without compiled ones."""
    paths = (path for path in PACKAGE.rglob("*") if path.is_file() and not NOT_IN_A_WHEEL & {*path.parts, path.suffix})
    return {str(path.relative_to(PACKAGE.parent)) for path in paths}


def _wheel(path: Path) -> Iterable[str]:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        tags = next(archive.read(n).decode() for n in names if n.endswith(".dist-info/WHEEL"))
        about = next(archive.read(n).decode() for n in names if n.endswith(".dist-info/METADATA"))
    for tag in (line for line in tags.splitlines() if line.startswith("Tag:")):
        print(tag)
    yield from (f"the wheel lacks {name}" for name in sorted(package_files() - names))
    if core_of(path) not in names:
        yield "the wheel lacks the compiled core"
    if "cp311-abi3" not in tags or not any(system in tags for system in SYSTEMS):
        yield f"the wheel is not for every Python from 3.11 on, and Linux, macOS or Windows:\n{tags}"
    if "Requires-Python: >=3.11" not in about or "License-Expression: MIT OR Apache-2.0" not in about:
        yield "the wheel's metadata lack the required Python version or the licence"
    licences = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    if not {"LICENSE-MIT", "LICENSE-APACHE"} <= licences:
        yield "the wheel lacks a licence"


def _machine(path: Path) -> Iterable[str]:
    """Compare the machine of the compiled core with the wheel's name."""
    with zipfile.ZipFile(path) as archive:
        core = archive.read(core_of(path))
    if core.startswith(b"MZ"):  # the program for DOS before it
        core = core[int.from_bytes(core[60:64], "little") :]
    for head, number, names in MACHINES:
        if core.startswith(head) and core[number[0] : number[0] + len(number[1])] == number[1]:
            if not all(name in path.name for name in names):
                yield f"the compiled core is for {' '.join(names)}, which {path.name} does not say"
            return
    yield "the compiled core is for a machine that is not known"


def core_of(wheel: Path) -> str:
    return f"aqmlab/_core{'.pyd' if '-win' in wheel.name else '.abi3.so'}"


def _source(path: Path) -> Iterable[str]:
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"}
    # The package is not built from examples and tests of the crates.
    for kind in ("crates/*/src/**/*.rs", "crates/*/Cargo.toml", "build_backend/*.py"):
        wanted |= {str(one.relative_to(ROOT)) for one in ROOT.glob(kind)}
    wanted |= {f"python/{name}" for name in package_files()}
    yield from (f"the source archive lacks {name}" for name in sorted(wanted - names))


def _install_and_run(wheel: Path, place: Path) -> Iterable[str]:
    home = place / "venv"
    venv.create(home, with_pip=True)
    path = os.pathsep.join([str(home / ("Scripts" if os.name == "nt" else "bin")), *_without_rust()])
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    environment = {**kept, **proxies, "PATH": path, "CARGO_HOME": str(place / "none")}
    if any(shutil.which(name, path=path) for name in RUST):
        return ["a Rust toolchain is on the path of the test"]
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    locked = ("--constraint", str(ROOT / "requirements.lock"), str(wheel))
    steps: list[tuple[str, tuple[str, ...]]] = [
        ("installs", ("python", *install, *locked)),
        ("imports", ("python", "-c", IMPORTED)),
        ("says its version", ("aqmlab", "--version")),
        ("knows its papers' scenarios", ("aqmlab", "check", "paper:mred/sole.toml")),
        ("does the README's main job", ("aqmlab", *JOB)),
        ("has the simulator for browsers", ("aqmlab", "lab", "--out", "lab.html")),
    ]
    if sys.platform == "linux":
        link = ("python", "-c", f"import {LIVE}, aqmlab._core as core; core.live_link")
        steps.append(("has a live link", link))
    for what, words in steps:
        began = time.monotonic()
        words = (shutil.which(words[0], path=path) or words[0], *words[1:])  # Windows looks on its own path
        done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            return [f"the wheel fails where it {what}: {(done.stderr or done.stdout).strip()}"]
        last = (done.stdout.strip().splitlines() or [""])[-1]
        print(f"{what}: {time.monotonic() - began:.1f} s. {last}")
        if what == "imports" and str(home) not in last:
            return [f"the imported package is not the installed one: {last}"]
    pages = sorted(place.glob("report/*.html"))
    return [] if pages else ["the README's main job has written no page"]


def _without_rust() -> list[str]:
    """Return the path's folders, without those where Rust is."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [one for one in folders if not any(shutil.which(name, path=one) for name in RUST)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
