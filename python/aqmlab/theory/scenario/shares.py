"""Which theory of shares by class a link has, by its victim rule and its adaptation, or in one line why it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.theory.scenario import adaptive_rio_shares, ddred_shares, pc_red_shares
from aqmlab.theory.scenario.class_shares import ClassShares

if TYPE_CHECKING:
    from aqmlab.theory.scenario.model import LinkModel

ALIKE = ("arriving", "")
"""Victim rules that treat all packets alike."""


def shares_of(model: LinkModel) -> ClassShares:
    """Return the theory of the classes of a link, or the reason why it has no theory."""
    victim, adaptation = victim_of(model), str(model.link.parameters.get("adaptation", ""))
    special = {"pc-red": "PC-RED", "ddred": "DDRED"}.get(victim) or {"adaptive-rio": "Adaptive-RIO"}.get(adaptation)
    if special is None:
        if victim in ALIKE:
            return ClassShares()
        return ClassShares(reason=f"no theory of shares by class: none is known for the victim rule {victim}")
    if model.kind != "fluid":
        return ClassShares(reason=f"no theory of {special}'s shares by class: {model.reason or 'no greedy TCP flows'}")
    if victim == "pc-red":
        return pc_red_shares.shares_of(model)
    if victim == "ddred":
        return ddred_shares.shares_of(model)
    return adaptive_rio_shares.shares_of(model)


def victim_of(model: LinkModel) -> str:
    """Return the rule that chooses which packet is dropped."""
    return str(model.link.parameters.get("victim", ""))
