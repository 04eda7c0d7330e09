"""``parameters.h`` of a module: the integers of a queue as C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

IDLE = {"step": "AQMLAB_STEP", "shifts": "AQMLAB_SHIFTS", "powers": "AQMLAB_POWERS"}
SPACING = {
    "uniform": "AQMLAB_UNIFORM",
    "wait": "AQMLAB_WAIT",
    "dsred": "AQMLAB_DSRED",
    "geometric": "AQMLAB_GEOMETRIC",
    "threshold": "AQMLAB_THRESHOLD",
}
MEASURED = {"coupled": "AQMLAB_COUPLED", "decoupled": "AQMLAB_DECOUPLED", "shared": "AQMLAB_SHARED"}
ADAPTATION = {
    None: "AQMLAB_NOTHING",
    "adaptive-red": "AQMLAB_ADAPTIVE_RED",
    "adaptive-rio": "AQMLAB_ADAPTIVE_RIO",
}
SHAPES = {
    "linear": "AQMLAB_LINEAR",
    "gentle": "AQMLAB_GENTLE",
    "double-slope": "AQMLAB_DOUBLE_SLOPE",
    "mred": "AQMLAB_MRED",
    "nlred": "AQMLAB_NLRED",
}
"""Curves whose thresholds and max_p can change while the queue runs; others stay as they are built."""
LARGEST_MAX_P = {"nlred": Fraction(2, 3)}
"""Largest max_p of a curve; default: 1."""
ONE_63 = 1 << 63
"""max_p = 1 in integers."""
ONE_31 = 1 << 31
"""A share of 1 in integers."""
NUMBERS_A_LINE = 6
LICENCE = "/* SPDX-License-Identifier: GPL-2.0 OR MIT */"
"""First line of a header."""
LEAST_PACKET = 14
"""Bytes of the shortest packet: Ethernet's header."""


def parameters_h(
    integers: Mapping[str, Any], levels: Sequence[int], about: Iterable[str], curve: str, max_p: Sequence[float]
) -> str:
    """Write the header.

    Parameters
    ----------
    integers
        The core's answer to `aqmlab._core.integers`.
    levels
        The priority level of each of the 64 code points.
    about
        Lines of comment: which queue of which scenario it is.
    curve
        The scenario's word for the form of the curves.
    max_p
        That of each class.
    """
    lines = [define(*definition) for definition in (*_definitions(integers), *_shape(curve))]
    lines += ["", *_idle_tables(integers["idle"])]
    # A curve without cells is never looked up.
    tables = [one["points"] or [one["above"]] * 2 for one in integers["curves"]]
    first = [0, *accumulate(map(len, tables))]
    lines += [define("POINTS", first[-1], ""), ""]
    lines += [*_array("static const u32 aqmlab_points[AQMLAB_POINTS]", [p for table in tables for p in table]), ""]
    lines += ["static const struct aqmlab_curve aqmlab_curves[AQMLAB_CLASSES] = {"]
    for number, table in enumerate(integers["curves"]):
        lines += _curve(number, table, first[number])
    lines += ["};", ""]
    lines += ["static const struct aqmlab_bounds aqmlab_bounds[AQMLAB_CLASSES] = {"]
    for table, p in zip(integers["curves"], max_p, strict=True):
        lines += [f"\t{{ {table['begin']}ULL, {max_th_of(curve, table)}ULL, {round(p * ONE_63)}ULL }},"]
    lines += ["};", ""]
    adaptation = integers["adaptation"]
    if adaptation and adaptation["rule"] == "adaptive-red":
        lines += ["static const struct aqmlab_target aqmlab_targets[AQMLAB_CLASSES] = {"]
        lines += [f"\t{{ {one['target_low']}ULL, {one['target_high']}ULL }}," for one in adaptation["classes"]]
        lines += ["};", ""]
    lines += ["/* The class of each code point. */"]
    lines += _array("static const u8 aqmlab_class_of[64]", integers["class_of"])
    lines += _flow_tables(integers["victim"], levels)
    return header(about, lines)


def header(about: Iterable[str], lines: Iterable[str]) -> str:
    """Return a header with licence, comment and guard."""
    begin = [LICENCE, *comment(about), "#ifndef AQMLAB_PARAMETERS_H", "#define AQMLAB_PARAMETERS_H", ""]
    return "\n".join([*begin, *lines, "", "#endif", ""])


