"""The matrix of claims by form, sorted by verdict, with a small plot of the differences for each verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aqmlab.papers.common.claims import COUNTED, FORMS, Finding, Part, by_claim
from aqmlab.reporting import differences
from aqmlab.reporting.fragments import ClaimCell, MatrixClaim, claim_anchor
from aqmlab.statistics import Verdict

COLUMNS = {"literal": "as the authors state it", "strict": "our stricter form"}
"""Each form with the words above its column."""
ORDER = (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.NO_EFFECT, Verdict.FAILS, Verdict.NOT_ENGAGED)
HEADINGS = {
    Verdict.HOLDS: "Hold as the authors state them",
    Verdict.UNDECIDED: "Undecided as the authors state them",
    Verdict.NO_EFFECT: "Show no effect of half the printed size",
    Verdict.FAILS: "Fail as the authors state them",
    Verdict.NOT_ENGAGED: "Not engaged, so never tested",
}
PARTLY = "Hold in part"


def matrix(findings: Iterable[Finding], parts: Sequence[Part]) -> list[tuple[str, list[MatrixClaim]]]:
    """Return the claims under their headings, each claim once.

    Parameters
    ----------
    findings, parts
        All verdicts, and their evidence.
    """
    evidence: dict[tuple[str, str, str, str], list[Part]] = {}
    for part in parts:
        evidence.setdefault((part.claim, part.against, part.reading, part.form), []).append(part)
    claims: dict[str, list[list[Finding]]] = {}
    for own in by_claim(findings):
        claims.setdefault(own[0].claim, []).append(own)
    groups: dict[str, list[MatrixClaim]] = {}
    for claim, rows in claims.items():
        groups.setdefault(_heading(rows), []).append(_claim(claim, rows, evidence))
    order = [HEADINGS[Verdict.HOLDS], PARTLY, *list(HEADINGS.values())[1:]]
    return [(heading, groups[heading]) for heading in order if heading in groups]


def about(finding: Finding) -> str:
    """Return the scope of a verdict: baseline, reading, origin of the question; "" for the whole claim."""
    words = []
    if finding.against:
        words.append(f"against {'classic RED' if finding.against == 'RED' else finding.against}")
    if finding.reading:
        words.append(finding.reading)
    if finding.own:
        words.append("our own question")
    return ", ".join(words)


def _first(own: Sequence[Finding]) -> Verdict:
    """Return the verdict on the literal form, or on the only form."""
    return min(own, key=lambda finding: FORMS.index(finding.form)).verdict


def _heading(rows: Sequence[Sequence[Finding]]) -> str:
    verdicts = {_first(own) for own in rows}
    if Verdict.HOLDS in verdicts and len(verdicts) > 1:
        return PARTLY
    return HEADINGS[max(verdicts, key=ORDER.index)] if Verdict.FAILS not in verdicts else HEADINGS[Verdict.FAILS]


def _claim(
    claim: str, rows: Sequence[Sequence[Finding]], evidence: Mapping[tuple[str, str, str, str], Sequence[Part]]
) -> MatrixClaim:
    lines: list[tuple[str, list[ClaimCell | None]]] = []
    for own in sorted(rows, key=lambda own: ORDER.index(_first(own))):
        forms = {finding.form: finding for finding in own}
        cells: list[ClaimCell | None] = []
        said = ""
        for form in FORMS:
            finding = forms.get(form)
            if finding is None:
                cells.append(None)
                continue
            tested = evidence.get((claim, finding.against, finding.reading, form), ())
            cells.append(_cell(finding, tested, said))
            said = finding.decided_by
        lines.append((about(own[0]), cells))
    return MatrixClaim(claim, rows[0][0].title, f"#{claim_anchor(claim)}", lines)


def _cell(finding: Finding, parts: Sequence[Part], said: str) -> ClaimCell:
    counts = {verdict: sum(part.verdict is verdict for part in parts) for verdict in ORDER}
    words = [f"{count} {COUNTED[verdict][count > 1]}" for verdict, count in counts.items() if count]
    alt = f"{finding.claim}, {finding.form} form: of {len(parts)} differences {', '.join(words)}."
    drawn = [
        differences.Measured(
            part.difference.mean,
            part.difference.interval.low,
            part.difference.interval.high,
            str(part.verdict),
            part.printed,
            part.bounds,
            part.what,
            part.case,
        )
        for part in parts
    ]
    return ClaimCell(
        str(finding.verdict),
        differences.plot(drawn, alt),
        finding.decided_by if finding.decided_by != said else "",
    )
