"""The reproduction of DDRED: printed numbers, measures of a run, verdicts, the search for Table I, the whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from aqmlab.papers.common import Study
from aqmlab.papers.common.engine import find
from aqmlab.papers.common.paper import CHOSEN
from aqmlab.papers.common.recorded import table_of
from aqmlab.papers.ddred import PAPER, measure, paper, paths, plan, sweep
from aqmlab.results import folders
from paper_sentences import repeated, sentences_on_claims

SEEDS = 6
FILES = plan.FILES
FORMS = ("literal", "strict")


def made_up(network, pair, *, noise=1e-4):
    """Runs: `network` gives L, d and T of a case and discipline, `pair` the two throughputs at a latency."""
    rng = np.random.default_rng(0)
    rows = []
    for discipline in plan.DISCIPLINES:
        for seed in range(1, SEEDS + 1):
            key = {"discipline": discipline, "reading": plan.BASE, "seed": seed}
            for case in ("bus", "flower"):
                lost, distance, time = (x * (1 + rng.normal(0, noise)) for x in network(case, discipline))
                numbers = {"L": lost, "S": lost * distance, "d": distance, "T": time}
                rows.append({"case": case, "latency": 0, **key, **numbers})
            for latency in plan.LATENCIES:
                far, near = (x * (1 + rng.normal(0, noise)) for x in pair(latency, discipline))
                numbers = {
                    "PCs1": far,
                    "PCs2": near,
                    "total": far + near,
                    "fairness": min(far, near) / max(far, near),
                    "second_lead": 0.4 if discipline == "DDRED" else 0.05,
                    "changes": 8 + rng.normal(0, noise) if discipline == "DDRED" else 2,
                }
                rows.append({"case": "pair", "latency": latency, **key, **numbers})
    return pd.DataFrame(rows)


def as_printed(case, discipline):
    lost, slots, time = (FILES.printed(case=case, quantity=key, discipline=discipline) for key in "LST")
    return lost, slots / lost, time


def as_in_table_1(latency, discipline):
    """Table I, that of 1 ms below 10 ms, and between its other latencies the line of the logarithms."""
    x = np.log(plan.TABLE_LATENCIES)
    latency = latency if latency >= 10 else 1
    cells = sweep.printed(discipline).reshape(-1, 2)
    return tuple(float(np.exp(np.interp(np.log(latency), x, np.log(cells[:, i])))) for i in (0, 1))


def gained(better, worse, seconds_gained, seconds_lost, *, even_better=20, even_worse=29):
    """Return gains of transfers by seed: counts of better and worse (by more than 0.5 s) and even ones, and seconds."""
    seeds = np.arange(1, SEEDS + 1)
    one = {"seed": seeds, "better": better + seeds % 3, "worse": worse + seeds % 2, "even": even_better + even_worse}
    one |= {"all_better": one["better"] + even_better, "all_worse": one["worse"] + even_worse}
    return pd.DataFrame(one | {"gained": seconds_gained + seeds % 3, "lost": seconds_lost + seeds % 2})


def completed(runs, gains=None):
    gains = pd.DataFrame(columns=["seed", *measure.sums_of(np.zeros(0))], dtype=float) if gains is None else gains
    found = paper.with_gains(runs, gains.assign(reading=plan.BASE)).assign(routers=0)
    columns = [one.column for one in PAPER.claims.words.quantities.values() if one.column and one.column not in found]
    return PAPER.complete(found.reindex(columns=[*found, *columns]))


def study_as_printed():
    return Study(PAPER, plan.Effort(), Path(), [], completed(made_up(as_printed, as_in_table_1)))


def judged(runs, gains=None):
    findings, _ = PAPER.judge(completed(runs, gains))
    return {(f.claim, f.form): f for f in findings}


def verdicts(runs, gains=None):
    return {key: str(f.verdict) for key, f in judged(runs, gains).items()}


def test_printed_numbers():
    """Spot checks against the paper; Table I has all its cells."""
    cells = [c for c in FILES.cells() if c.table == "I"]
    assert {(c.key["latency"], c.key["discipline"], c.quantity) for c in cells} == {
        (latency, d, flow) for latency in plan.TABLE_LATENCIES for d in plan.DISCIPLINES for flow in sweep.FLOWS
    }
    assert sweep.printed("RED").tolist() == [599, 641, 235, 998, 171, 1025, 123, 1079]
    assert sweep.printed("DDRED").tolist() == [1024, 198, 577, 625, 449, 686, 128, 1076]
    assert FILES.printed(case="bus", quantity="L", discipline="DDRED") == 3160
    assert FILES.printed(case="flower", quantity="S", discipline="RED") == 152595
    assert FILES.printed(case="flower", quantity="T", discipline="DDRED") == 38945


def test_printed_numbers_are_consistent():
    """Two slips of the paper: its sums contradict "higher throughput", and 237 + 214 transfers are not 500."""
    sums = {d: sweep.printed(d).reshape(-1, 2).sum(axis=1).tolist() for d in plan.DISCIPLINES}
    assert sums == {"RED": [1240, 1233, 1196, 1202], "DDRED": [1222, 1202, 1135, 1204]}
    flows = {name: FILES.printed(case="flower", quantity=name) for name in ("better", "worse", "gained", "lost")}
    assert flows["better"] + flows["worse"] == 451
    assert flows["gained"] / flows["better"] == pytest.approx(47.9, abs=0.05)
    bus, flower = (
        paper.means(study_as_printed(), case).numbers.set_index("quantity")["printed change, %"]
        for case in ("bus", "flower")
    )
    assert bus[paper.QUANTITIES["T"]] == pytest.approx(-2.2, abs=0.05)
    assert flower[paper.QUANTITIES["S"]] == pytest.approx(-48.4, abs=0.05)


def test_claims_hold_where_they_are_made_true():
    found = verdicts(made_up(as_printed, as_in_table_1), gained(237, 214, 11362, 8142))
    assert {found.pop(("C3d", form)) for form in FORMS} == {"fails"}  # Table I contradicts the text
    assert set(found.values()) == {"holds"}
    assert len(found) == 26


def test_claims_fail_where_they_are_made_false():
    def reversed_network(case, discipline):
        return as_printed(case, "RED" if discipline == "DDRED" else "DDRED")

    def reversed_pair(latency, discipline):
        far, near = as_in_table_1(latency, "RED" if discipline == "DDRED" else "DDRED")
        return (far * 1.2, near * 1.2) if discipline == "DDRED" else (far, near)

    found = verdicts(made_up(reversed_network, reversed_pair), gained(214, 237, 8142, 11362))
    assert {found.pop((claim, form)) for claim in ("C3d", "C3e") for form in FORMS} == {"holds"}
    assert set(found.values()) == {"fails"}


def test_claims_are_undecided_where_nothing_differs():
    found = verdicts(made_up(lambda case, _: as_printed(case, "RED"), lambda *_: (600, 600), noise=0.01))
    same = ("C1a", "C1b", "C1c", "C1d", "C2b", "C2c", "C3c", "C3d")
    assert {found[claim, "literal"] for claim in same} == {"no effect", "undecided"}
    # With no difference some run has the other sign; "approximately 22 %" excludes no difference.
    assert {found[claim, "strict"] for claim in same[:6]} == {found["C2a", "literal"]} == {"fails"}


def with_times(runs, percent):
    """Let T on the bus change by so many percent in each run."""
    bus = runs["case"] == "bus"
    red = runs.loc[bus & (runs["discipline"] == "RED"), "T"].to_numpy()
    runs.loc[bus & (runs["discipline"] == "DDRED"), "T"] = red * (1 + np.array(percent) / 100)
    return runs


def test_no_sentence_on_the_claims_is_there_twice():
    undecided = made_up(lambda case, _: as_printed(case, "RED"), lambda *_: (600, 600), noise=0.01)
    for runs in (made_up(as_printed, as_in_table_1), undecided, of_transfers(BY_DDRED, BURSTS, 1.0)):
        found = sentences_on_claims(*PAPER.judge(completed(runs, gained(236, 210, 10080, 7822))))
        assert len(found) > 40
        assert repeated(found) == []


def test_a_claim_on_averages_may_fail_in_single_runs():
    found = judged(with_times(made_up(as_printed, as_in_table_1), [-3, -4, -5, -3, -6, 1]))
    assert str(found["C1d", "literal"].verdict) == "holds"
    assert str(found["C1d", "strict"].verdict) == "fails"
    assert (
        "Objection: The text speaks of averages. Answer: The literal form, which judges the mean, holds: -3.3"
        in found["C1d", "strict"].reasons
    )
    assert "Objection" not in found["C1c", "strict"].reasons


def test_an_undecided_claim_names_the_seeds_that_would_decide():
    found = judged(with_times(made_up(as_printed, as_in_table_1), [-3, -4, -5, 2, -3, 3]))
    assert str(found["C1d", "literal"].verdict) == "undecided"
    assert "seeds would decide it" in found["C1d", "literal"].found


def test_transfers_that_hardly_change_count_only_in_the_strict_form():
    """Means over 11 runs: 236 better and 210 worse by more than 0.5 s, 12 faster and 40 slower by less."""
    runs = made_up(as_printed, as_in_table_1)
    found = judged(runs, gained(236, 210, 10080, 7822, even_better=12, even_worse=40))
    assert [str(found["C2d", form].verdict) for form in FORMS] == ["holds", "fails"]
    assert "40 are slower and 12 faster" in found["C2d", "strict"].reasons
    assert {form: found["C2d", form].printed for form in FORMS} == {"literal": "agree", "strict": "agree"}


def test_table_1_contradicts_the_higher_throughput():
    found = judged(made_up(as_printed, as_in_table_1))
    assert {found["C3d", form].printed for form in FORMS} == {"contradict"}
    assert "The printed numbers contradict it at latency in ms = 1, 20, 50." in found["C3d", "strict"].found
    assert "Objection: The sentence means the favoured flow." in found["C3d", "strict"].reasons
    others = {key: f.printed for key, f in found.items() if key[0] != "C3d"}
    assert set(others.values()) == {"agree", ""}


def test_table_1_has_the_order_at_20_ms_from_one_run():
    def pair(latency, discipline):
        return (640, 540) if (latency, discipline) == (20, "DDRED") else as_in_table_1(latency, discipline)

    found = judged(made_up(as_printed, pair))
    assert [str(found["C3c", form].verdict) for form in FORMS] == ["holds", "fails"]
    assert "KB/s there, PCs1 ahead by +100" in found["C3c", "strict"].reasons


RED_NUMBERS = {
    "time_short": 10, "time_long": 100, "bandwidth": 2000, "flow_mean": 100, "flow_median": 50, "jain": 0.7,
    "kilobytes": 3e5, "lossy": 14, "lossy_equal": 5, "S": 1000, "T": 3000,
}  # fmt: skip
BY_DDRED = {
    "time_short": 1.3, "time_long": 0.7, "bandwidth": 1.1, "flow_mean": 1.1, "flow_median": 1.2, "jain": 1.05,
    "kilobytes": 1, "lossy": 0.8, "lossy_equal": 0.8, "S": 0.5, "T": 0.95,
}  # fmt: skip
BURSTS = {"RED": 1.2, "DDRED": 1.7, plan.TAIL_DROP: 5.0}


def of_transfers(changes, bursts, method_2):
    """Runs with DDRED's numbers as functions of RED's, lengths of bursts, and S and T under method 2 against RED's."""
    rng, rows = np.random.default_rng(1), []
    for seed in range(1, SEEDS + 1):
        at = {"reading": plan.BASE, "seed": seed}
        for case in plan.NETWORKS:
            under = {"RED": dict.fromkeys(changes, 1), "DDRED": changes, plan.METHOD_2: {"S": method_2, "T": method_2}}
            for name, factors in under.items():
                numbers = {key: RED_NUMBERS[key] * x * (1 + rng.normal(0, 1e-4)) for key, x in factors.items()}
                rows.append({"case": case, "latency": 0, "discipline": name, **at, **numbers})
        for name, length in bursts.items():
            for latency in plan.TABLE_LATENCIES:
                burst = length * (1 + rng.normal(0, 1e-4))
                rows.append({"case": "pair", "latency": latency, "discipline": name, **at, "burst": burst})
    return pd.DataFrame(rows)


