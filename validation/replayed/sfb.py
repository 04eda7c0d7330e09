"""SFB: its words, the core's settings, and the traffic."""

from __future__ import annotations

from replayed import Case, Discipline, Fault, tcp, udp

LINK = "20Mbps"
UNIT = 1 / 65535
QUICK = "increment 0.02 decrement 0.002"
STEPS = f"increment = {1311 * UNIT:.9f}\ndecrement = {131 * UNIT:.9f}"
LINUX = 'dialect = "linux"\n'
MIXED = tcp("plain", 4) + tcp("marked", 4, ecn=True) + udp("small", 200, 14)
CASES = {
    "default; TCP and UDP": Case(words="sfb limit 1000", queue=LINUX, flows=MIXED, seconds=5, link=LINK),
    "target 5, max 10, quick steps; TCP with ECN, UDP": Case(
        words=f"sfb limit 1000 target 5 max 10 {QUICK}",
        queue=LINUX + f"bin_size = 5\nmax_bin = 10\n{STEPS}",
        flows=tcp("marked", 8, ecn=True) + udp("small", 200, 6, 2),
        seconds=5,
        link=LINK,
    ),
    "rehash 1 s, warm-up 0.4 s, quick steps; overload": Case(
        words=f"sfb limit 1000 rehash 1000 db 400 target 5 max 100 {QUICK} penalty_rate 300 penalty_burst 10",
        queue=LINUX + f'rehash = "1s"\nwarmup = "400ms"\nbin_size = 5\nmax_bin = 100\n{STEPS}\n'
        "penalty_rate = 300\npenalty_burst = 10",
        flows=udp("small", 200, 14) + udp("long", 1000, 12) + tcp("marked", 4, ecn=True),
        seconds=5,
        link=LINK,
    ),
    "limit 60, max 1000; overload": Case(
        words=f"sfb limit 60 target 20 max 1000 {QUICK} penalty_rate 2000 penalty_burst 500",
        queue=LINUX
        + f'limit = "60p"\nbin_size = 20\nmax_bin = 1000\n{STEPS}\npenalty_rate = 2000\npenalty_burst = 500',
        flows=udp("small", 200, 14) + udp("long", 1000, 12) + tcp("plain", 4),
        seconds=5,
        link=LINK,
    ),
}
FAULTS = {
    "increment a unit more": Fault(
        "target 5, max 10, quick steps; TCP with ECN, UDP",
        {"queue.bottleneck.increment": f"{1312 * UNIT:.9f}"},
    ),
    "max 11": Fault("target 5, max 10, quick steps; TCP with ECN, UDP", {"queue.bottleneck.max_bin": "11"}),
    "rehash a jiffy later": Fault(
        "rehash 1 s, warm-up 0.4 s, quick steps; overload", {"queue.bottleneck.rehash": '"1.004s"'}
    ),
    "warm-up 10 jiffies longer": Fault(
        "rehash 1 s, warm-up 0.4 s, quick steps; overload", {"queue.bottleneck.warmup": '"440ms"'}
    ),
    "penalty burst 9": Fault(
        "rehash 1 s, warm-up 0.4 s, quick steps; overload", {"queue.bottleneck.penalty_burst": "9"}
    ),
}
TEXT = """The log has the jiffies before each call, the hashes of packets (`skb_get_hash_perturb`), the random numbers
and the keys (`get_random_bytes`). The core's clock is the jiffies since the reset.

Linux 6.1, 6.12 and 7.3 decide alike. Their peculiarities, which the core follows:

* **Change of the hash.** The arrival that changes the hash still takes the bins that were in use, with their new key.
  No bin is cleared: probabilities of the other slot stay from its last use.
* **Double buffering.** In the warm-up only arrivals of flows in the penalty box are counted in the other slot.
* **Marks.** Above a probability of 1/2 a mark becomes a drop, with a chance that grows to 1.
* **Penalty box.** It gets tokens only when it has none, by the jiffies since it last looked; a look at an empty box
  begins the count again, so that a flow that sends often gets fewer packets through than `penalty_rate`.
* **Limit.** An arrival at the limit moves no probability and no hash.

Outside of the replay: filters of tc that choose the flow."""
SFB = Discipline("sfb", ("sch_sfb",), CASES, FAULTS, TEXT)
