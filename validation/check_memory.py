"""Modules in a kernel that looks for leaks, wrong memory and wrong locking, while allocations fail.

`python validation/check_memory.py --source TREE` boots the emulated machine once for each queue (about two minutes
each) and writes ``tests/data/vm/module-memory.csv``; `report` counts. TREE is Linux 6.1, unpacked: of Debian's package
``linux-source-6.1``, which needs gcc, make, flex, bison, bc and libelf-dev. It is configured and compiled first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.live.tc import module, outcome
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import MODULES, Image, cache, keep
from aqmlab.live.vm.machine import boot
from aqmlab.live.vm.packages import Kernel
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows
from replay_modules import QUEUES as MODULES_QUEUES
from replay_modules import scenario, wrong

TITLE = "Memory of the modules"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "module-memory.csv"
QUEUES = {name: table for name, table in MODULES_QUEUES.items() if name != "dualpi2"}
"""Queues whose modules are checked; that of DualPI2 allocates no memory."""
FRAGMENT = Path(__file__).parent / "kernel_debug" / "fragment.config"
SMALL = {"pc-red": {"queue.bottleneck.list_size": 40}}
"""So that its lists are in slabs, whose allocations are made to fail; those of whole pages are not."""
LEAK = "a list is not freed"
FAULTS = {
    LEAK: ("pc-red", "\tkvfree(private->flows.chain);\n", ""),
    "a list is too short": ("pc-red", "kvcalloc(AQMLAB_LIST_SIZE, ", "kvcalloc(AQMLAB_LIST_SIZE - 1, "),
    "missing memory is not noticed": ("pc-red", "\treturn list->chain;\n", "\treturn true;\n"),
}
"""Faults put into ``sch_aqmlab.c`` on purpose: the queue, the right words and the wrong ones."""
EVERY = ("red", "pc-red")
"""Queues whose allocations fail by turns; the others allocate as `red` does."""
COUNTS = (
    *("load_tries", "load_failed", "load_inside", "attach_tries", "attach_failed", "attach_inside"),
    *("failed_with_traffic", "lost", "leaks"),
)
FIELDS = ("queue", "fault", "kernel", "sha256", *COUNTS, "decisions", "drops", "difference", "found")
NETWORK = """\
say() {{ echo "{{\\"kind\\":\\"$1\\",\\"data\\":$2}}" >&3; }}
fail() {{ echo "{{\\"kind\\":\\"error\\",\\"what\\":\\"$*\\"}}" >&3; exit 1; }}
must() {{ "$@" 2> /tmp/said || fail "$* ($(head -n 1 /tmp/said | tr -d '"'))"; }}
tc=/usr/sbin/tc DEBUG=/sys/kernel/debug MODULE={module} KIND={kind}
LOG=$DEBUG/$MODULE
must mount -t debugfs debugfs $DEBUG
echo 1 > /proc/sys/kernel/panic_on_oops
must $IP link add va address 02:00:00:00:00:01 type veth peer name vb address 02:00:00:00:00:02
must $IP netns add far
must $IP link set vb netns far
must $IP link set va up
$IP -n far link set vb up
$IP -n far link set lo up
$IP addr add 10.9.0.1/24 dev va
$IP -n far addr add 10.9.0.2/24 dev vb
must $IP neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev va nud permanent
must $IP -n far neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev vb nud permanent
echo 0 > /proc/sys/net/ipv6/conf/va/disable_ipv6
# What the kernel itself has said or lost until here is not the module's.
dmesg -c > /dev/null
echo clear > $DEBUG/kmemleak
: > /tmp/found
FAIL=$DEBUG/failslab
look() {{
    text=$(dmesg -c)
    case "$text" in *BUG*|*UBSAN*|*WARNING*|*INFO:*|*suspicious*) echo "$text" | grep -E "$REPORTS" >> /tmp/found;; esac
}}
REPORTS="BUG|UBSAN|WARNING|INFO: |suspicious"
"""
FAILING = """\
echo N > $FAIL/ignore-gfp-wait
echo Y > $FAIL/task-filter
echo -1 > $FAIL/times
echo 2 > $FAIL/verbose
# Count a try: whether it failed, and whether an allocation failed in the module.
# Fail if it was whole and no allocation failed.
tried() {
    tries=$((tries + 1))
    look
    $undo > /dev/null 2>&1
    case "$text" in *" aqmlab_"*) inside=$((inside + 1)) ;; esac
    [ $1 = 0 ] || { failed=$((failed + 1)); return 0; }
    case "$text" in *FAULT_INJECTION*) return 0 ;; *) return 1 ;; esac
}
start() { undo=$1 tries=0 failed=0 inside=0; }
counted() { say ${1}_tries $tries; say ${1}_failed $failed; say ${1}_inside $inside; }
# Load, while all allocations fail behind so many bytes.
start "rmmod $MODULE"
bytes=0
echo 100 > $FAIL/probability
while :; do
    bytes=$((bytes + 1024))
    echo $bytes > $FAIL/space
    sh -c "echo 1 > /proc/self/make-it-fail; exec insmod /job/$MODULE.ko log=100" 2> /dev/null
    code=$?
    echo 0 > $FAIL/space
    tried $code || break
