"""A discipline as a module in this machine's own kernel: what forbids it, how it is loaded, and that it is removed.

Programs that load modules are replaced by scripts here; the last test takes the real ones, in an emulated machine.
"""

from __future__ import annotations

import base64
import gzip
import json
import platform
import shlex
import subprocess
from pathlib import Path

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.live import kernel_backends
from aqmlab.live.kernel_backends import DECISIONS, Bottleneck
from aqmlab.live.tc import backend, loading, module
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.module import KernelModule
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import archive, machine, packages
from aqmlab.live.vm.build import with_libraries
from test_kernel_qdisc import DATA, bootable, plan, record  # noqa: F401 - a fixture

LOG = record(0, 3) + record(1, 0, time_ns=1_500_000_000, verdict=1, outcome=2)
"""A log that differs from the core, which does not drop the first packet."""


NAME = kernel_queue(plan().scenario).module


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Stand in for a kernel that takes modules from root and has its headers; return its folder."""
    (tmp_path / "modules").write_text("veth 45056 0 - Live 0x0\n")
    build = tmp_path / "lib" / platform.release() / "build"
    build.mkdir(parents=True)
    (build / "Makefile").touch()
    monkeypatch.setattr(loading, "LOADED", tmp_path / "modules")
    monkeypatch.setattr(loading, "FORBIDDEN", tmp_path / "modules_disabled")
    monkeypatch.setattr(loading, "INSTALLED", tmp_path / "lib")
    monkeypatch.setattr(loading, "may_load", lambda: True)
    return tmp_path


def program(folder: Path, name: str, text: str) -> None:
    """Write a shell script that stands for a program."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(kernel, monkeypatch):
    """Stand in for insmod and rmmod, which note their arguments; return the folder of programs, first on the path."""
    folder = kernel / "bin"
    program(folder, "insmod", f'echo "insmod $*" >> {kernel}/did; echo "{NAME} 1 0" >> {kernel}/modules')
    program(folder, "rmmod", f'echo "rmmod $*" >> {kernel}/did; sed -i /^{NAME}/d {kernel}/modules')
    for name in ("ip", "tc", "iperf3", "unshare"):
        program(folder, name, "exit 1")
    for name in ("gzip", "base64"):
        program(folder, name, "exit 1")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def did(kernel: Path) -> list[str]:
    """Return which module programs ran, without their arguments."""
    path = kernel / "did"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


def unshare(tools: Path, lines: list[str]) -> None:
    """Let the job report these lines."""
    (tools.parent / "lines").write_text("".join(f"{line}\n" for line in lines))
    program(tools, "unshare", f'for results in "$@"; do :; done; cp {tools.parent}/lines "$results"')


def reported() -> list[str]:
    """Return the report of a job with a module, whose log is `LOG`."""
    lines = gzip.decompress((DATA / "red-tcp.jsonl.gz").read_bytes()).decode().splitlines()
    text = base64.b64encode(gzip.compress(LOG)).decode()
    of_module = {"start": 1000, "lost": 0, "decisions": text}
    return [*lines, *(json.dumps({"kind": kind, "data": data}) for kind, data in of_module.items())]


def compiled() -> KernelModule:
    """Return a module that no kernel would take."""
    return KernelModule(kernel_queue(plan().scenario), b"module")


class TestRefusals:
    def refused(self, kernel, capsys):
        """Return the one line with which the command ends; nothing is left behind."""
        words = [str(DATA / "red-tcp.toml"), "--set", "queue.bottleneck.at_idle=none", "--backend", "tc"]
        assert main(["live", *words, "--kernel-qdisc", "--out", str(kernel / "out")]) == 2
        assert not (kernel / "out").exists()
        (line,) = capsys.readouterr().err.splitlines()
        return line.removeprefix("aqmlab: --backend tc --kernel-qdisc")

    def test_a_kernel_without_modules(self, kernel, capsys):
        (kernel / "modules").unlink()
        says = (
            f": this machine's kernel {platform.release()} has no loadable modules (--backend vm brings its own kernel)"
        )
        assert self.refused(kernel, capsys) == says

    def test_a_kernel_that_loads_no_more(self, kernel, capsys):
        (kernel / "modules_disabled").write_text("1\n")
        says = ": this machine's kernel loads no more modules (kernel.modules_disabled; "
        assert self.refused(kernel, capsys) == f"{says}{loading.OTHER})"

    def test_a_kernel_that_may_still_load(self, kernel):
        (kernel / "modules_disabled").write_text("0\n")
        assert loading.build_folder(NAME) == kernel / "lib" / platform.release() / "build"

    def test_no_right(self, kernel, capsys, monkeypatch):
        monkeypatch.setattr(loading, "may_load", lambda: False)
        says = " needs root, outside of a user namespace, to load a module (--backend vm brings its own kernel)"
        assert self.refused(kernel, capsys) == says

    def test_no_headers(self, kernel, capsys):
        build = kernel / "lib" / platform.release() / "build"
        (build / "Makefile").unlink()
        package = f"apt-get install linux-headers-{platform.release()}"
        assert self.refused(kernel, capsys) == f": the running kernel's headers are missing: {build} ({package})"

    def test_a_module_of_this_name_is_there(self, kernel, capsys):
        (kernel / "modules").write_text(f"{NAME}_other 1 0\n")
        loading.build_folder(NAME)
        (kernel / "modules").write_text(f"veth 45056 0 - Live 0x0\n{NAME} 16384 1 - Live 0x0\n")
        assert self.refused(kernel, capsys) == f": the module {NAME} is already loaded (remove it: rmmod {NAME})"

    def test_a_program_is_missing(self, tools, monkeypatch):
        (tools / "insmod").unlink()
        monkeypatch.setattr(backend, "search_path", lambda: str(tools))
        with pytest.raises(InputError, match=r"^--backend tc needs the program insmod, which is not installed$"):
            backend.run(plan(), module=compiled())


