"""Scores of calls: delays and losses after a playout buffer, rated by the E-model.

The core computes them. Equations, sources and the chosen readings are in `crates/quantities/src/calls`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aqmlab import _core

if TYPE_CHECKING:
    import pandas as pd

LOSS_MODELS, PLAYOUTS = _core.LOSS_MODELS, _core.PLAYOUTS
MODEL, ADAPTIVE, FIXED = "g107", "adaptive", "fixed"
JITTER_S = 0.06
FRAME_S = 0.02
UNDER_WAY_S = 0.5
"""Packets sent so shortly before the last one that arrived are not judged."""


@dataclass(frozen=True)
class Score:
    """One direction of a call.

    Attributes
    ----------
    sent, received, late
        Packets: that were sent, that arrived, and of these that came too late to be played.
    mean_delay_s
        Mean one-way delay of the packets that arrived.
    mouth_to_ear_s
        From speaking to hearing; the mean over all packets, late and lost ones too.
    loss
        Share of the packets that were not played.
    r, mos
        Transmission rating factor, and mean opinion score.
    """

    sent: int
    received: int
    late: int
    mean_delay_s: float
    mouth_to_ear_s: float
    loss: float
    r: float
    mos: float


def delay_impairment(mouth_to_ear_s: float) -> float:
    """I_d.

    >>> round(delay_impairment(0.1), 3), round(delay_impairment(0.2773), 3)
    (2.4, 17.655)
    """
    return _core.delay_impairment(mouth_to_ear_s)


def loss_impairment(loss: float, model: str = MODEL, *, burst_ratio: float = 1.0) -> float:
    """I_e,eff of G.711 with this share of packets not played.

    Parameters
    ----------
    loss
        Share of the packets.
    model
        ``g107`` (with concealment of losses), ``g107-no-concealment``, or ``cole-rosenbluth``.
    burst_ratio
        BurstR of G.107: 1 for random losses, more where they come in bursts.

    >>> round(loss_impairment(0.02), 3), round(loss_impairment(0.02, "cole-rosenbluth"), 3)
    (7.011, 7.871)
    """
    return _core.loss_impairment(loss, model, burst_ratio)


def rating(mouth_to_ear_s: float, loss: float, model: str = MODEL, *, burst_ratio: float = 1.0) -> float:
    """R, the transmission rating factor.

    >>> round(rating(0.1, 0.02), 3)
    84.789
    """
    return _core.rating(mouth_to_ear_s, loss, model, burst_ratio)


def opinion(r: float) -> float:
    """MOS, the mean opinion score of a rating.

    >>> [round(opinion(r), 3) for r in (-5, 50, 70, 94.2, 100)]
    [1.0, 2.575, 3.597, 4.428, 4.5]
    """
    return _core.opinion(r)


def burst_ratio_of(lost: Sequence[bool] | np.ndarray) -> float:
    """BurstR: the mean length of runs of lost packets over that of random losses, ``1 / (1 - loss)``; at least 1.

    >>> burst_ratio_of([False, True, True, False, False, False, False, False])
    1.5
    """
    return _core.burst_ratio([bool(one) for one in lost])


def playout_delays(
    numbers: Sequence[int] | np.ndarray,
    delays_s: Sequence[float] | np.ndarray,
    sent: int,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    talkspurt_s: float = 1.0,
) -> list[float]:
    """Return the playout delay of each packet that was sent, in s.

    `talkspurt_s` is the speech after which the adaptive buffer sets its delay again. The other parameters are those of
    `score`; at least one packet arrived.

    >>> playout_delays([0, 1], [0.03, 0.04], 2, playout="fixed")
    [0.09, 0.09]
    """
    return _core.playout_delays(
        numbers, delays_s, sent, playout=playout, jitter_s=jitter_s, frame_s=frame_s, talkspurt_s=talkspurt_s
    )


def score(
    numbers: Sequence[int] | np.ndarray,
    delays_s: Sequence[float] | np.ndarray,
    sent: int,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    model: str = MODEL,
    bursts: bool = False,
) -> Score:
    """Score one direction of a call.

    Parameters
    ----------
    numbers, delays_s
        Of each packet that arrived, in order of arrival: its number, counted from 0, and its one-way delay.
    sent
        How many packets were sent.
    playout
        How the playout buffer sets its delay: ``adaptive`` or ``fixed``.
    jitter_s
        How long after its arrival the first packet is played; with the adaptive buffer only the first talkspurt is
        played so.
    frame_s
        Speech in a packet.
    model, bursts
        See `loss_impairment`; with `bursts` the ratio is that of the packets that were not played.
    """
    found = _core.call_score(
        numbers, delays_s, sent, playout=playout, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts
    )
    return Score(**found)


class HasCalls(Protocol):
    """Runs with calls: `aqmlab.results.result.Result`."""

    @property
    def call_packets(self) -> pd.DataFrame:
        """Packets of calls that arrived, of all runs."""


def calls(
    result: HasCalls,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float | None = None,
    model: str = MODEL,
    bursts: bool = False,
) -> pd.DataFrame:
    """Score every direction of every call of a result; see `scores`.

    Returns
    -------
    pandas.DataFrame
        ``seed``, ``flow``, and the fields of `Score`.
    """
    import pandas as pd

    found: list[dict[str, object]] = []
    every = result.call_packets
    for seed, packets in every.groupby("seed") if len(every) else ():
        of_seed = scores(packets, playout=playout, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts)
        found.extend({"seed": seed, "flow": flow, **vars(one)} for flow, one in of_seed.items())
    return pd.DataFrame(found, columns=["seed", "flow", *Score.__dataclass_fields__])


def scores(
    packets: Mapping[str, Any] | pd.DataFrame,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float | None = None,
    model: str = MODEL,
    bursts: bool = False,
) -> dict[str, Score]:
    """Score every direction of every call of one run, by the names of their flows.

    Packets sent in the last half second before the last one in the table are not judged: others may be under way.

    Parameters
    ----------
    packets
        The run's table ``call_packets``: ``flow``, ``packet``, ``sent_s``, ``delay_s``. A packet without a delay did
        not arrive, nor did any sent in the second before it.
    frame_s
        Speech in a packet; default: the time between two packets.
    playout, jitter_s, model, bursts
        See `score`.
    """
    found = _core.call_scores(packets, playout=playout, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts)
    return {flow: Score(**one) for flow, one in found.items()}
