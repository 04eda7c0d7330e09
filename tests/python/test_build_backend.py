"""`pip install .` includes the simulator for browsers if it can be compiled, and else names the missing program."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import simulator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> list[str]:
    """Let the simulator be in a folder without sources; return the names of compiled files."""
    done: list[str] = []

    def compile_simulator() -> None:
        done.append("compiled")
        simulator.SIMULATOR.write_bytes(b"new")

    monkeypatch.setattr(simulator, "ROOT", tmp_path)
    monkeypatch.setattr(simulator, "SIMULATOR", tmp_path / "aqmlab.wasm")
    monkeypatch.setattr(simulator, "compile_simulator", compile_simulator)
    return done


def test_a_checkout_compiles_it(checkout, monkeypatch, capsys):
    monkeypatch.setattr(simulator, "has_target", lambda: True)
    simulator.SIMULATOR.write_bytes(b"old")
    simulator.add_if_possible()
    assert checkout == ["compiled"]
    assert simulator.SIMULATOR.read_bytes() == b"new"
    assert capsys.readouterr().err == ""


def test_a_source_distribution_keeps_its_own(checkout, monkeypatch, capsys):
    monkeypatch.setattr(simulator, "has_target", lambda: True)
    (simulator.ROOT / "PKG-INFO").touch()
    simulator.SIMULATOR.write_bytes(b"old")
    simulator.add_if_possible()
    assert checkout == []
    assert capsys.readouterr().err == ""


def test_without_the_target_the_way_to_it_is_printed(checkout, monkeypatch, capsys):
    monkeypatch.setattr(simulator, "has_target", lambda: False)
    simulator.add_if_possible()
    assert checkout == []
    assert f"rustup target add {simulator.TARGET}" in capsys.readouterr().err


def test_the_backend_has_the_hooks_of_maturin():
    maturin = pytest.importorskip("maturin")
    import aqmlab_build

    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert (ROOT / build["backend-path"][0] / f"{build['build-backend']}.py").is_file()
    hooks = {name for name in dir(maturin) if name.startswith(("build_", "get_requires_", "prepare_metadata_"))}
    assert hooks == set(aqmlab_build.__all__)
