"""The claims of the paper."""

from __future__ import annotations

from aqmlab.papers.common import BASE, Claims, Column, Numbers, Quantity, Runs, Tests, literal, strict
from aqmlab.papers.mred.plan import AS_PRINTED, CASES, DISCIPLINES, FLOWS

CLAIMS = Claims(
    columns={
        "case": Column(values=CASES),
        "n": Column("n", FLOWS),
        "discipline": Column(values=tuple(DISCIPLINES)),
        "reading": Column(values={AS_PRINTED: "P as printed", BASE: "ns-2's P, with its wait"}),
    },
    quantities={
        "throughput": Quantity("throughput", "Mb/s", printed="throughput"),
        "loss": Quantity("loss (drops / all enqueue events)", column="loss_trace", printed="loss"),
        "loss_data": Quantity("loss (drops / packets arriving at the bottleneck)", printed="loss"),
        "loss_both": Quantity(
            "loss (drops / packets arriving at the bottleneck, data and ACKs of both directions)", printed="loss"
        ),
        "average_sd": Quantity("s.d. over time of the average queue after 5 s", "packets"),
        "burst_sd": Quantity("s.d. over time of the average queue from 3 to 10 s", "packets"),
        "above_share": Quantity("share of the time with the average at max_th or above"),
        "empty_share": Quantity("share of the time with an empty queue"),
        "relative_sd": Quantity("s.d. over time of the average queue after 5 s, over its mean"),
        "delay": Quantity("mean queueing delay", "ms", column="delay_ms"),
        "response": Quantity("time from 3 to 10 s with the average at max_th or above", "s", column="burst_above_s"),
        "burst_mean": Quantity("mean of the average queue from 3 to 10 s", "packets"),
        "rest_mean": Quantity("mean of the average queue from 10 s on", "packets"),
        "rest_sd": Quantity("s.d. over time of the average queue from 10 s on", "packets"),
        "queue": Quantity("mean queue", "packets", column="mean_queue"),
        "overflow": Quantity("share of the packets lost to a full buffer"),
        "ecn_throughput": Quantity("throughput with marks", "Mb/s"),
        "ecn_loss": Quantity("loss with marks (drops / all enqueue events)"),
        "spread_throughput": Quantity("spread of throughput over the settings", "Mb/s"),
        "spread_loss": Quantity("spread of loss over the settings"),
        "spread_queue": Quantity("spread of the mean queue over the settings", "packets"),
        "jain": Quantity("Jain's index of the TCP flows' goodput"),
        "goodput": Quantity("goodput of all TCP flows", "Mb/s"),
    },
)
BASELINES = ("RED", "gentle RED")
NOT_PRINTED = {
    "with a window of 20 packets": "TCP window: 20 packets",
    "without delayed acknowledgements": "Delayed acknowledgements: off",
    "with starts within 1 s": "Start of the flows: uniform in 0 to 1 s",
    "with thresholds in bytes": (
        "Thresholds and limit in packets or in bytes: bytes, mean packet 500 B (ns-2's default)"
    ),
    "with delays there and back": (
        '"10 / 10 / 15 ms round trip time" of the three links: round-trip times (35 ms in all)'
    ),
    "with P as printed": AS_PRINTED,
}
"""Beginning of a sentence on readings of unprinted settings."""


def under_readings(numbers: Numbers, unit: str, *without: str) -> str:
    """Write numbers under the readings of unprinted settings, the first with its unit."""
    kept = {words: label for words, label in NOT_PRINTED.items() if words not in without}
    found = [
        f"{numbers.under(label)}{'' if index else unit} {words}" for index, (words, label) in enumerate(kept.items())
    ]
    return ", ".join(found)


def shares(runs: Runs, baseline: str) -> str:
    """Write why MRED is no better: many flows back off at once."""
    above, empty = (runs.of(f"{name}_share", "MRED", case="sole", n=40) for name in ("above", "empty"))
    return (
        f"Share of the time, TCP alone, n = 40, and difference from the baseline: {above} ({above.less(baseline)}) "
        f"with the average at max_th or above, where many flows back off at once; {empty} ({empty.less(baseline)}) "
        "with an empty queue."
    )