done
counted load
# Attach from one tc: first the n-th allocation alone fails, then all behind so many bytes.
must insmod /job/$MODULE.ko log=20000
start "$tc qdisc del dev va root"
mkfifo /tmp/commands
$tc -force -batch /tmp/commands > /dev/null 2>&1 &
TC=$!
exec 5> /tmp/commands
sleep 0.5
add() {
    echo "qdisc add dev va root $KIND" >&5
    sleep 0.1
    $tc qdisc show dev va | grep -q $KIND && ping -c 1 -w 1 10.9.0.2 > /dev/null
}
echo 0 > $FAIL/probability
n=0
while :; do
    n=$((n + 1))
    echo $n > /proc/$TC/fail-nth
    add
    code=$?
    left=$(cat /proc/$TC/fail-nth)
    echo 0 > /proc/$TC/fail-nth
    tried $code
    [ "$left" = 0 ] || break
done
bytes=0
echo 100 > $FAIL/probability
while :; do
    bytes=$((bytes + 64))
    echo $bytes > $FAIL/space
    echo 1 > /proc/$TC/make-it-fail
    add
    code=$?
    echo 0 > /proc/$TC/make-it-fail
    tried $code || break
done
echo 0 > $FAIL/probability
echo 0 > $FAIL/space
counted attach
exec 5>&-
wait $TC
must rmmod $MODULE
"""
TRAFFIC = """\
attach() {
    $tc qdisc del dev va root 2> /dev/null
    must $tc qdisc add dev va root handle 1: tbf rate 5mbit burst 3000 limit 1000000
    must $tc qdisc add dev va parent 1: handle 10: $KIND
}
decisions() { cat $LOG/decisions >> /tmp/decisions; }
must insmod /job/$MODULE.ko log=20000
attach
: > /tmp/decisions
$IP netns exec far iperf3 -s -D -p 1 > /dev/null 2>&1
$IP netns exec far iperf3 -s -D -p 2 > /dev/null 2>&1
sleep 0.5
# Without memory for some packets of the kernel: one allocation of a hundred fails where it may not wait.
iperf3 -c 10.9.0.2 -p 1 -P 3 -t 6 > /dev/null 2>&1 &
iperf3 -c 10.9.0.2 -p 2 -u -b 3M -l 700 -t 6 > /dev/null 2>&1 &
sleep 1
echo N > $FAIL/task-filter
echo Y > $FAIL/ignore-gfp-wait
echo 0 > $FAIL/verbose
echo 1000000 > $FAIL/times
echo 1 > $FAIL/probability
for i in 1 2 3 4; do sleep 1; decisions; done
echo 0 > $FAIL/probability
say failed_with_traffic $((1000000 - $(cat $FAIL/times)))
wait
decisions
# Changes and removal while packets flow.
iperf3 -c 10.9.0.2 -p 2 -u -b 20M -l 700 -t 5 > /dev/null 2>&1 &
sleep 0.5
for i in 1 2 3 4 5; do
    must $tc qdisc replace dev va root handle 2: $KIND
    sleep 0.2
    $tc qdisc del dev va root
    must $tc qdisc add dev va root handle 3: htb default 1
    must $tc class add dev va parent 3: classid 3:1 htb rate 4mbit
    must $tc qdisc add dev va parent 3:1 handle 30: $KIND
    sleep 0.2
    attach
    sleep 0.2
    must $tc qdisc change dev va parent 1: handle 10: $KIND
    decisions
