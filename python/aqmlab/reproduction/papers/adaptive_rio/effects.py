"""What the claims are about, seed by seed: Adaptive-RIO less RIO, and throughput over several periods."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.adaptive_rio.measure import values
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, RIO


def gain(runs: pd.DataFrame, quantity: str, case: str, x: int = 0) -> np.ndarray:
    """Return a quantity under Adaptive-RIO less that under RIO, by seed."""
    own, rio = (values(runs, quantity, case=case, discipline=name, x=x) for name in (ADAPTIVE, RIO))
    found: np.ndarray = own - rio
    return found


def over(runs: pd.DataFrame, kind: str, basis: str, which: tuple[int, ...], discipline: str) -> np.ndarray:
    """Return the first experiment's throughput averaged over some of its periods, by seed, in Mb/s."""
    by_period = [values(runs, f"{kind}_{index}_{basis}", case="experiment1", discipline=discipline) for index in which]
    found: np.ndarray = np.mean(by_period, axis=0)
    return found