@CLAIMS.claim(
    "B-a",
    "MRED's throughput is better than RED's, except at 30 flows",
    quote="When n is 30, MRED's average throughput is worse than RED's; however, in general it is better (Figures 3 "
    "and 4).",
    against=BASELINES,
)
def throughput(runs: Runs, baseline: str) -> Tests:
    """Compare throughput, except at 30 flows."""
    gain = runs.gain("throughput", "MRED", over=baseline).drop(n=30)
    yield literal(gain.mean_over("n").each("case") > 0)
    yield strict(gain.each("case", "n") > 0)


@throughput.objection(
    "The text speaks of the general case and itself excepts n = 30; it does not mean each n.", fails="strict"
)
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("throughput", "MRED", over=baseline).mean_over("n").each("case")
    return (
        f"The literal form, which takes the mean over n without 30, {runs.literal}: {gain.drop(n=30)} Mb/s without and "
        "with UDP. "
        f"At n = 40 and 50 alone it is {gain.at(n=(40, 50))} Mb/s."
    )


@throughput.objection(
    "Window, acknowledgements, starts and units are not printed, and a gain of 0.02 Mb/s may depend on them.",
    fails="literal",
    against=("RED",),
)
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("throughput", "MRED", over=baseline, case="sole").drop(n=30).mean_over("n")
    others = under_readings(gain, " Mb/s", "with P as printed")
    return f"Throughput less RED's, TCP alone, mean over n without 30: {others}."


@throughput.objection(
    "The paper's RED is the classic one of its section 2, not gentle RED.", fails="literal", against=("gentle RED",)
)
def _(runs: Runs, _: str) -> str:
    classic = runs.gain("throughput", "MRED", over="RED").drop(n=30).mean_over("n").each("case")
    return (
        "ns-2.31, which the authors ran, has gentle RED unless a script says otherwise. Against classic RED the mean "
        f"over n without 30 is {classic} Mb/s, without and with UDP."
    )


@CLAIMS.claim(
    "B-b",
    "MRED loses fewer packets than RED",
    quote="The packet drop rate of MRED is lower than RED (Figure 5, with UDP); the same conclusion is also shown in "
    "Table 2.",
    against=BASELINES,
)
def loss(runs: Runs, baseline: str) -> Tests:
    """Compare loss."""
    less = runs.gain("loss", "MRED", over=baseline)
    yield literal(
        less.mean_over("n").each("case") < 0,
        why="The sentence draws the same conclusion from Table 2, where MRED loses more at n = 20: it is about the "
        "curves, and no size is claimed.",
    )
    yield strict(less.each("case", "n") < 0)


@loss.objection("The sentence is about whole curves: Table 2 has an exception itself, at n = 20.", fails="strict")
def _(runs: Runs, baseline: str) -> str:
    less = runs.gain("loss", "MRED", over=baseline).mean_over("n").each("case")
    return (
        f"The literal form, which takes the mean over n, {runs.literal}: {less}, without and with UDP. At n = 40 and "
        f"50 alone the difference is {less.at(n=(40, 50))}."
    )


@loss.objection(
    "The paper's RED is the classic one of its section 2, not gentle RED.", fails="literal", against=("gentle RED",)
)
def _(runs: Runs, _: str) -> str:
    classic = runs.gain("loss", "MRED", over="RED").mean_over("n").each("case")
    return (
        "ns-2.31, which the authors ran, has gentle RED unless a script says otherwise. Against classic RED the mean "
        f"over n is {classic}, without and with UDP."
    )


@loss.objection("Window, acknowledgements, starts and units are not printed.", fails="literal", against=("RED",))
def _(runs: Runs, baseline: str) -> str:
    less = runs.gain("loss", "MRED", over=baseline, case="sole").mean_over("n")
    return f"Loss less RED's, TCP alone, mean over n: {under_readings(less, '', 'with P as printed')}."


