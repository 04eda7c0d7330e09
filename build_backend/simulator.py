"""Compile the simulator for browsers into the package (``make web``, and `aqmlab_build` where Rust has its target)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIMULATOR = ROOT / "python" / "aqmlab" / "lab" / "aqmlab.wasm"
TARGET = "wasm32-unknown-unknown"
PROFILE = "web"
WITHOUT = f"""\
aqmlab: built without the simulator for browsers, which `aqmlab lab --out` needs.
Run `rustup target add {TARGET}` and install again, or install a wheel."""


def compile_simulator() -> None:
    """Compile it and put it into the package.

    Raises
    ------
    subprocess.CalledProcessError
        If it cannot be compiled.
    """
    words = ("--package", "aqmlab-web", "--crate-type", "cdylib", "--locked", "--quiet")
    subprocess.run(("cargo", "rustc", "--profile", PROFILE, "--target", TARGET, *words), cwd=ROOT, check=True)
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    shutil.copyfile(target / TARGET / PROFILE / "aqmlab_web.wasm", SIMULATOR)


def has_target() -> bool:
    """Whether Rust can compile for browsers here."""
    words = ("rustc", "--print", "target-libdir", "--target", TARGET)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode == 0 and Path(done.stdout.strip()).is_dir()


def add_if_possible() -> None:
    """Compile the simulator in a checkout; a source distribution has it. Without it, print how to get it."""
    if not (ROOT / "PKG-INFO").exists() and has_target():
        compile_simulator()
    if not SIMULATOR.is_file():
        print(WITHOUT, file=sys.stderr)


if __name__ == "__main__":
    compile_simulator()