done
wait
$tc qdisc del dev va root
decisions
say lost $(cat $LOG/lost)
must rmmod $MODULE
for i in 1 2 3 4 5; do
    must insmod /job/$MODULE.ko log=1000
    must $tc qdisc add dev va root $KIND
    ping -c 3 -i 0.1 10.9.0.2 > /dev/null
    must $tc qdisc del dev va root
    must rmmod $MODULE
done
# kmemleak reports what is older than 5 s, and has the first report at the second scan.
sleep 10
echo scan > $DEBUG/kmemleak
sleep 1
echo scan > $DEBUG/kmemleak
look
say leaks $(grep -c "^unreferenced object" $DEBUG/kmemleak)
grep -A 12 "^unreferenced object" $DEBUG/kmemleak | grep -m 3 -o "aqmlab_[a-z_]*" > /tmp/leaks
say found "\\"$(cat /tmp/found /tmp/leaks | head -n 3 | tr '\\n"\\\\' '; ')\\""
gzip -c /tmp/decisions | base64 -w 4000 | sed 's/.*/{"kind":"decisions","data":"&"}/' >&3
"""
Row = dict[str, str]


def build(tree: Path) -> Image:
    """Configure and compile the kernel, and make an image of it."""
    for words in (
        ["make", "tinyconfig"],
        ["scripts/kconfig/merge_config.sh", "-m", ".config", str(FRAGMENT)],
        ["make", "olddefconfig"],
        ["make", "-j2", "bzImage", "modules"],
    ):
        subprocess.run(words, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    release = (tree / "include/config/kernel.release").read_text().strip()
    kernel = Kernel(release, (tree / "arch/x86/boot/bzImage").read_bytes(), (), MODULES)
    return keep(kernel, [], cache() / "debug", tell=print)


def checked(queue: str, image: Image, tree: Path, fault: str = "") -> Row:
    """Boot once: a queue's module, with or without a fault."""
    traffic = "TCP and UDP with ECN"
    plan: Scenario = scenario(queue, traffic).with_overrides(SMALL.get(queue, {}))
    row = {"queue": queue, "fault": fault, "kernel": image.release, "sha256": image.manifest["sha256"]["kernel"]}
    made = module.compiled(kernel_queue(plan), tree)
    if fault:
        _, right, instead = FAULTS[fault]
        with wrong("module/sch_aqmlab.c", right, instead):
            made = replace(made, program=module.compiled(kernel_queue(plan), tree).program)
    files = {f"job/{made.queue.module}.ko": archive.file(made.program)}
    job = (
        NETWORK.format(module=made.queue.module, kind=made.queue.kind)
        + (FAILING if queue in EVERY and fault != LEAK else "")
        + TRAFFIC
    )
    try:
        told = [json.loads(line) for line in boot(image, job, seed=1, files=files).lines]
    except InputError as error:
        return row | {"found": str(error)}
    said = {one["kind"]: str(one["data"]) for one in told}
    row |= {name: said.get(name, "") for name in (*COUNTS, "found")}
    log = outcome.unpacked(one["data"] for one in told if one["kind"] == "decisions")
    try:
        replayed = module.replayed(made.queue, log)
    except InputError as error:
        return row | {"difference": str(error)}
    return row | {"decisions": str(replayed.decisions), "drops": str(replayed.drops)}


def rows() -> list[Row]:
    """Read what was found."""
    return read_rows(TABLE)