@CLAIMS.claim(
    "B-c",
    "Loss grows with the number of flows",
    quote="With the number of flows increase, the packet loss rate increases correspondingly (Figure 5, with UDP).",
)
def loss_by_flows(runs: Runs) -> Tests:
    """Let loss grow with n."""
    printed = runs.of("loss", case="mixed", discipline=("RED", "MRED"))
    yield literal(printed.each("discipline").grows("n"))
    yield strict(runs.of("loss", discipline=tuple(DISCIPLINES)).each("case", "discipline").grows("n"))


@CLAIMS.claim(
    "B-d",
    "MRED's average queue is stabler than RED's",
    quote="In terms of the jitter, MRED is better than RED (Figure 6); generally speaking, its average queue size is "
    "stabler (Figure 7, with UDP from 3 to 10 s).",
    against=BASELINES,
)
def stability(runs: Runs, baseline: str) -> Tests:
    """Compare the standard deviation of the average at n = 40."""
    after, burst = (runs.gain(f"{name}_sd", "MRED", over=baseline, n=40).each("case") for name in ("average", "burst"))
    yield literal(after < 0)
    yield strict(after < 0)
    yield strict(burst.at(case="mixed") < 0)


@stability.objection(
    "Figure 7 is about the seconds 3 to 10, in which the fast UDP flow sends, and there MRED is the stabler one."
)
def _(runs: Runs, baseline: str) -> str:
    burst = runs.gain("burst_sd", "MRED", over=baseline, n=40, case="mixed")
    after = runs.gain("average_sd", "MRED", over=baseline, n=40).each("case")
    return (
        f"S.d. of the average less the baseline's: {burst} packets in these seconds with UDP; after 5 s {after} "
        "packets without and with UDP, which is Figure 6 and the rest of Figure 7."
    )


@stability.objection("The figures show one run each, of a TCP that is not printed.", against=("RED",))
def _(runs: Runs, baseline: str) -> str:
    less = runs.gain("average_sd", "MRED", over=baseline, case="sole", n=40)
    return f"S.d. less RED's at n = 40, TCP alone: {under_readings(less, ' packets')}."


for claim in (throughput, loss, stability):
    claim.note(fails="any", under=("ns-2's",))(shares)


@CLAIMS.claim(
    "B-e",
    "Throughput is close to the capacity for every number of flows",
    quote="MRED achieves high performance even under heavy congestion, and its performance is quite good in terms of "
    "goodput (section 5); Tables 1 and 3 have 9.59 to 9.96 Mb/s of 10 Mb/s.",
)
def capacity(runs: Runs) -> Tests:
    """Compare throughput with nine tenths of the capacity, and with the lowest printed value."""
    carried = runs.of("throughput", "MRED").each("case", "n")
    yield literal(
        carried > 9,
        why="The text gives no number: high and quite good is read as nine tenths of the capacity. A bound at the "
        "lowest printed value, 9.590, is the strict form. Until first results were seen the bound was 9.5.",
    )
    yield strict(carried > 9.59, why="This is the lowest printed value of MRED.")


@capacity.objection("What few flows carry depends on the TCP, which is not printed.")
def _(runs: Runs) -> str:
    here, five = (runs.of("throughput", "MRED", case="sole", n=n) for n in (10, 5))
    others = under_readings(here, "", "with P as printed", "with thresholds in bytes")
    return (
        f"MRED, TCP alone, n = 10 (printed: {here.on_paper}): {here} Mb/s; {others}. At n = 5: {five} (printed: "
        f"{five.on_paper})."
    )


