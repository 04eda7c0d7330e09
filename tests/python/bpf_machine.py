"""Compile BPF qdiscs, and run TCP through one in the emulated machine with Linux 7.3.

    python tests/python/bpf_machine.py

fetches the needs of the tests of `test_bpf_qdisc.py` into the cache of images: a kernel, and the header of its types.
"""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from aqmlab.interop.kernel.export import KernelQueue
from aqmlab.interop.kernel.export_bpf import bpf_files, kind_of, name_of
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import archive, machine
from aqmlab.live.vm.build import Image, cache
from aqmlab.live.vm.kernels import FOLDER, images, in_cache
from aqmlab.live.vm.suites import Suites
from aqmlab.results.outputs import write_export
from programs import EMULATOR, missing

KERNEL = "7.3"
CLANGS = ("clang-19", "clang")
HEADER = cache() / FOLDER / "vmlinux.h"
"""Types and functions of Debian's newest kernel, as C."""
PACKAGE = "linux-bpf-dev"
FETCH = "python tests/python/bpf_machine.py"
RECORD, DEPARTURE = 64, 1
STATIC = ("libbpf.a", "libelf.a", "libz.a")


def clang() -> str | None:
    """Return the compiler, or None."""
    return next((name for name in CLANGS if shutil.which(name)), None)


def why_not_compiled() -> str:
    """Return why the qdiscs cannot be compiled here, or an empty text."""
    if why := missing("make"):
        return why
    if clang() is None:
        return "there is no clang (apt-get install clang-19)"
    if not HEADER.is_file():
        return f"there is no {HEADER} ({FETCH} fetches it)"
    if not Path("/usr/include/bpf/bpf_helpers.h").is_file():
        return "there is no libbpf (apt-get install libbpf-dev)"
    return ""


def why_not_booted() -> str:
    """Return why the emulated machine cannot run them, or an empty text."""
    if why := missing(*EMULATOR):
        return why
    if not all(list(Path("/usr/lib").glob(f"*/{name}")) for name in STATIC):
        return "there is no static libbpf (apt-get install libbpf-dev libelf-dev zlib1g-dev)"
    if image() is None:
        return f"no kernel {KERNEL} is in the cache ({FETCH} fetches it)"
    return why_not_compiled()


def image() -> Image | None:
    """Return the image with the kernel, if it is in the cache."""
    there = in_cache(cache() / FOLDER)
    return next((one for one in there if one.release.startswith(f"{KERNEL}.")), None)


def fetch() -> None:
    """Fetch the kernel, and the header of its types."""
    images([KERNEL])
    suites = Suites(cache() / FOLDER / "apt")
    suites.update()
    with suites.packages([PACKAGE]) as (files, versions):
        member = next(one for one in files[0].getmembers() if one.name.endswith("/vmlinux.h"))
        opened = files[0].extractfile(member)
        assert opened is not None
        HEADER.write_bytes(opened.read())
    print(f"{HEADER}: {versions[0]}")


def build(queue: KernelQueue, folder: Path, goal: str = "all") -> subprocess.CompletedProcess[str]:
    """Export a qdisc and build it: ``all``, or its object alone. The loader is static, for a machine without libbpf."""
    write_export(folder, bpf_files(queue))
    shutil.copy(HEADER, folder / "vmlinux.h")
    words = ["make", "-C", str(folder), f"CLANG={clang()}", "CFLAGS=-Werror", "LDFLAGS=-static", goal]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def guest_files(queue: KernelQueue, folder: Path, place: str) -> dict[str, archive.Entry]:
    """Return the built loader and program, for a folder of the guest."""
    program = f"{name_of(queue)}.bpf.o"
    return {
        f"{place}/load": archive.file((folder / "load").read_bytes(), executable=True),
        f"{place}/{program}": archive.file((folder / program).read_bytes()),
    }