OF_TRANSFERS = ("C2e", "C3f", "C4a", "C4b", "C4c", "C4d", "C5")


def test_claims_on_transfers_routers_and_bursts():
    found = judged(of_transfers(BY_DDRED, BURSTS, 0.5))
    assert {str(found[claim, form].verdict) for claim in OF_TRANSFERS for form in FORMS} == {"holds"}
    turned = {key: 1 / x for key, x in BY_DDRED.items()}
    found = judged(of_transfers(turned, {"RED": 1.7, "DDRED": 1.2, plan.TAIL_DROP: 1.0}, 1.5))
    assert {str(found[claim, form].verdict) for claim in OF_TRANSFERS for form in FORMS} == {"fails"}
    assert "over the sum of their times change by -5.0" in found["C4b", "literal"].reasons


def of_single_steps(sign):
    """Runs of losses, recoveries, forms and saved slots, as the paper says for 1 and against it for -1."""
    rng, rows = np.random.default_rng(2), []
    for seed in range(1, SEEDS + 1):
        at = {"reading": plan.BASE, "seed": seed, "latency": 0}
        x = 1 + rng.normal(0, 1e-3)
        for latency in plan.TABLE_LATENCIES:
            both = {"RED": (0.5, 0.6, 0.0), "DDRED": (0.5 + 0.2 * sign, 0.6 + 0.2 * sign, 0.1)}
            for name, (same, near, lag) in both.items():
                losses = {"same_flow": same * x, "near_losses": near * x, "loss_lag": lag, "burst": 1.2 * x}
                recovery = {"recovery_near": (2 - sign) * x, "recovery_far": 2 * x} if name == "DDRED" else {}
                rows.append({**at, "case": "pair", "latency": latency, "discipline": name, **losses, **recovery})
        baseline = {"S": 1000.0, "L": 500.0, "T": 3000.0, "time_short": 10.0, "time_long": 50.0}
        better = baseline | {"S": 1000 - 300 * sign, "time_long": 50 - 20 * sign}
        for case in plan.NETWORKS:
            for name in (plan.TAIL_DROP, plan.WITH_ECN[0], *plan.ON_TAIL_DROP, plan.WITH_ECN[1]):
                numbers = baseline if name in (plan.TAIL_DROP, plan.WITH_ECN[0]) else better
                numbers = {key: value * (1 + rng.normal(0, 1e-4)) for key, value in numbers.items()}
                rows.append({**at, "case": case, "discipline": name, **numbers})
            rows.append({**at, "case": case, "discipline": "DDRED", "together": sign * x})
    return pd.DataFrame(rows)


