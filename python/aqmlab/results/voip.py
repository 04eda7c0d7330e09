"""How a call sounds: what a jitter buffer makes of delays and losses, and the E-model's verdict on it.

A fixed jitter buffer plays the first packet that arrives `jitter` after its arrival and every other one as much later
as it was sent later. A packet that comes when it should have been played is late, and as good as lost. With the delay
``d_0`` of the first packet every sound is heard ``frame + d_0 + jitter`` after it was spoken.

E-model (ITU-T Recommendation G.107) with default values for all that is not delay or loss, as in R. G. Cole and
J. H. Rosenbluth, "Voice over IP Performance Monitoring", ACM CCR 31(2), 2001::

    R       = 94.2 - I_d - I_e,eff
    I_d     = 0.024 d + 0.11 (d - 177.3) H(d - 177.3)              d: mouth to ear in ms, H: 0 below 0, else 1
    I_e,eff = I_e + (95 - I_e) Ppl / (Ppl / BurstR + Bpl)          G.107, 7.5; Ppl: loss in %
    I_e,eff = 30 ln(1 + 15 e)                                      Cole and Rosenbluth for G.711, random loss; e: share
    MOS     = 1 + 0.035 R + 7e-6 R (R - 60) (100 - R)              G.107, Annex B; 1 below 0, 4.5 above 100

For G.711 I_e = 0, and Bpl = 25.1 with concealment of losses (G.711 Appendix I), 4.3 without (G.113, Appendix I).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

BPL = {"g107": 25.1, "g107-no-concealment": 4.3}
"""Robustness of G.711 against loss by model: with packet loss concealment and without."""
COLE_ROSENBLUTH = "cole-rosenbluth"
LOSS_MODELS = (*BPL, COLE_ROSENBLUTH)
JITTER_S = 0.06
FRAME_S = 0.02
UNDER_WAY_S = 0.5
"""What was sent so shortly before the last packet that arrived is not judged."""


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
        From speaking to hearing.
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
    d = mouth_to_ear_s * 1e3
    return 0.024 * d + 0.11 * max(d - 177.3, 0.0)


def loss_impairment(loss: float, model: str = "g107", *, burst_ratio: float = 1.0) -> float:
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
    if model == COLE_ROSENBLUTH:
        return 30.0 * math.log(1.0 + 15.0 * loss)
    if model not in BPL:
        raise InputError(f"loss model {model!r}: {', '.join(LOSS_MODELS)} are allowed")
    percent = 100.0 * loss
    return 95.0 * percent / (percent / burst_ratio + BPL[model])


def rating(mouth_to_ear_s: float, loss: float, model: str = "g107", *, burst_ratio: float = 1.0) -> float:
    """R, the transmission rating factor.

    >>> round(rating(0.1, 0.02), 3)
    84.789
    """
    return 94.2 - delay_impairment(mouth_to_ear_s) - loss_impairment(loss, model, burst_ratio=burst_ratio)


def opinion(r: float) -> float:
    """MOS, the mean opinion score of a rating.

    >>> [round(opinion(r), 3) for r in (-5, 50, 70, 94.2, 100)]
    [1.0, 2.575, 3.597, 4.428, 4.5]
    """
    if r <= 0.0:
        return 1.0
    if r >= 100.0:
        return 4.5
    return 1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)


def burst_ratio_of(lost: Sequence[bool] | np.ndarray) -> float:
    """BurstR: the mean length of runs of lost packets over that of random losses, ``1 / (1 - loss)``; at least 1.

    >>> burst_ratio_of([False, True, True, False, False, False, False, False])
    1.5
    """
    gone = np.asarray(lost, dtype=bool)
    if not gone.any() or gone.all():
        return 1.0
    runs = int(gone[0]) + int((gone[1:] & ~gone[:-1]).sum())
    return max(float(gone.sum()) / runs * (1.0 - float(gone.mean())), 1.0)


def score(
    numbers: Sequence[int] | np.ndarray,
    delays_s: Sequence[float] | np.ndarray,
    sent: int,
    *,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    model: str = "g107",
    bursts: bool = False,
) -> Score:
    """Score one direction of a call.

    Parameters
    ----------
    numbers, delays_s
        Of each packet that arrived, in order of arrival: its number, counted from 0, and its one-way delay.
    sent
        How many packets were sent.
    jitter_s
        The jitter buffer: the first packet is played so long after its arrival.
    frame_s
        Speech in a packet.
    model, bursts
        See `loss_impairment`; with `bursts` the ratio is that of the packets that were not played.
    """
    order, delays = np.asarray(numbers, dtype=int), np.asarray(delays_s, dtype=float)
    if not len(order):
        return Score(sent, 0, 0, math.nan, math.nan, 1.0, 0.0, 1.0)
    in_time = delays <= delays[0] + jitter_s
    played = np.zeros(sent, dtype=bool)
    played[order[in_time]] = True
    loss = 1.0 - float(played.mean())
    heard = frame_s + float(delays[0]) + jitter_s
    r = rating(heard, loss, model, burst_ratio=burst_ratio_of(~played) if bursts else 1.0)
    late = int((~in_time).sum())
    return Score(sent, len(order), late, float(delays.mean()), heard, loss, r, opinion(r))


def calls(
    result: Result,
    *,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    model: str = "g107",
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
    for seed, packets in result.call_packets.groupby("seed"):
        of_seed = scores(packets, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts)
        found.extend({"seed": seed, "flow": flow, **vars(one)} for flow, one in of_seed.items())
    return pd.DataFrame(found, columns=["seed", "flow", *Score.__dataclass_fields__])


def scores(
    packets: pd.DataFrame,
    *,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    model: str = "g107",
    bursts: bool = False,
) -> dict[str, Score]:
    """Score every direction of every call of one run, by the names of their flows.

    Packets sent in the last half second before the last one that arrived are not judged: others may be under way. A
    direction of which nothing arrived is not there.

    Parameters
    ----------
    packets
        The run's table ``call_packets``: ``flow``, ``packet``, ``sent_s``, ``delay_s``.
    jitter_s, frame_s, model, bursts
        See `score`.
    """
    found = {}
    for flow, own in packets.groupby("flow", sort=False):
        judged = own[own["sent_s"] <= own["sent_s"].max() - UNDER_WAY_S]
        numbers = judged["packet"].to_numpy()
        sent = int(numbers.max()) + 1 if len(numbers) else 0
        delays = judged["delay_s"].to_numpy()
        found[str(flow)] = score(numbers, delays, sent, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts)
    return found
