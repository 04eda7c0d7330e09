"""PIE: Pan et al., "PIE: A lightweight control scheme to address the bufferbloat problem", HPSR 2013."""

from aqmlab.papers.pie.paper import PAPER

__all__ = ["PAPER"]