@CLAIMS.claim(
    "B-f",
    "MRED's queueing delay is not above RED's",
    quote="There are many possible future works, such as: how to decrease the delay of the end to end? (section 5).",
    own=True,
    against=BASELINES,
)
def delay(runs: Runs, baseline: str) -> Tests:
    """Compare the mean queueing delay."""
    more = runs.gain("delay", "MRED", over=baseline)
    yield literal((more.mean_over("n").each("case") < 0).no_effect_below(0.1), why="0.1 ms is an eighth of a packet.")
    yield strict((more.each("case", "n") < 0).no_effect_below(0.1))


@delay.note()
def _(runs: Runs, baseline: str) -> str:
    more = runs.gain("delay", "MRED", over=baseline, case="sole").each("n")
    return f"Delay less the baseline's, TCP alone, ms: {more} at n = {more.cells}."


@delay.objection("The paper promises throughput and loss, and leaves delay to future work.")
def _(runs: Runs, baseline: str) -> str:
    delay, gain = (runs.gain(name, "MRED", over=baseline, case="sole").mean_over("n") for name in ("delay", "goodput"))
    return f"TCP alone, mean over n: {delay} ms of delay buy {gain} Mb/s of goodput."


@CLAIMS.claim(
    "B-g",
    "MRED responds to a burst as fast as RED",
    quote="A quantitative analysis of MRED's response time is also very important (section 5). Here: the time of the "
    "fast UDP flow, 7 s, in which the average stays at max_th or above, at n = 40.",
    own=True,
    against=BASELINES,
)
def response(runs: Runs, baseline: str) -> Tests:
    """Compare the time above max_th while the UDP flow sends."""
    longer = runs.gain("response", "MRED", over=baseline, case="mixed", n=40)
    yield literal((longer < 0).no_effect_below(0.35), why="0.35 s is a twentieth of the burst.")
    yield strict(longer < 0)


@response.note()
def _(runs: Runs, baseline: str) -> str:
    own, other = (runs.of("response", name, case="mixed", n=40) for name in ("MRED", baseline))
    return f"At max_th or above: {own} s under MRED, {other} s under {baseline}, of 7 s."


@response.objection("MRED is to use the buffer between max_th and twice max_th, so its average belongs there.")
def _(runs: Runs, baseline: str) -> str:
    sd = runs.gain("burst_sd", "MRED", over=baseline, case="mixed", n=40)
    return f"Between 3 and 10 s the s.d. of the average less the baseline's is {sd} packets."


@CLAIMS.claim(
    "B-h",
    "MRED is as fair as RED",
    quote="We do not cover the fairness issue, which is another important factor of a queuing algorithm (section 5).",
    own=True,
    against=BASELINES,
)
def fairness(runs: Runs, baseline: str) -> Tests:
    """Compare Jain's index of the TCP flows."""
    fairer = runs.gain("jain", "MRED", over=baseline)
    yield literal(fairer.mean_over("n").each("case").above(0, margin=0.01), why="0.01 of Jain's index is small.")
    yield strict(fairer.each("case", "n").above(0, margin=0.01))


@fairness.note()
def _(runs: Runs, baseline: str) -> str:
    index = runs.of("jain", "MRED").mean_over("n").each("case")
    return f"Jain's index without and with UDP, mean over n: {index}, less the baseline's {index.less(baseline)}."


@fairness.objection("Flows of 50 s that all start at once are too short for fairness.")
def _(runs: Runs, baseline: str) -> str:
    apart = runs.gain("jain", "MRED", over=baseline, case="sole").mean_over("n")
    return f"With starts within 1 s: {apart.under('Start of the flows: uniform in 0 to 1 s')}."


@CLAIMS.claim(
    "B-i",
    "MRED's goodput is above RED's",
    quote="Its performance is quite good in terms of goodput (section 5); no goodput is printed.",
    against=BASELINES,
)
def goodput(runs: Runs, baseline: str) -> Tests:
    """Compare the goodput of the TCP flows."""
    gain = runs.gain("goodput", "MRED", over=baseline)
    yield literal((gain.mean_over("n").each("case") > 0).no_effect_below(0.01), why="0.01 Mb/s is 0.1 %.")
    yield strict((gain.each("case", "n") > 0).no_effect_below(0.01))