def is_clean(row: Row) -> bool:
    """Whether a boot ended without a leak, a report or a difference."""
    return not row["found"] and row["leaks"] == "0" and row["lost"] == "0" and not row["difference"]


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every module is clean and every fault is found."""
    modules = [row for row in rows() if not row["fault"]]
    faults = [row for row in rows() if row["fault"]]
    clean = [row for row in modules if is_clean(row)]
    missed = [row for row in faults if is_clean(row)]
    shown = ("load_tries", "load_failed", "load_inside", "attach_tries", "attach_failed", "attach_inside")
    lines = [
        "| queue | loaded | failed | inside | attached | failed | inside | failed with traffic | decisions | leaks "
        "| reports |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in modules:
        counts = " | ".join(
            f"{int(row[name]):,}" if row[name] else "-"
            for name in (*shown, "failed_with_traffic", "decisions", "leaks")
        )
        lines.append(f"| {row['queue']} | {counts} | {row['found'] or row['difference'] or 'none'} |")
    kernels = dict.fromkeys((row["kernel"], row["sha256"]) for row in modules)
    parts = [
        "A small Linux 6.1, compiled with checks of memory (KASAN with stacks and vmalloc, UBSAN, kmemleak), of "
        "locking (lockdep, RCU, sleeping in atomic context) and with failing allocations, boots once for each module:",
        f"* {' and '.join(EVERY)} are loaded again and again, while all allocations of `insmod` fail behind a number "
        "of bytes that grows by 1 KiB, until it succeeds; then attached again and again: of `tc` the n-th allocation "
        "fails, for each n until there are no more, then all behind a number of bytes that grows by 64. *Inside* "
        "counts tries whose failing allocation was in a function of the module. The others allocate as red does. "
        "PC-RED's list is of 40 flows, so that it is in slabs, whose allocations fail here.\n"
        "* TCP with ECN and UDP flow through it for 6 s, below a token bucket, while one of a hundred allocations of "
        "the kernel fails where it may not wait (*failed with traffic*). The core replays every decision.\n"
        "* While packets flow, the queue is replaced and removed at the root, below `htb` and below `tbf`, five times "
        "each, and changed; then the module is loaded, used and removed five times.\n"
        "* At the end kmemleak scans twice. *Leaks* are objects that nothing points to, *reports* what the kernel's "
        "checks wrote.",
        f"**{len(clean)} of {len(modules)} modules are clean.** "
        f"{len(faults) - len(missed)} of {len(faults)} faults that were put in on purpose are found.",
        "\n".join(lines),
        "\n".join(["| kernel | SHA-256 of the kernel |", "|---|---|", *(f"| {k} | `{i}` |" for k, i in kernels)]),
        "\n".join([
            "| fault | queue | leaks | reports |", "|---|---|---|---|",
            *(f"| {one['fault']} | {one['queue']} | {one['leaks'] or '-'} | {one['found'] or '-'} |" for one in faults),
        ]),
        "`validation/check_memory.py` builds the kernel from Debian's sources with `validation/kernel_debug`.",
    ]  # fmt: skip
    return "\n\n".join(parts), len(modules) == len(QUEUES) and len(faults) == len(FAULTS) and not missed and (
        len(clean) == len(modules)
    )


def main(arguments: Sequence[str]) -> int:
    """Boot once for each queue and each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="the kernel's sources, unpacked")
    parser.add_argument("--workers", type=int, default=2, help="machines at a time")
    parser.add_argument("--queues", nargs="*", choices=QUEUES, default=list(QUEUES), help="which; others stay")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=list(FAULTS), help="which; others stay")
    chosen = parser.parse_args(arguments)
    image = build(chosen.source)
    again = {(queue, "") for queue in chosen.queues} | {(FAULTS[fault][0], fault) for fault in chosen.faults}
    found = [row for row in rows() if (row["queue"], row["fault"]) not in again]
    tasks = [partial(checked, queue, image, chosen.source, fault) for queue, fault in sorted(again)]
    with ThreadPool(chosen.workers) as pool:
        for row in pool.imap_unordered(lambda task: task(), tasks):
            print(row, flush=True)
            found.append(row)
            found.sort(key=lambda one: (one["fault"], list(QUEUES).index(one["queue"])))
            write_rows(TABLE, FIELDS, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