def test_claims_on_single_steps():
    claims = ("C1e", "C3g", "C3h", "C6a", "C6b")
    for sign, verdict in ((1, "holds"), (-1, "fails")):
        found = judged(of_single_steps(sign))
        assert {str(found[claim, form].verdict) for claim in claims for form in FORMS} == {verdict}


def test_the_mean_of_the_products_is_the_correlation():
    """Another reading has savings of its own; a network without S and T has none."""
    runs = made_up(as_printed, as_in_table_1, noise=0.1)
    runs = pd.concat([runs, runs.assign(reading="other", T=runs["T"] + runs["S"])], ignore_index=True)
    found = paper.with_savings(runs.assign(routers=0))
    for (case, reading), own in found[found["case"].isin(plan.NETWORKS)].groupby(["case", "reading"]):
        by = own.pivot(index="seed", columns="discipline", values=["S", "T"])
        slots, times = (by[key]["DDRED"] - by[key]["RED"] for key in ("S", "T"))
        assert own["together"].mean() == pytest.approx(np.corrcoef(slots, times)[0, 1]), (case, reading)
    assert found.loc[(found["discipline"] == "RED") | (found["case"] == "pair"), "together"].isna().all()


def test_recovery_of_each_flow(tmp_path):
    """PCs1 is flow 0: lost at 2 s and back at 2.5 s; PCs2 is lost at 3 and 3.1 s, and back 0.1 s later each time."""
    none = float("nan")
    packets = pd.DataFrame({
        "offered_s": [0.5, 0.9, 2.0, 2.5, 3.0, 3.1, 3.2, 5.0, 6.0],
        "flow": [0, 0, 0, 0, 1, 1, 1, 0, 0],
        "seq": [1, 1, 7, 7, 7, 7, 7, 9, 7],
        "packet": ["data"] * 8 + ["ack"],
        "dropped_s": [0.5, none, 2.0, none, 3.0, 3.1, none, 5.0, none],
    })  # fmt: skip
    folder = run_folder(tmp_path, packets=packets)
    assert paths.recovery_of(folder) == {
        "recovery_far": pytest.approx(0.5),
        "recovery_near": pytest.approx(0.1),
    }
    assert paths.recovery_of(tmp_path / "none") == {}