class TestLoading:
    def loaded(self, kernel, said=None):
        path = f"{kernel}/bin:/usr/bin:/bin"
        return loading.loaded(NAME, b"module", kernel, path=path, tell=(said if said is not None else []).append)

    def test_it_is_there_inside_and_gone_behind(self, kernel, tools):
        with self.loaded(kernel):
            assert loading.is_loaded(NAME)
            assert (kernel / f"{NAME}.ko").read_bytes() == b"module"
        assert not loading.is_loaded(NAME)
        assert (kernel / "did").read_text() == f"insmod {kernel}/{NAME}.ko log=65536\nrmmod {NAME}\n"

    @pytest.mark.parametrize("error", [InputError("x"), KeyboardInterrupt()])
    def test_it_is_gone_behind_an_error_too(self, error, kernel, tools):
        with pytest.raises(type(error)), self.loaded(kernel):
            raise error
        assert not loading.is_loaded(NAME)

    def test_a_kernel_that_does_not_take_it_is_one_line_and_nothing_is_removed(self, kernel, tools):
        program(tools, "insmod", "echo 'insmod: ERROR: Invalid module format' >&2; echo more >&2; exit 1")
        says = r"^--backend tc --kernel-qdisc: insmod: ERROR: Invalid module format$"
        with pytest.raises(InputError, match=says), self.loaded(kernel):
            pass
        assert did(kernel) == []

    def test_it_is_removed_when_its_queue_has_gone(self, kernel, tools, monkeypatch):
        monkeypatch.setattr(loading, "POLL_S", 0.0)
        busy = f"[ $(wc -l < {kernel}/did) -gt 3 ] || {{ echo 'rmmod: ERROR: Module is in use' >&2; exit 1; }}"
        program(tools, "rmmod", f'echo "rmmod $*" >> {kernel}/did; {busy}; sed -i /^{NAME}/d {kernel}/modules')
        said: list[str] = []
        with self.loaded(kernel, said):
            pass
        assert did(kernel) == ["insmod", "rmmod", "rmmod", "rmmod"]
        assert said == []

    def test_one_that_stays_is_reported(self, kernel, tools, monkeypatch):
        monkeypatch.setattr(loading, "PATIENCE_S", 0.0)
        program(tools, "rmmod", "echo 'rmmod: ERROR: Module is in use' >&2; exit 1")
        said: list[str] = []
        with self.loaded(kernel, said):
            pass
        assert said == [f"the module {NAME} is still loaded: rmmod: ERROR: Module is in use (remove it: rmmod {NAME})"]


