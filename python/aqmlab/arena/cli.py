"""The commands about policies: evaluate one on hold-out scenarios, put one into a scenario."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import File, Group, Json, Workers, app, command
from aqmlab.cli.output import print_json, print_rows, print_screen, print_wrapped, say, table_lines, warn
from aqmlab.errors import counted, minus

if TYPE_CHECKING:
    from aqmlab.arena.evaluation import Evaluated

arena = typer.Typer(
    name="arena",
    cls=Group,
    help="Judge a policy that sets a queue: evaluate, apply, list.",
    epilog="aqmlab arena evaluate policy.toml",
    no_args_is_help=True,
)
app.add_typer(arena)

PolicyText = Annotated[
    str, typer.Argument(help="A TOML file with a queue's keys, or module:function.", metavar="POLICY")
]
ARROWS = {"higher": " ↑", "lower": " ↓", "equal": " ="}


@command(
    "aqmlab arena evaluate policy.toml",
    "aqmlab arena evaluate my_agent:decide --scenario lte --seeds 20",
    of=arena,
    long=True,
)
def evaluate(
    policy: PolicyText,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", help="Only this hold-out scenario. May be given often.", metavar="NAME"),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Held-out seeds.", min=2, metavar="N")] = 10,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare a policy with tuned baselines on hold-out scenarios. Python: aqmlab.arena.evaluation.evaluate."""
    from aqmlab.arena.evaluation import evaluate as work

    found = work(policy, scenarios=scenario or (), seeds=seeds, workers=workers)
    for line in found.warnings:
        warn(line)
    if as_json:
        print_json(_data(found))
        return
    _show(found)


@command("aqmlab arena apply policy.toml example:dumbbell-red --out mine.toml", of=arena)
def apply(
    policy: PolicyText,
    file: File,
    out: Annotated[Path, typer.Option("--out", help="The scenario to write.", metavar="FILE")],
    link: Annotated[
        str | None, typer.Option("--link", help="The link of the queue; default: the managed one.", metavar="NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """Put the settings of a policy into a scenario. Python: aqmlab.arena.policies.applied."""
    from aqmlab.arena.policies import applied, read_policy
    from aqmlab.results.outputs import check_ending, save_output
    from aqmlab.results.quantities import bottleneck_of
    from aqmlab.scenario.file import Scenario

    check_ending(out, "toml")
    plan = Scenario.load(file)
    name = link or bottleneck_of([one.name for one in plan.links], [one.aqm for one in plan.links])
    found = applied(read_policy(policy), plan, name)
    for problem in found.warnings:
        warn(str(problem))
    save_output(out, found.normalized)
    if as_json:
        print_json({"scenario": str(out), "link": name})
        return
    say(f"Scenario: {out}")


@command("aqmlab arena list", name="list", of=arena)
def list_(as_json: Json = False) -> None:
    """List the hold-out scenarios and the baselines. Python: aqmlab.arena.holdout.HOLD_OUT."""
    from aqmlab.arena.holdout import HELD_OUT_FROM, HOLD_OUT

    if as_json:
        scenarios = {one.name: {"about": one.about, "baselines": one.baselines()} for one in HOLD_OUT}
        print_json({"held_out_from": HELD_OUT_FROM, "scenarios": scenarios})
        return
    print_rows(
        ["scenario", "about", "baselines"], [[one.name, one.about, ", ".join(one.baselines())] for one in HOLD_OUT]
    )
    print_wrapped(f"Seeds from {HELD_OUT_FROM:,} on are held out.")


def _data(found: Evaluated) -> dict[str, object]:
    return {
        "policy": found.policy,
        "seeds": found.seeds,
        "summary": found.table.to_dict("records"),
        "comparisons": {
            name: {
                "link": one.link,
                "labels": one.aqm,
                "tests": one.tests,
                "means": one.means.to_dict("records"),
                "differences": one.differences.to_dict("records"),
            }
            for name, one in found.comparisons.items()
        },
    }


def _show(found: Evaluated) -> None:
    """Print the differences of the policy against each baseline."""
    from aqmlab.arena.evaluation import METRICS
    from aqmlab.results.quantities import quantity

    rows: dict[tuple[str, str], list[str]] = {}
    for row in found.table.to_dict("records"):
        place = rows.setdefault((row["scenario"], row["baseline"]), [])
        place.append(_percent(row["percent"]) + ARROWS.get(row["verdict"], ""))
    last, lines = "", []
    for (scenario, baseline), cells in rows.items():
        lines.append(["" if scenario == last else scenario, baseline, *cells])
        last = scenario
    heads = [" ".join(quantity(key).head).strip() for key in METRICS]
    print_screen(
        _answer(found),
        f"{found.policy}: differences against tuned baselines, {counted(len(found.seeds), 'held-out seed')}",
        table_lines(["scenario", "against", *heads], lines, 2, to_right=True),
        "↑ higher, ↓ lower than the baseline: decided (5 %, Holm's correction over the tests of a scenario); no arrow: "
        "undecided.",
    )


def _answer(found: Evaluated) -> str:
    """Say how often the policy is decidedly above and below a baseline, quantity by quantity."""
    from aqmlab.arena.evaluation import METRICS
    from aqmlab.errors import joined
    from aqmlab.results.quantities import quantity

    parts: dict[str, list[str]] = {}
    for key in METRICS:
        verdicts = found.table["verdict"][found.table["metric"] == key]
        counts = [(int((verdicts == word).sum()), word) for word in ("lower", "higher")]
        decided = " and ".join(f"{word} in {count}" for count, word in counts if count) or "undecided in all"
        parts.setdefault(decided, []).append(quantity(key).in_sentence)
    words = "; ".join(f"{joined(titles)} {decided}" for decided, titles in parts.items())
    cells = len(found.table.drop_duplicates(["scenario", "baseline"]))
    return f"{found.policy}, of {counted(cells, 'comparison')} with a tuned baseline: {words}."


def _percent(value: float) -> str:
    """Return a relative difference as text.

    >>> _percent(-3.456), _percent(1234.5), _percent(math.nan)
    ('−3.46 %', '+1,234 %', '–')
    """
    if not math.isfinite(value):
        return "–"
    return minus(f"{value:+.3g} %" if abs(value) < 999.5 else f"{value:+,.0f} %")