def test_the_finding_is_about_long_and_short_paths():
    runs = completed(of_transfers(BY_DDRED, BURSTS, 0.5))
    found = find(PAPER.claims, runs, cells=FILES.cells())
    assert str(found.verdict) == "holds"
    assert "on the shortest paths +30" in found.shows
    assert "on the longest -30" in found.shows


def test_path_lengths_and_numbers_of_a_run(tmp_path):
    """On the bus h1 to h2 pass two routers, h1 and h8 eight; the flower's longest paths have eleven."""
    bus, flower = (plan.setup(case, "DDRED", seeds=1) for case in plan.NETWORKS)
    between = paths.routers_between(bus.plan)
    assert len(between) == 56
    assert (between["h1", "h2"], between["h1", "h8"], between["h8", "h2"]) == (2, 8, 7)
    lengths = set(paths.routers_between(flower.plan).values())
    assert (min(lengths), max(lengths)) == (2, 11)
    made = transfers([4.0, 4.0, 10.0]).assign(to=["h2", "h3", "h8"], size_bytes=[8000, 3000, 8000])
    drops = pd.DataFrame({"link": ["h1->r1", "r1->r2", "r1->h1", "r2->r3", "r3->r4"], "data_drops": [9, 2, 1, 1, 0]})
    folder = run_folder(tmp_path, flows=made.assign(**{"from": ["h1", "h2", "h1"]}), drop_distances=drops)
    assert paths.times_by_length(bus, folder) == {2: 3.5, 8: 8.0}
    found = paths.shares_of(bus, folder)
    assert (found["time_short"], found["time_long"], found["bandwidth"]) == (3.5, 8.0, 1.9)
    assert (found["flow_mean"], found["flow_median"]) == (pytest.approx(4 / 3), 1.0)
    assert found["jain"] == pytest.approx(16 / 3 / 6)
    assert paths.lossy_routers(folder) == {"lossy": 2.0, "lossy_equal": pytest.approx(1.6)}