class TestRun:
    def test_the_job_finds_the_module_loaded(self):
        text = script(setting_of(plan()), Options(module=NAME, loads_module=False))
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
        folder = f"/sys/kernel/debug/{NAME}"
        assert f'[ -r {folder}/decisions ] || fail "{folder} cannot be read (debugfs)"' in text
        assert "insmod" not in text
        assert "rmmod" not in text
        assert text.count(f"{folder}/decisions >>") == 2

    def test_a_run_is_between_loading_and_removing(self, kernel, tools):
        unshare(tools, reported())
        run = backend.run(plan(), module=compiled())
        assert did(kernel) == ["insmod", "rmmod"]
        assert run.setting.qdisc.text == kernel_queue(plan().scenario).kind
        assert module.log_of(run) == LOG
        (slept,) = run.of_kind("slept")
        assert slept["data"] >= 0

    def test_an_error_of_the_job_removes_it(self, kernel, tools):
        unshare(tools, [json.dumps({"kind": "error", "what": "no such device"})])
        with pytest.raises(InputError, match=r"^on this machine: no such device$"):
            backend.run(plan(), module=compiled())
        assert did(kernel) == ["insmod", "rmmod"]

    def test_time_that_the_machine_slept_is_not_in_the_logs_clock(self):
        late = [json.dumps({"kind": "start", "data": 61_000}), json.dumps({"kind": "slept", "data": 60_000})]
        early = [json.dumps({"kind": "start", "data": 1000})]
        log = record(0, 3) + b"".join(record(n, 0, time_ns=n * 10**9, verdict=1, outcome=2) for n in (1, 2, 3))
        told = [line for line in reported() if json.loads(line)["kind"] != "start"]
        found = [module.tables(PeerRun(setting_of(plan()), (*told, *more), {}, 0.1), log) for more in (late, early)]
        assert [tables["links"].to_pylist()[0]["drops"] for tables in found] == [2, 2]

    def test_a_run_on_a_busy_machine_is_not_valid(self, monkeypatch):
        queue = next(line for line in reported() if json.loads(line)["kind"] == "qdisc")
        looks = [json.dumps(json.loads(queue) | {"ms": ms}) for ms in (0, 1002, 2000, 3000)]
        told = [line for line in reported() if json.loads(line)["kind"] != "qdisc"]
        runs = [PeerRun(setting_of(plan()), (*told, *some), {}, 0.1) for some in (looks, looks[:2] + looks[3:])]
        monkeypatch.setattr(backend, "run", lambda *words, **more: runs.pop(0))
        ran = [kernel_backends.perform(plan(), Bottleneck("tc")) for _ in range(2)]
        assert [output.summary["live"]["valid"] for output, _, _ in ran] == [True, False]
        assert [certificate.breaches for _, certificate, _ in ran] == [
            [],
            ["tc's counters, read each second, were not read for 2.0 s (limit 1.5 s): the machine was busy"],
        ]

    @pytest.mark.parametrize("folder", [True, False])
    def test_a_log_that_differs_is_kept(self, folder, kernel, tools, monkeypatch, tmp_path):
        unshare(tools, reported())
        monkeypatch.setattr(module, "compiled", lambda queue, build: KernelModule(queue, b"module"))
        with pytest.raises(InputError) as error:
            kernel_backends.perform(plan(), Bottleneck("tc", in_module=True), folder=tmp_path if folder else None)
        text, _, path = str(error.value).partition("; the log of its decisions is in ")
        assert text.startswith("the kernel and the core differ: record 1 (1.500000000 s): ")
        assert Path(path).name == f"0001-{DECISIONS}"
        assert (Path(path).parent == tmp_path) == folder
        assert replay_decisions(plan().scenario, path).difference is not None
        assert did(kernel) == ["insmod", "rmmod"]


OUTSIDE = """\
insmod /job/{name}.ko log=65536
{words} 2> /tmp/said || echo "{{\"kind\":\"error\",\"what\":\"$(head -n 1 /tmp/said | tr -d '"')\"}}" >&3
cat /tmp/results >&3
for i in 1 2 3 4 5 6 7 8 9 10; do rmmod {name} && break; sleep 0.2; done
[ -e /sys/module/{name} ] && echo '{{"kind":"error","what":"the module is still there"}}' >&3
exit 0
"""


@pytest.mark.slow
def test_in_namespaces_of_a_real_kernel_every_decision_is_the_cores(bootable):  # noqa: F811
    image, made = bootable
    setting = setting_of(plan(), qdisc=made.qdisc)
    job = script(setting, Options(module=made.queue.module, loads_module=False))
    command = backend.command(Path("/job/inside.sh"), Path("/tmp/results"), root=True)
    # By its whole path: the guest's shell has an `unshare` of its own.
    words = shlex.join(["/usr/sbin/unshare", *command[1:]])
    files = {
        f"job/{made.queue.module}.ko": archive.file(made.program),
        "job/inside.sh": archive.file(job.encode()),
        **with_libraries(packages.program("unshare"), "usr/sbin/unshare"),
    }
    outside = OUTSIDE.format(name=made.queue.module, words=words)
    told = machine.boot(image, outside, seed=1, files=files)
    run = PeerRun(setting, told.lines, {}, 0.1)
    found = module.replayed(made.queue, module.log_of(run))
    assert found.decisions > 1500
    assert found.drops > 20