def _definitions(integers: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield name, value and comment of each constant."""
    idle = integers["idle"]
    yield "W_LOG", integers["wlog"], "w_q = 2^-W_LOG"
    yield "FRACTION", integers["fraction"], "bits behind the binary point of the average"
    yield "IDLE", IDLE[idle["rule"]], "decay over an idle period"
    yield "EXTRA_STEP", integers["extra_step"], "one more step after an idle period"
    if idle["rule"] == "shifts":
        yield "CELL_LOG", idle["cell_log"], "log2 of the us of a cell"
    if idle["rule"] == "powers":
        yield "IDLE_MULT", f"{idle['mult']}ULL", "256ths of a packet in a ns, 2^-IDLE_SHIFT"
        yield "IDLE_SHIFT", idle["shift"], ""
        yield "IDLE_WHOLE", idle["whole"], "whole packet times only"
        yield "LONGEST_NS", f"{idle['longest_ns']}ULL", "from here on nothing is left"
        yield "FACTORS", len(idle["factors"]), ""
    yield "IDLE_NONE_WAITING", integers["idle_none_waiting"], "idle once none waits, not once none is served"
    yield "CLASSES", len(integers["curves"]), ""
    yield "AVERAGES", integers["averages"], ""
    yield "MEASURED", MEASURED[integers["measured"]], "what they measure"
    yield "IN_BYTES", integers["in_bytes"], "queue and average in bytes"
    yield "LIMIT", f"{integers['limit']}ULL", "bytes" if integers["limit_in_bytes"] else "packets"
    yield "LIMIT_IN_BYTES", integers["limit_in_bytes"], ""
    yield "STRICT_LIMIT", integers["strict_limit"], "the limit in bytes is never reached"
    yield "FULL_FIRST", integers["full_first"], "a full buffer drops before all else"
    yield "IN_SERVICE_COUNTS", integers["in_service_counts"], "the packet in transmission counts as queued"
    yield "OVERFLOW_RESTARTS", integers["overflow_restarts"], "a full buffer restarts the count"
    yield "GUARD_ONE", integers["guard_one"], "no early or forced drop while at most one waits"
    yield "CROSSING_COUNT_ONE", integers["crossing_count_one"], "the first arrival above min_th counts as 1"
    yield "P_ONE_IS_EARLY", integers["p_one_is_early"], "p_b = 1 goes through the spacing"
    yield "FORCED_AT_END", integers["forced_at_end"], "so does p_b = 1 before the curve ends"
    yield "SPACING", SPACING[integers["spacing"]], ""
    yield "FIRST_COUNT", 0 if integers["spacing"] == "dsred" else -1, "before the first arrival"
    yield "FORCED_COUNT", -1 if integers["spacing"] == "threshold" else 0, "after a forced drop"
    yield "SCALES_P_B", integers["size_reciprocal"] is not None, "p_b times size over mean size"
    yield "SIZE_RECIPROCAL", f"{integers['size_reciprocal'] or 0}ULL", "2^32 over the mean size"
    yield from _victim(integers["victim"], integers)
    yield from _adaptation(integers["adaptation"])
    yield "ECN", integers["ecn"], "mark what can be marked"
    yield "MARK_UP_TO", f"{integers['mark_up_to']}U", "largest p_b that is marked"
    yield "MARK_FORCED", integers["mark_forced"], "mark also what is dropped for sure"


def _shape(curve: str) -> Iterator[tuple[str, object, str]]:
    """Yield the constants that say what can change of the curves."""
    yield "SHAPE", SHAPES.get(curve, "AQMLAB_FIXED_SHAPE"), "form of the curves"
    yield "LARGEST_MAX_P", f"{int(LARGEST_MAX_P.get(curve, Fraction(1)) * ONE_63)}ULL", "times 2^63"


def max_th_of(curve: str, table: Mapping[str, Any]) -> int:
    """Return max_th of a class in units of its average: where the second segment begins, if it is above max_th."""
    segments = table["segments"]
    above = curve in {"gentle", "mred", "exred"} and len(segments) > 1
    return int(segments[1]["from"] if above else table["end"])


def _slots(integers: Mapping[str, Any]) -> int:
    """Return how many packets can wait at a time, the arriving one among them."""
    limit = int(integers["limit"])
    return (limit // LEAST_PACKET if integers["limit_in_bytes"] else limit) + 2


def _victim(victim: Mapping[str, Any], integers: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield the constants of the victim rule."""
    yield "SEARCHES", victim["rule"] != "arriving", "the victim is searched in the queue"
    yield "SLOTS", f"{_slots(integers)}U", "packets of at least a header that the limit lets in, and one that arrives"
    yield "BY_SHARE", victim.get("unknown_share") is not None, "DDRED: shares of the route, not hops"
    yield "UNKNOWN_SHARE", f"{victim.get('unknown_share') or 0}U", "of a route whose length is not known, times 2^31"
    yield "TIES", f"AQMLAB_{victim.get('ties', 'newest').upper()}", "of packets that have travelled equally far"
    yield "ARRIVAL_IS_CANDIDATE", victim.get("arrival_is_candidate", False), "at early drops"
    yield "LAST_N", f"{victim.get('last_n', 0)}U", "packets at the tail that are compared; 0: RED"
    yield "EARLY_ONLY", victim.get("early_only", False), "other drops take the arriving packet"
    yield from _protection(victim)


def _protection(victim: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield the constants of PC-RED."""
    protects = victim["rule"] == "pc-red"
    yield "PROTECTS", protects, "PC-RED: packets of flows that lost too much are not picked"
    size = victim.get("list_size", 0)
    yield "LIST_SIZE", f"{size}U", "most flows in the list"
    yield "CHAINS", f"{1 << max(size - 1, 0).bit_length()}U", "a power of 2"
    yield "CIRCULAR", victim.get("circular", False), "the scan goes on from the head"
    if not protects:
        return
    decay = victim["decay"]
    yield "LOSS_WEIGHT", f"{victim['weight']}ULL", "w, times 2^24"
    yield "LOSS_MULT", f"{decay['mult']}ULL", "256ths of an interval in a ns, 2^-LOSS_SHIFT"
    yield "LOSS_SHIFT", decay["shift"], ""
    yield "LOSS_WHOLE", decay["whole"], "whole intervals only"
    yield "LOSS_LONGEST_NS", f"{decay['longest_ns']}ULL", "from here on nothing is left"
    yield "LOSS_FACTORS", len(decay["factors"]), ""
    yield "LEVELS", len(victim["limits"]), "of priority"
    yield "REFRESH_ON_ARRIVAL", victim["refresh_on_arrival"], "status is evaluated at each arrival"
    yield "TIMES_OUT", victim["timeout_ns"] is not None, "a flow not seen for so long is forgotten"
    yield "TIMEOUT_NS", f"{victim['timeout_ns'] or 0}ULL", ""
    yield "REFUSES", victim["refuse"], "priority beyond r_p_max"
    yield "SHARE", f"{victim['share']}ULL", "r_p_max, times 2^32"


def _adaptation(adaptation: Mapping[str, Any] | None) -> Iterator[tuple[str, object, str]]:
    """Yield the constants of Adaptive RED or Adaptive-RIO."""
    rule = None if adaptation is None else adaptation["rule"]
    yield "ADAPTATION", ADAPTATION[rule], "what moves"
    if adaptation is None:
        return
    yield "INTERVAL_NS", f"{adaptation['interval_ns']}ULL", "between two steps"
    if adaptation["rule"] == "adaptive-rio":
        yield from _adaptive_rio(adaptation)
        return
    yield "ALPHA", f"{adaptation['alpha']}U", "largest increment, times 2^31"
    yield "BETA", f"{adaptation['beta']}U", "factor of a decrease, times 2^31"
    yield "MAX_P_LOW", f"{adaptation['low']}U", ""
    yield "MAX_P_HIGH", f"{adaptation['high']}U", ""
    yield "AT_BOUND_TOO", adaptation["at_bound_too"], "a step at the bound itself, and none late"
    yield "ABOVE_MOVES", adaptation["above_moves"], "the curve above max_th moves too"


def _adaptive_rio(adaptation: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield the constants of Adaptive-RIO; rates are bytes in the window, times 2^16."""
    yield "WINDOW_NS", f"{adaptation['window_ns']}ULL", "of the rate"
    yield "WINDOW_RECIPROCAL", f"{adaptation['reciprocal']}ULL", "2^70/WINDOW_NS"
    yield "GAP_SHIFT", adaptation["gap_shift"], "bits that a gap loses before a division"
    yield "CAPACITY", f"{adaptation['capacity']}ULL", "rate of the link"
    yield "C_INIT", f"{adaptation['c_init']}ULL", "first and smallest C'"
    yield "DELTA_C", f"{adaptation['delta_c']}ULL", "step of C'"
    yield "EPSILON", f"{adaptation['epsilon']}U", "share of C', times 2^32"
    yield "MAX_TH", f"{adaptation['max_th']}ULL", "first one of the last class"
    yield "DELTA_T", f"{adaptation['delta_t']}ULL", "its step"
    yield "MAX_L", f"{adaptation['max_l']}ULL", "its bounds"
    yield "MAX_U", f"{adaptation['max_u']}ULL", ""
    yield "MIN_SHARE", f"{adaptation['min_share']}U", "min_th over max_th, times 2^32"
    yield "ABSENCE_NS", f"{adaptation['absence_ns']}ULL", "without the first class; it is absent then"
    yield "TREND", f"AQMLAB_{adaptation['trend'].upper()}", "what speaks for a step"


def drop_tail(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the integers of ``ddred-tail``, which has neither average nor curve.

    Parameters
    ----------
    parameters
        Effective values of the queue: ``limit`` in packets, or text in bytes, ``last_n`` packets, and ``distance``
        with ``unknown_fraction``.
    """
    limit = str(parameters["limit"])
    by_share = parameters["distance"] == "fraction"
    unknown = int(parameters["unknown_fraction"] * ONE_31) if by_share else None
    never = {
        "begin": (1 << 64) - 1,
        "end": (1 << 64) - 1,
        "above": 0,
        "segments": [],
        "points": [],
        "largest_error": 0.0,
    }
    return {
        "wlog": 0,
        "fraction": 0,
        "extra_step": False,
        "idle": {"rule": "step"},
        "curves": [never],
        "class_of": [0] * 64,
        "averages": 1,
        "measured": "shared",
        "spacing": "geometric",
        "size_reciprocal": None,
        "in_bytes": False,
        "limit": int(float(limit.removesuffix("B"))),
        "limit_in_bytes": limit.endswith("B"),
        "ecn": False,
        "mark_up_to": 0,
        "mark_forced": False,
        "guard_one": False,
        "crossing_count_one": False,
        "p_one_is_early": False,
        "forced_at_end": False,
        "strict_limit": False,
        "full_first": False,
        "overflow_restarts": True,
        "idle_none_waiting": False,
        "in_service_counts": False,
        "adaptation": None,
        "victim": {"rule": "ddred", "last_n": int(parameters["last_n"]), "unknown_share": unknown},
    }


def comment(about: Iterable[str]) -> list[str]:
    """Return the lines of a comment."""
    return ["/*", *(f" * {line}".rstrip() for line in about), " */"]


def define(name: str, value: object, comment: str) -> str:
    """Return the line of a constant, with a comment if it is not empty."""
    text = str(int(value)) if isinstance(value, bool) else str(value)
    line = f"#define AQMLAB_{name} ".ljust(32) + text
    return f"{line} /* {comment} */" if comment else line


def _idle_tables(idle: Mapping[str, Any]) -> list[str]:
    if idle["rule"] == "powers":
        about = "/* (1 - W)^(2^i/256) times 2^32. */"
        return [about, *_array("static const u32 aqmlab_factors[AQMLAB_FACTORS]", idle["factors"]), ""]
    if idle["rule"] == "shifts":
        return ["/* The shift of each cell. */", *_array("static const u8 aqmlab_shifts[256]", idle["shifts"]), ""]
    return []


def _flow_tables(victim: Mapping[str, Any], levels: Sequence[int]) -> list[str]:
    """Return the tables of PC-RED."""
    if victim["rule"] != "pc-red":
        return []
    limits = "".join(f" {limit}ULL," for limit in (0, *victim["limits"]))
    return [
        "",
        "/* L of each level, times 2^24; level 0 has none. */",
        f"static const u64 aqmlab_loss_limits[AQMLAB_LEVELS + 1] = {{{limits} }};",
        "",
        "/* (1 - w)^(2^i/256) times 2^32. */",
        *_array("static const u32 aqmlab_loss_factors[AQMLAB_LOSS_FACTORS]", victim["decay"]["factors"]),
        "",
        "/* The priority level of each code point. */",
        *_array("static const u8 aqmlab_level_of[64]", list(levels)),
    ]


def _array(declaration: str, numbers: list[int]) -> Iterator[str]:
    """Yield the lines of an array of numbers."""
    small = max(numbers) < 256
    per_line = 16 if small else NUMBERS_A_LINE
    yield f"{declaration} = {{"
    for start in range(0, len(numbers), per_line):
        yield "\t" + " ".join(f"{n}," if small else f"{n}U," for n in numbers[start : start + per_line])
    yield "};"


def _curve(number: int, curve: Mapping[str, Any], points: int) -> Iterator[str]:
    """Yield the entry of a class in the array of curves; its points begin at this one of all."""
    yield f"\t[{number}] = {{"
    yield f"\t\t.begin = {curve['begin']}ULL,"
    yield f"\t\t.end = {curve['end']}ULL,"
    yield f"\t\t.above = {curve['above']}U,"
    yield f"\t\t.segments = {len(curve['segments'])},"
    yield "\t\t.segment = {"
    for segment in curve["segments"]:
        where = f"{segment['from']}ULL, {segment['scale']}ULL, {segment['shift']}, {segment['first']}"
        yield f"\t\t\t{{ {where} }},"
    yield "\t\t},"
    yield f"\t\t.points = {points},"
    yield "\t},"