def test_figure_1_has_the_thresholds_of_the_runs():
    chart = paper.figure_1(study_as_printed()).chart
    for series in chart.series:
        curve = dict(zip(series.x, series.y, strict=True))
        assert (curve[6.25], curve[12.5]) == (0, pytest.approx(0.05))
    assert "6.25 and 18.75 packets of 500 B" in chart.caption


def test_claims_without_their_network_are_left_out():
    runs = made_up(as_printed, as_in_table_1)
    for case, ids in (("bus", ["C1a", "C1b", "C1c", "C1d"]), ("pair", ["C3a", "C3b", "C3c", "C3d", "C3e"])):
        assert list(verdicts(runs[runs["case"] == case])) == [(claim, form) for claim in ids for form in FORMS]


def test_where_the_two_flows_are_equal():
    assert measure.crossing(made_up(as_printed, as_in_table_1)) == pytest.approx(17.4, abs=0.1)
    assert np.isnan(measure.crossing(made_up(as_printed, as_in_table_1), discipline="RED"))


def run_folder(folder, **made):
    """A folder as a run leaves it, with these tables."""
    tables_of = {name: pa.Table.from_pandas(table, preserve_index=False) for name, table in made.items()}
    folders.write_seed(folder, {"seed": 1}, tables_of)
    return folder