@goodput.note()
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("goodput", "MRED", over=baseline).mean_over("n").each("case")
    return f"Goodput less the baseline's, mean over n, without and with UDP: {gain} Mb/s."


@goodput.objection("Goodput is throughput without retransmissions, and MRED should have fewer of them.")
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("throughput", "MRED", over=baseline).mean_over("n").each("case")
    return f"Throughput less the baseline's, mean over n, without and with UDP: {gain} Mb/s."


@CLAIMS.claim(
    "B-j",
    "MRED's average queue is stabler relative to its level",
    quote="The jitter of the average (claim B-d), where MRED keeps a longer queue than RED: s.d. over mean.",
    own=True,
    against=BASELINES,
)
def relative_stability(runs: Runs, baseline: str) -> Tests:
    """Compare the standard deviation of the average over its mean at n = 40."""
    less = runs.gain("relative_sd", "MRED", over=baseline, n=40).each("case")
    yield literal(less < 0)
    yield strict(less < 0)


@relative_stability.note()
def _(runs: Runs, baseline: str) -> str:
    less = runs.gain("relative_sd", "MRED", over=baseline, n=40).each("case")
    return f"S.d. over mean less the baseline's, without and with UDP: {less}."


@relative_stability.objection("The figures show one run each, of a TCP that is not printed.")
def _(runs: Runs, baseline: str) -> str:
    less = runs.gain("relative_sd", "MRED", over=baseline, case="sole", n=40)
    return f"With starts within 1 s, TCP alone: {less.under('Start of the flows: uniform in 0 to 1 s')}."


@CLAIMS.claim(
    "B-k",
    "At 30 flows MRED carries less than RED",
    quote="Fig. 3 and Fig. 4 illustrate that when n is 30, MRED's average throughput is worse than RED's.",
    against=BASELINES,
)
def at_30_flows(runs: Runs, baseline: str) -> Tests:
    """Compare throughput at 30 flows, and with its neighbours."""
    gain = runs.gain("throughput", "MRED", over=baseline).each("case")
    yield literal(gain.at(n=30) < 0)
    yield strict(gain.at(n=30) < 0)
    yield strict(gain.at(n=(20, 30)).falls("n"), name="below 20 flows", why="n = 30 is an exception in the figures.")
    yield strict(gain.at(n=(30, 40)).grows("n"), name="below 40 flows")


@at_30_flows.note()
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("throughput", "MRED", over=baseline).at(n=(20, 30, 40))
    sole, mixed = (gain.at(case=case).each("n") for case in CASES)
    return f"Throughput less the baseline's at n = {sole.cells}: {sole} Mb/s without and {mixed} with UDP."


@at_30_flows.objection("The printed dip of 0.003 to 0.015 Mb/s is small, and n = 30 one point of a curve.")
def _(runs: Runs, baseline: str) -> str:
    lower = runs.gain("throughput", "MRED", over=baseline).at(n=(30, 40, 50)).mean_over("n").each("case")
    return (
        f"The literal form {runs.literal}. Averaged over 30, 40 and 50 flows the difference is {lower} Mb/s without "
        "and with UDP."
    )


@CLAIMS.claim(
    "B-l",
    "From 3 to 10 s the fast UDP flow makes the average queue jitter heavily",
    quote="In Fig. 7, from 3rd sec to 10th sec, we can see that the average queue's jitter is heavy for mixed flows, "
    "because of the UDP flows.",
)
def burst(runs: Runs) -> Tests:
    """Compare the standard deviation with the rest of the run, and with TCP alone."""

    def sd(quantity: str, case: str = "mixed", disciplines: tuple[str, ...] = ("RED", "MRED")) -> Numbers:
        return runs.of(quantity, case=case, n=40, discipline=disciplines).each("discipline")

    every = tuple(DISCIPLINES)
    yield literal(sd("burst_sd") > sd("rest_sd"), name="than the rest of the run")
    yield literal(sd("burst_sd") > sd("burst_sd", "sole"), name="than TCP alone")
    twice = sd("burst_sd", "mixed", every)
    yield strict(twice > 2 * sd("rest_sd", "mixed", every), name="than the rest of the run", why="Heavy: twice.")
    yield strict(twice > 2 * sd("burst_sd", "sole", every), name="than TCP alone")


