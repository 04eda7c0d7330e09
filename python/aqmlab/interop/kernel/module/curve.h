/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How thresholds and max_p change a curve while the queue runs; a part of decision.h.
 * The formulas are those of crates/aqm/src/red/curve/, in integers: after a change the
 * numbers are those of a module with these thresholds and max_p. No packet waits for them.
 */
#ifndef AQMLAB_CURVE_H
#define AQMLAB_CURVE_H

#define AQMLAB_CELLS		256	/* of a segment that is not straight */

#if AQMLAB_OWN_CURVES
/* Lay a segment between two values of x; its cells stay as many. */
static inline void aqmlab_place_segment(struct aqmlab_segment *segment, u64 from, u64 to)
{
	segment->from = from;
	segment->scale = div64_u64(1ULL << 62, to - from);
}

/* Lay a curve between two thresholds. */
static inline void aqmlab_place_curve(struct aqmlab_curve *curve, u64 min_th, u64 max_th)
{
	u64 bend = max_th;

	curve->begin = min_th;
	curve->end = max_th;
	if (AQMLAB_SHAPE == AQMLAB_DOUBLE_SLOPE)
		bend = min_th + (max_th - min_th + 1) / 2;
	else if (curve->segments > 1)
		curve->end = 2 * max_th;
	aqmlab_place_segment(&curve->segment[0], min_th, bend);
	if (curve->segments > 1)
		aqmlab_place_segment(&curve->segment[1], bend, curve->end);
}
#endif

#if AQMLAB_CHANGEABLE
/* a/b times 2^62, for a < b < 2^63, rounded down. */
static inline u64 aqmlab_ratio(u64 a, u64 b)
{
	u64 ratio = 0;
	u32 i;

	for (i = 0; i < 62; i++) {
		a <<= 1;
		ratio <<= 1;
		if (a < b)
			continue;
		a -= b;
		ratio++;
	}
	return ratio;
}

/*
 * p_b over max_p at the end of the cells before this one, times 2^62, of a parabola; u goes from 0
 * at min_th to 1 at max_th, least = 2 min_th/(max_th + min_th).
 *
 *   NLRED   1.5 u^2
 *   MRED    (avg^2 - min_th^2)/(max_th^2 - min_th^2) = u (least + (1 - least) u)
 */
static inline u64 aqmlab_share(u64 least, u32 cell)
{
	u64 slope;

	if (AQMLAB_SHAPE == AQMLAB_NLRED)
		return (3ULL * cell * cell) << 45;
	slope = least + mul_u64_u64_shr((1ULL << 62) - least, cell, 8);
	return mul_u64_u64_shr(slope, cell, 8);
}

/* Round p_b, times 2^63, to a point of a table. */
static inline u32 aqmlab_point(u64 p_b)
{
	return (p_b + (1ULL << 31)) >> 32;
}

/* Compute the points of a curve. */
static inline void aqmlab_fill_points(u32 *point, const struct aqmlab_bounds *bounds)
{
	u32 max_p = aqmlab_point(bounds->max_p);
	u64 least;
	u32 i;

	switch (AQMLAB_SHAPE) {
	case AQMLAB_LINEAR:
		point[1] = max_p;
		break;
	case AQMLAB_GENTLE:
	case AQMLAB_DOUBLE_SLOPE:
		point[1] = max_p;
		point[2] = max_p;
		break;
	default:
		least = 2 * aqmlab_ratio(bounds->min, bounds->max + bounds->min);
		for (i = 0; i <= AQMLAB_CELLS; i++)
			point[i] = aqmlab_point(mul_u64_u64_shr(bounds->max_p, aqmlab_share(least, i), 62));
		if (AQMLAB_SHAPE == AQMLAB_MRED)
			point[AQMLAB_CELLS + 1] = max_p;
	}
}

#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
/* The middle fifth between the thresholds. */
static inline void aqmlab_place_target(struct aqmlab_target *target, u64 min_th, u64 max_th)
{
	target->low = div_u64(3 * min_th + 2 * max_th + 4, 5);
	target->high = div_u64(2 * min_th + 3 * max_th, 5);
}
#endif

/* Whether a curve can have these thresholds and max_p. */
static inline bool aqmlab_has_order(const struct aqmlab_bounds *bounds)
{
	return bounds->min && bounds->min < bounds->max && bounds->max - bounds->min > 1 &&
	       bounds->max <= 1ULL << (32 + AQMLAB_FRACTION);
}

static inline bool aqmlab_has_probability(const struct aqmlab_bounds *bounds)
{
	return bounds->max_p && bounds->max_p <= AQMLAB_LARGEST_MAX_P;
}

/* Change what differs of a class, and nothing else. Return whether anything did. */
static inline bool aqmlab_change_curve(struct aqmlab_queue *q, u32 class, const struct aqmlab_bounds *bounds)
{
	const struct aqmlab_bounds *old = &q->settings.bounds[class];
	bool moved = bounds->min != old->min || bounds->max != old->max;
	bool raised = bounds->max_p != old->max_p;

	if (moved) {
		aqmlab_place_curve(&q->own.curve[class], bounds->min, bounds->max);
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
		aqmlab_place_target(&q->own.target[class], bounds->min, bounds->max);
#endif
	}
	if (raised || (moved && AQMLAB_SHAPE == AQMLAB_MRED))
		aqmlab_fill_points(q->own.point + q->own.curve[class].points, bounds);
	return moved || raised;
}
#endif

#endif