LOAD = """\
cd /job
./load "$WORK/decisions" > "$WORK/load.out" 2> "$WORK/load.err" &
LOAD=$!
for i in $(seq 20); do grep -q loaded "$WORK/load.out" && break; sleep 0.1; done
grep -q loaded "$WORK/load.out" || fail "$(tail -n 1 "$WORK/load.err" | tr -d '"\\\\')"
must $R tc qdisc add dev lo root handle 7: tbf rate 1mbit burst 1600 limit 10000
$R tc qdisc add dev lo parent 7: {kind} 2> /dev/null && fail "it can be below tbf"
must $R tc qdisc add dev rb root {kind}"""

SECOND = """\
$R tc qdisc add dev ra root {kind} 2> "$WORK/second" && fail "a second interface"
grep -q busy "$WORK/second" || fail "$(tr -d '"\\\\' < "$WORK/second")"
"""

END = """\
must $R tc qdisc del dev rb root
kill -INT $LOAD
wait $LOAD || fail "load ended with an error"
[ -s "$WORK/load.err" ] && fail "$(cat "$WORK/load.err")"
$R tc qdisc add dev rb root {kind} 2> /dev/null && fail "it is still known"
echo "{{\\"kind\\":\\"log\\",\\"data\\":\\"$(gzip < "$WORK/decisions" | base64 -w 0)\\"}}" >&3"""


def run(queue: KernelQueue, folder: Path) -> tuple[bytes, list[dict[str, object]]]:
    """Run the scenario over the built qdisc at the router's root; return its log, and all reports of the guest."""
    plan = live_plan(queue.scenario, seed=1)
    lines = script(
        setting_of(plan, qdisc="pfifo limit 10"), Options(sample_interval_s=0, ping_interval_s=0)
    ).splitlines()
    at = next(number for number, line in enumerate(lines) if " tbf " in line)
    kind = kind_of(queue)
    lines[at : at + 2] = LOAD.format(kind=kind).splitlines()
    text = "\n".join(line.replace('rm -rf "$WORK"', "true") for line in lines)
    text += "\n" + SECOND.format(kind=kind) + "\n" + END.format(kind=kind) + "\n"
    chosen = image()
    assert chosen is not None
    told = machine.boot(chosen, text, seed=1, files=guest_files(queue, folder, "job"))
    answers = [json.loads(line) for line in told.lines]
    log = next(one["data"] for one in answers if one["kind"] == "log")
    return gzip.decompress(base64.b64decode(log)), answers


def records(log: bytes) -> Iterator[tuple[int, int]]:
    """Yield the kind of each record of a log, and the packet's bytes."""
    for at in range(0, len(log), RECORD):
        yield log[at + 56], int.from_bytes(log[at + 24 : at + 28], "little")


def verify(built: dict[str, tuple[KernelQueue, Path]]) -> dict[str, str]:
    """Load and attach each of several qdiscs in one guest; return the loader's messages, "" for success."""
    # The shell takes busybox's own programs for names without a folder.
    lines = ["TC=/usr/sbin/tc", "/usr/sbin/ip link add va type veth peer name vb"]
    files: dict[str, archive.Entry] = {}
    for name, (queue, folder) in built.items():
        files |= guest_files(queue, folder, f"job/{name}")
        lines += [
            f"cd /job/{name}",
            "./load > /tmp/out 2> /tmp/err & LOAD=$!",
            "for i in $(seq 20); do grep -q loaded /tmp/out && break; sleep 0.1; done",
            f"tc=$($TC qdisc add dev va root {kind_of(queue)} 2>&1 && $TC qdisc del dev va root 2>&1)",
            "kill -INT $LOAD; wait $LOAD",
            'said=$(echo "$tc" "$(tail -n 1 /tmp/err)" | tr -d \'"\\\\\')',
            f'echo "{{\\"kind\\":\\"verified\\",\\"name\\":\\"{name}\\",\\"said\\":\\"$said\\"}}" >&3',
        ]
    chosen = image()
    assert chosen is not None
    told = machine.boot(chosen, "\n".join([*lines, "true", ""]), seed=1, files=files)
    found = [json.loads(line) for line in told.lines]
    return {one["name"]: one["said"].strip() for one in found if one["kind"] == "verified"}


if __name__ == "__main__":
    fetch()
