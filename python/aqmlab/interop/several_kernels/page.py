"""Kernels side by side: as rows and sentences for a terminal, and as a page."""

from __future__ import annotations

import pandas as pd

from aqmlab.errors import counted
from aqmlab.interop.crosscheck.agreement import Agreement, Line, mean_of
from aqmlab.interop.crosscheck.page import SHOWN, margin_words
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.several_kernels.outcome import Change, KernelCheck
from aqmlab.live.vm.kernels import FLAVOUR
from aqmlab.reporting.fragments import mean_text
from aqmlab.reporting.page import Page


def short(release: str) -> str:
    """Return a release without Debian's suffix.

    >>> short("6.12.95+deb12-cloud-amd64"), short("6.1.0-50-cloud-amd64")
    ('6.12.95', '6.1.0-50')
    """
    return release.removesuffix(FLAVOUR).partition("+")[0]


def heading(found: KernelCheck) -> str:
    """Return the heading of the tables of measures."""
    n = len(found.seeds)
    return f"{found.scenario.name}, {counted(n, 'run')} in each kernel, 95 % intervals"


def measures(found: KernelCheck, qdisc: str) -> pd.DataFrame:
    """Return a row for each measure and place of a discipline, a column for each kernel that has it."""
    kernels = {image.release: found.of(image.release, qdisc) for image in found.kernels}
    there = dict.fromkeys(key for runs in kernels.values() for run in runs.values() for key in run.measured)
    rows = []
    for measure, place in sorted(there, key=lambda key: list(Measure).index(key[0])):
        title, factor = SHOWN[measure]
        values = {
            release: [run.measured[measure, place] for run in runs.values() if (measure, place) in run.measured]
            for release, runs in kernels.items()
            if runs
        }
        if measure is Measure.MARKS and not any(any(own) for own in values.values()):
            continue
        means = {short(release): mean_text(mean_of(measure, own), factor) for release, own in values.items()}
        rows.append({"measure": title, "at": place, **means})
    return pd.DataFrame(rows)


def in_words(change: Change) -> str:
    """Return what changed of a discipline from one kernel to another."""
    pair = f"{short(change.release)} against {short(change.base)}"
    if change.same_bytes:
        return f"{pair}: nothing changed, all reports are the same to the byte."
    parts = [f"{_named(line)} {line.words}" for line in change.changed]
    for agreement in (Agreement.SAME, Agreement.EQUAL, Agreement.UNDECIDED):
        names = [_named(line) for line in change.lines if line.agreement is agreement]
        if names:
            parts.append(f"{agreement}: {', '.join(names)}")
    settings = f"settings changed: {', '.join(change.settings)}" if change.settings else "the same settings"
    verdict = "changed" if change.changed or change.settings else "no change found"
    return f"{pair}: {verdict}. {'; '.join([*parts, settings])}."


def margins_of_kernels(factor: float) -> str:
    """Return the sentences that define "equal" and "differs" for runs that share their seeds."""
    return (
        "Equal: the 90 % interval of the paired differences (Student; two one-sided tests at 5 %) lies within "
        f"{margin_words(factor)}. Differs: it lies wholly outside. Undecided: neither; more seeds decide."
    )


def page_of(found: KernelCheck) -> Page:
    """Make the page."""
    kernels = ", ".join(short(image.release) for image in found.kernels)
    lead = f"Linux's own queue disciplines in the kernels {kernels}, in virtual time. {heading(found)}."
    page = Page(f"{found.scenario.name}: in several kernels", lead)
    changes = found.changes()
    for qdisc in found.qdiscs:
        page.section(qdisc)
        page.table(measures(found, qdisc), caption="Means with their 95 % intervals.")
        for change in changes:
            if change.qdisc == qdisc:
                page.text(in_words(change))
    for note in found.notes:
        page.text(f"Not run: {note}.", note=True)
    page.text(margins_of_kernels(found.margin), note=True)
    page.section("Provenance")
    page.table(_images(found), caption=f"Images of the emulated machine; QEMU {found.emulator}.")
    page.table(
        _digests(found),
        caption="SHA-256 of all that each guest reported: a repeated run has the same.",
    )
    page.topology(found.scenario)
    page.code(found.scenario.normalized, fold="Scenario file, overrides applied")
    return page


def _named(line: Line) -> str:
    title = SHOWN[line.measure][0].partition(",")[0]
    return f"{title} of {line.place}" if line.measure is Measure.GOODPUT else title


def _images(found: KernelCheck) -> pd.DataFrame:
    rows = [
        {
            "release": image.release,
            "packages": ", ".join(image.manifest["packages"]),
            **{f"SHA-256 of the {part}": value for part, value in image.manifest["sha256"].items()},
        }
        for image in found.kernels
    ]
    return pd.DataFrame(rows)


def _digests(found: KernelCheck) -> pd.DataFrame:
    rows = [
        {"kernel": short(release), "discipline": qdisc, "seed": seed, "SHA-256": run.digest}
        for (release, qdisc, seed), run in found.runs.items()
    ]
    return pd.DataFrame(rows)