@burst.note()
def _(runs: Runs) -> str:
    during, rest = (runs.of(f"{name}_sd", case="mixed", n=40).each("discipline") for name in ("burst", "rest"))
    return f"{during.cells}: s.d. of {during} packets from 3 to 10 s, {rest} from then on (n = 40, with UDP)."


@burst.objection("The average jumps when the flow starts, and falls when it stops: that is the jitter.")
def _(runs: Runs) -> str:
    during, rest = (runs.of(f"{name}_mean", case="mixed", n=40).each("discipline") for name in ("burst", "rest"))
    return (
        f"Its mean is {during} packets from 3 to 10 s and {rest} from then on ({during.cells}): the flow lifts the "
        "average once and holds it there."
    )


@CLAIMS.claim(
    "B-m",
    "MRED uses more of the buffer than RED",
    quote="In order to take full advantage of the queue buffer, drop-probability is calculated by another linear "
    "function between max_th threshold and twice max_th threshold.",
    against=BASELINES,
)
def buffer_use(runs: Runs, baseline: str) -> Tests:
    """Compare the mean queue."""
    more = runs.gain("queue", "MRED", over=baseline)
    yield literal(more.mean_over("n").each("case") > 0)
    yield strict(more.each("case", "n") > 0)


@buffer_use.note()
def _(runs: Runs, baseline: str) -> str:
    queue, lost = (runs.of(name, "MRED", case="sole", n=(5, 50)).each("n") for name in ("queue", "overflow"))
    return (
        f"TCP alone, n = {queue.cells}: mean queue {queue} of 100 packets ({queue.less(baseline)} against the "
        f"baseline); share of the packets lost to a full buffer {lost} ({lost.less(baseline)})."
    )


@buffer_use.objection("The buffer is used where the average passes max_th, which it does under many flows.")
def _(runs: Runs, baseline: str) -> str:
    more = runs.gain("queue", "MRED", over=baseline).at(n=(40, 50)).mean_over("n").each("case")
    return f"At 40 and 50 flows the mean queue less the baseline's is {more} packets, without and with UDP."


@CLAIMS.claim(
    "B-n",
    "MRED's queue is not long",
    quote="Its performance is quite good in terms of goodput, queue length and packet loss ratio (section 5).",
)
def queue_length(runs: Runs) -> Tests:
    """Compare the mean queue with max_th, and with RED's."""
    queue = runs.of("queue", "MRED").each("case", "n")
    yield literal(
        queue < 30,
        why="The text gives no number: quite good is read as RED's own aim, a queue below max_th in the mean. This is "
        "the meaning that favours it most.",
    )
    yield strict(queue.below(runs.of("queue", "RED"), margin=1), why="Not a packet longer than RED's.")


@queue_length.note()
def _(runs: Runs) -> str:
    sole, mixed = (runs.of("queue", "MRED", case=case).each("n") for case in CASES)
    return f"Mean queue at n = {sole.cells}: {sole} packets without and {mixed} with UDP."


@queue_length.objection("A longer queue is the use of the buffer that MRED is made for.")
def _(runs: Runs) -> str:
    queue, gain = (runs.gain(name, "MRED", over="RED").mean_over("n").each("case") for name in ("queue", "goodput"))
    return f"Less RED's, mean over n, without and with UDP: {queue} packets of queue, {gain} Mb/s of goodput."


