"""Scores of calls: delays and losses after a playout buffer, rated by the E-model.

The playout buffer plays packet i a playout delay ``p_i`` after it was sent. A packet whose delay ``n_i`` exceeds p_i is
late, and as good as lost. A sound is played ``frame + p_i`` after it was spoken.

* ``adaptive``: algorithm 2 of R. Ramjee, J. Kurose, D. Towsley and H. Schulzrinne, "Adaptive Playout Mechanisms for
  Packetized Audio Applications in Wide-Area Networks", INFOCOM 1994. The delay is set at the beginning of each
  talkspurt from the packets that arrived before its first, and rises faster than it falls, as D. Mills proposed in
  RFC 889::

      d_i = w d_(i-1) + (1 - w) n_i         w = beta = 0.75 if n_i > d_(i-1), else alpha = 0.998002; d_0 = n_0
      v_i = alpha v_(i-1) + (1 - alpha) |d_i - n_i|                                                  v_0 = 0
      p   = d + max(4 v, frame)

  Readings: a call of this program is never silent, so that a talkspurt is a second (ITU-T P.59 has a mean of 1.004 s),
  after which the buffer is free to move. The first talkspurt is played ``n_0 + jitter`` after it was sent, since there
  is no estimate of the variation yet. The buffer holds at least a frame, as a player takes whole frames from it;
  without that bound, which the paper lacks, a packet in a network without queues is late for a microsecond.
* ``fixed``: ``p_i = n_0 + jitter`` to the end of the call.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aqmlab.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

BPL = {"g107": 25.1, "g107-no-concealment": 4.3}
"""Robustness of G.711 against loss by model: with packet loss concealment and without."""
COLE_ROSENBLUTH = "cole-rosenbluth"
LOSS_MODELS = (*BPL, COLE_ROSENBLUTH)
ADAPTIVE, FIXED = "adaptive", "fixed"
PLAYOUTS = (ADAPTIVE, FIXED)
ALPHA, BETA = 0.998002, 0.75
TALKSPURT_S = 1.0
"""Length of a talkspurt."""
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


def playout_delays(
    numbers: Sequence[int] | np.ndarray,
    delays_s: Sequence[float] | np.ndarray,
    sent: int,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float = FRAME_S,
    talkspurt_s: float = TALKSPURT_S,
) -> np.ndarray:
    """Return the playout delay of each packet that was sent, in s.

    `talkspurt_s` is the speech after which the adaptive buffer sets its delay anew. The other parameters are those of
    `score`; at least one packet arrived.

    >>> playout_delays([0, 1], [0.03, 0.04], 2, playout="fixed").tolist()
    [0.09, 0.09]
    """
    if playout not in PLAYOUTS:
        raise InputError(f"playout {playout!r}: {', '.join(PLAYOUTS)} are allowed")
    order, delays = np.asarray(numbers, dtype=int), np.asarray(delays_s, dtype=float)
    found = np.full(sent, delays[0] + jitter_s)
    if playout == FIXED:
        return found
    packets = max(round(talkspurt_s / frame_s), 1)
    d, v, at = delays[0], 0.0, 1
    for begin in range(packets, sent, packets):
        while at < len(order) and order[at] < begin:
            n = delays[at]
            weight = BETA if n > d else ALPHA
            d = weight * d + (1 - weight) * n
            v = ALPHA * v + (1 - ALPHA) * abs(d - n)
            at += 1
        found[begin : begin + packets] = d + max(4 * v, frame_s)
    return found


def score(
    numbers: Sequence[int] | np.ndarray,
    delays_s: Sequence[float] | np.ndarray,
    sent: int,
    *,
    playout: str = ADAPTIVE,
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
    order, delays = np.asarray(numbers, dtype=int), np.asarray(delays_s, dtype=float)
    if not len(order):
        return Score(sent, 0, 0, math.nan, math.nan, 1.0, 0.0, 1.0)
    playing = playout_delays(order, delays, sent, playout=playout, jitter_s=jitter_s, frame_s=frame_s)
    in_time = delays <= playing[order]
    played = np.zeros(sent, dtype=bool)
    played[order[in_time]] = True
    loss = 1.0 - float(played.mean())
    heard = frame_s + float(playing.mean())
    r = rating(heard, loss, model, burst_ratio=burst_ratio_of(~played) if bursts else 1.0)
    late = int((~in_time).sum())
    return Score(sent, len(order), late, float(delays.mean()), heard, loss, r, opinion(r))


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
        of_seed = scores(packets, playout=playout, jitter_s=jitter_s, frame_s=frame_s, model=model, bursts=bursts)
        found.extend({"seed": seed, "flow": flow, **vars(one)} for flow, one in of_seed.items())
    return pd.DataFrame(found, columns=["seed", "flow", *Score.__dataclass_fields__])


def scores(
    packets: Mapping[str, Any] | pd.DataFrame,
    *,
    playout: str = ADAPTIVE,
    jitter_s: float = JITTER_S,
    frame_s: float | None = None,
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
    frame_s
        Speech in a packet; default: the time between two packets.
    playout, jitter_s, model, bursts
        See `score`.
    """
    flows = np.asarray(packets["flow"])
    sent_s, numbers, delays = (np.asarray(packets[key]) for key in ("sent_s", "packet", "delay_s"))
    found = {}
    for flow in dict.fromkeys(flows.tolist()):
        own = flows == flow
        own &= sent_s <= sent_s[own].max() - UNDER_WAY_S
        judged, times = numbers[own], sent_s[own]
        sent = int(judged.max()) + 1 if len(judged) else 0
        frame = _frame(judged, times) if frame_s is None else frame_s
        found[str(flow)] = score(
            judged, delays[own], sent, playout=playout, jitter_s=jitter_s, frame_s=frame, model=model, bursts=bursts
        )
    return found


def _frame(numbers: np.ndarray, sent_s: np.ndarray) -> float:
    """Return the time between two packets, of their numbers and times."""
    if len(numbers) < 2:
        return FRAME_S
    first, last = numbers.argmin(), numbers.argmax()
    return round(float(sent_s[last] - sent_s[first]) / int(numbers[last] - numbers[first]), 9)