def test_losses_by_distance(tmp_path):
    """In L all data packets count, in S those lost in the workstation's own queue weigh nothing."""
    drops = pd.DataFrame({"link": ["h1->r1", "r1->r2", "r2->r3", "r2->h2"], "distance": [0, 1, 2, 2]})
    drops = drops.assign(drops=[7, 5, 1, 2], data_drops=[6, 3, 1, 1])
    folder = run_folder(tmp_path / "a", drop_distances=drops, flows=transfers([4.0, 4.0, 4.0]))
    assert [x.tolist() for x in measure.losses_of(folder)] == [[0, 1, 2], [6, 3, 2], [7, 5, 3]]
    found = measure.network_of(folder)
    assert (found["L"], found["S"], found["d"], found["T"]) == (11, 7, 7 / 11, 9.0)
    assert (found["L_routers"], found["L_all"], found["S_all"], found["unfinished"]) == (5, 8, 11, 0)
    other = measure.counted(pd.DataFrame([found]), {"L": "L_all", "S": "S_all"})
    assert (other["L"][0], other["d"][0]) == (8, 11 / 8)
    without = measure.network_of(run_folder(tmp_path / "b", flows=transfers([4.0, 4.0, 4.0])))
    assert (without["L"], without["S"]) == (0, 0)


def transfers(last, *, size=10):
    return pd.DataFrame(
        {
            "flow": ["ftp.0", "ftp.1", "ftp.2"],
            "from": ["h1", "h2", "h3"],
            "to": ["h2", "h3", "h1"],
            "size_packets": [size] * 3,
            "start_s": [0.0, 1.0, 2.0],
            "first_sent_s": [0.0, 1.0, 2.0],
            "last_received_s": last,
            "finish_s": [x + 0.1 for x in last],
        }
    )


def test_transfers_gain_and_lose(tmp_path):
    red = run_folder(tmp_path / "red", flows=transfers([4.0, 4.0, 4.0]))
    ddred = run_folder(tmp_path / "ddred", flows=transfers([3.0, 6.0, 4.0]))
    assert measure.transfer_times(table_of(red, "flows")).tolist() == [4.0, 3.0, 2.0]
    assert measure.gains_of(red, ddred).tolist() == [1.0, -2.0, 0.0]
    assert measure.sums_of(np.array([3.0, 0.5, 0.2, 0.0, -0.4, -0.6])) == {
        "better": 1, "worse": 1, "even": 4, "gained": 3.0, "lost": 0.6, "all_better": 3, "all_worse": 2
    }  # fmt: skip
    other = run_folder(tmp_path / "other", flows=transfers([3.0, 6.0, 4.0], size=11))
    with pytest.raises(ValueError, match="the same transfers"):
        measure.gains_of(red, other)


def test_who_leads(tmp_path):
    """PCs1 leads in the second half of 3 s; of the bins from 1 s on it leads in three of four, after one change."""
    time = np.arange(0.1, 2.95, 0.1).round(1)
    far = np.where(time <= 1.5, 100 * time, 150 + 300 * (time - 1.5))
    rows = [pd.DataFrame({"t_s": time, "flow": name, "arrived_bytes": total}) for name, total in
            (("PCs1", far), ("PCs2", 200 * time))]  # fmt: skip
    folder = run_folder(tmp_path / "run", flow_samples=pd.concat(rows))
    start, rates = measure.rates_of(folder, 0.5)
    assert start.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert rates["PCs1"] * 1000 == pytest.approx([100, 100, 100, 300, 300])
    assert measure.lead_of(folder) == {"second_lead": pytest.approx(1 / 3), "changes": 1.0}