@CLAIMS.claim(
    "B-o",
    "MRED that marks carries more and loses less than RED that marks",
    quote="Mark the arriving packet with probability P (pseudo code). The simulations drop it; here both disciplines "
    "mark by ECN, and a full buffer alone drops.",
    own=True,
)
def marks(runs: Runs) -> Tests:
    """Compare throughput and loss with ECN."""
    gain, less = (runs.gain(f"ecn_{name}", "MRED", over="RED") for name in ("throughput", "loss"))
    yield literal((gain.mean_over("n").each("case") > 0).no_effect_below(0.01), why="0.01 Mb/s is 0.1 %.")
    yield literal(less.mean_over("n").each("case") < 0)
    yield strict((gain.each("case", "n") > 0).no_effect_below(0.01))
    yield strict(less.each("case", "n") < 0)


@marks.note()
def _(runs: Runs) -> str:
    gain, less = (
        runs.gain(f"ecn_{name}", "MRED", over="RED").mean_over("n").each("case") for name in ("throughput", "loss")
    )
    return f"With marks, less RED's, mean over n, without and with UDP: throughput {gain} Mb/s, loss {less}."


@marks.objection("The paper simulates drops alone; its MRED is not tuned for marks.")
def _(runs: Runs) -> str:
    own = runs.of("ecn_loss", "MRED").mean_over("n").each("case")
    return (
        f"The parameters are those of the paper in both. A full buffer drops {own} under MRED, without and with UDP "
        f"({own.less('RED')} against RED): a queue that marks more gently fills up more often."
    )


@CLAIMS.claim(
    "B-p",
    "MRED is more robust to its parameters than RED",
    quote="Studies have shown that in the same parameter configuration, the robustness of the nonlinear RED algorithm "
    "is better than RED's (section 3). Here: max_p, w_q or both thresholds at half and twice their values, TCP alone, "
    "n = 40.",
    against=BASELINES,
)
def robustness(runs: Runs, baseline: str) -> Tests:
    """Compare the largest less the smallest value over seven settings."""
    for name in ("throughput", "loss", "queue"):
        less = runs.gain(f"spread_{name}", "MRED", over=baseline)
        if name != "queue":
            yield literal(less < 0)
        yield strict(less < 0)


@robustness.note()
def _(runs: Runs, baseline: str) -> str:
    rate, loss, queue = (runs.of(f"spread_{name}", "MRED") for name in ("throughput", "loss", "queue"))
    return (
        f"Largest less smallest value over the settings, and difference from the baseline: throughput {rate} "
        f"({rate.less(baseline)}) Mb/s, loss {loss} ({loss.less(baseline)}), mean queue {queue} "
        f"({queue.less(baseline)}) packets."
    )


@robustness.objection("The sentence is about other work, and robustness may be about changing traffic.")
def _(runs: Runs, baseline: str) -> str:
    gain = runs.gain("throughput", "MRED", over=baseline, case="sole").each("n")
    return f"With printed parameters the throughput less the baseline's is {gain} Mb/s at n = {gain.cells}."


@CLAIMS.finding(
    "RED whose drop probability rises as a parabola between the thresholds and on to 1 above them.",
    holds="MRED's gain on RED depends on how drops are spaced, and the paper's equation and its simulator space them "
    "differently.",
    fails="MRED gains no less on RED with ns-2's spacing of drops than with the printed one.",
    undecided="Whether MRED's gain on RED depends on how drops are spaced is undecided in these runs.",
)
def finding(runs: Runs) -> Tests:
    """Compare the gain under both spacings of drops."""
    yield literal(runs.gain("throughput", "MRED", over="RED").mean_over("n").each("case").falls("reading"))


@finding.text
def _(runs: Runs) -> str:
    printed, ns2 = (
        runs.gain("throughput", "MRED", over="RED", reading=label).mean_over("n").each("case")
        for label in (AS_PRINTED, BASE)
    )
    return (
        f"Throughput less RED's in Mb/s, mean over n, without and with UDP (printed: {printed.on_paper}): {printed} "
        f"with P = P_b / (1 - count P_b) as printed, {ns2} with ns-2's wait between drops, which the authors ran."
    )