def test_means_and_table_1_beside_the_printed():
    study = study_as_printed()
    bus = paper.means(study, "bus").numbers.set_index("quantity")
    assert bus["DDRED ratio"].to_numpy() == pytest.approx(1, abs=1e-3)
    assert bus["measured change, %"].iloc[0] == pytest.approx(16.0, abs=0.1)
    table = paper.table_1(study).numbers
    for column in (f"{discipline} {flow}" for discipline in plan.DISCIPLINES for flow in ("PCs1", "PCs2")):
        assert table[f"{column} ratio"].to_numpy() == pytest.approx(1, abs=1e-3)
    fits = paper.sizes(study, "readings", {CHOSEN: study.base}, "").numbers.iloc[0]
    assert fits[["Table I DDRED, rms log ratio", "bus RED, rms log ratio"]].max() < 1e-3
    assert fits["equal at, ms"] == pytest.approx(17.4, abs=0.1)


def test_the_score_of_a_reading_by_hand():
    paper = sweep.printed("DDRED")
    runs = np.stack([paper * 0.9, paper * 1.1])
    found = sweep.score(runs, "DDRED")
    assert found["DDRED error"] == pytest.approx(0.0, abs=1e-12)
    assert (found["DDRED cells inside"], found["DDRED row inside"]) == (8, True)
    runs = np.stack([2 * paper * 0.999, 2 * paper * 1.001, 2 * paper])
    found = sweep.score(runs, "DDRED")
    assert found["DDRED error"] == pytest.approx(np.log(2))
    assert (found["DDRED cells inside"], found["DDRED row inside"]) == (0, False)


def test_the_search_asks_each_reading_once():
    choices = sweep.choices()
    assert len({tuple(choice.values.values()) for choice in choices}) == len(choices) > 300
    first = {name: next(iter(values)) for name, values in sweep.axes().items()}
    assert first in [choice.values for choice in choices]
    assert all(choice.overrides("RED").get("queue.router.ties") is None for choice in choices)
    quick = [choice for choice in choices if choice.quick]
    assert 1 < len(quick) < 12


def test_effort_is_read_back():
    for effort in (plan.Effort.of(quick=True), plan.Effort.of(quick=False), plan.Effort.of(quick=False, seeds=7)):
        assert plan.Effort.from_json(json.loads(json.dumps(effort.to_json()))) == effort
    assert plan.Effort.of(quick=False).flower_seeds == plan.PAPER_RUNS


def test_readings_and_forms_change_what_they_name():
    effort = plan.Effort.of(quick=False)
    for reading in plan.readings(effort) + plan.forms(effort):
        for case in plan.cases_of(reading):
            latency = plan.FIGURE_LATENCY if case == "pair" else 0
            base = plan.setup(case, "DDRED", seeds=2, latency=latency)
            other = plan.setup(case, "DDRED", seeds=2, latency=latency, reading=reading)
            assert other.plan.hash != base.plan.hash, (reading.label, case)


def test_scenarios_are_the_papers():
    bus, flower, pair = (plan.setup(case, "DDRED", seeds=1).plan for case in ("bus", "flower", "pair"))
    assert (len(bus.flows), len(flower.flows), len(pair.flows)) == (100, 500, 2)
    assert {link.rate_bps for one in (bus, flower, pair) for link in one.links} == {10e6}
    routers = {link.from_ for link in flower.links} - {link.from_ for link in flower.links if link.from_[0] == "h"}
    assert len(routers) == 40
    assert {link.aqm for one in (bus, flower, pair) for link in one.links} == {"ddred"}
