/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How parameters move while the queue runs; a part of decision.h. The same lines in
 * Rust are in crates/aqm/src/red/adaptation/.
 */
#ifndef AQMLAB_ADAPTATION_H
#define AQMLAB_ADAPTATION_H

/* What speaks for a step of Adaptive-RIO. */
#define AQMLAB_BOTH	0	/* the rate is beyond C' and moves away from it */
#define AQMLAB_RATE	1	/* the rate is beyond C' */
#define AQMLAB_EITHER	2	/* one of the two */

#define AQMLAB_LARGEST_RATE	0x4000000000000000ULL	/* 2^62 */

#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
static inline const struct aqmlab_target *aqmlab_target_of(const struct aqmlab_queue *q, u32 class)
{
#if AQMLAB_CHANGEABLE
	return &q->own.target[class];
#else
	return &aqmlab_targets[class];
#endif
}

/* One step of max_p of a class. Return whether it moved. */
static inline bool aqmlab_adapt_class(struct aqmlab_queue *q, u32 number)
{
	u64 x = aqmlab_average_of(q, number) >> AQMLAB_W_LOG;
	const struct aqmlab_target *target = aqmlab_target_of(q, number);
	u32 *points = q->own.point + aqmlab_curves[number].points;
	u32 max_p = points[1];

	if (x > target->high &&
	    (max_p < AQMLAB_MAX_P_HIGH || (AQMLAB_AT_BOUND_TOO && max_p == AQMLAB_MAX_P_HIGH)))
		max_p = min_t(u32, max_p + min_t(u32, AQMLAB_ALPHA, max_p >> 2), AQMLAB_ONE);
	else if (x < target->low &&
		 (max_p > AQMLAB_MAX_P_LOW || (AQMLAB_AT_BOUND_TOO && max_p == AQMLAB_MAX_P_LOW)))
		max_p = ((u64)max_p * AQMLAB_BETA) >> 31;
	else
		return false;
	points[1] = max_p;
	if (AQMLAB_ABOVE_MOVES && aqmlab_curves[number].segments > 1)
		points[2] = max_p;
	return true;
}

/* Adaptive RED: a step at the first arrival after each interval. */
static inline void aqmlab_adapt(struct aqmlab_queue *q, u64 now)
{
	bool changed = false;
	u32 i;

	if (now <= q->adapted + AQMLAB_INTERVAL_NS)
		return;
	for (i = 0; i < AQMLAB_CLASSES; i++)
		changed |= aqmlab_adapt_class(q, i);
	/* At a bound too: the interval begins with each step, else with each change. */
	if (changed || AQMLAB_AT_BOUND_TOO)
		q->adapted = now;
}
#elif AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO
/*
 * The share of the bytes in the window that is lost in a gap, times 2^48:
 * gap/(gap + window). Only after a gap of a 256th of the window is it divided; before,
 * it is u - u^2 with u = gap/window.
 */
static inline u64 aqmlab_lost(u64 gap)
{
	u64 u;

	if (gap < AQMLAB_WINDOW_NS >> 8) {
		u = (gap * AQMLAB_WINDOW_RECIPROCAL) >> 22;
		return u - (((u >> 8) * (u >> 8)) >> 32);
	}
	gap = min_t(u64, gap, AQMLAB_WINDOW_NS << 8);
	return div_u64((gap >> AQMLAB_GAP_SHIFT) << 32,
		       (gap + AQMLAB_WINDOW_NS) >> AQMLAB_GAP_SHIFT) << 16;
}

/* Count an arrival in the rate. */
static inline void aqmlab_measure_rate(struct aqmlab_queue *q, u64 now, u32 class, u32 bytes)
{
	u64 with = min_t(u64, q->rate + ((u64)bytes << 16), AQMLAB_LARGEST_RATE);

	q->rate = with - mul_u64_u64_shr(with, aqmlab_lost(now - q->rate_at), 48);
	q->rate_at = now;
	if (AQMLAB_CLASSES > 1 && !class)
		q->assured_at = now;
}

/* Let the thresholds of the last class grow or shrink, and C' the other way. */
static inline void aqmlab_move_thresholds(struct aqmlab_queue *q, bool grow)
{
	u64 max_th = q->max_th, bound = q->rate_bound;
	u64 min_th;

	if (grow) {
		max_th += AQMLAB_DELTA_T;
		bound -= min_t(u64, bound, AQMLAB_DELTA_C);
	} else {
		max_th -= min_t(u64, max_th, AQMLAB_DELTA_T);
		bound += AQMLAB_DELTA_C;
	}
	q->rate_bound = clamp_t(u64, bound, AQMLAB_C_INIT, AQMLAB_CAPACITY);
	max_th = clamp_t(u64, max_th, AQMLAB_MAX_L, AQMLAB_MAX_U);
	min_th = min_t(u64, mul_u64_u32_shr(max_th, AQMLAB_MIN_SHARE, 32), max_th - 1);
	q->max_th = max_th;
	aqmlab_place_curve(&q->own.curve[AQMLAB_CLASSES - 1], min_th, max_th);
}

static inline bool aqmlab_speaks(bool beyond, bool moving)
{
	switch (AQMLAB_TREND) {
	case AQMLAB_BOTH:
		return beyond && moving;
	case AQMLAB_RATE:
		return beyond;
	default:
		return beyond || moving;
	}
}

/* Adaptive-RIO: a step at the first arrival after each interval, after its decision. */
static inline void aqmlab_adapt(struct aqmlab_queue *q, u64 now, u32 class, u32 bytes)
{
	u64 epsilon = mul_u64_u32_shr(q->rate_bound, AQMLAB_EPSILON, 32);

	aqmlab_measure_rate(q, now, class, bytes);
	if (now < q->adapted + AQMLAB_INTERVAL_NS)
		return;
	q->adapted = now;
	if (AQMLAB_CLASSES > 1 && now - q->assured_at > AQMLAB_ABSENCE_NS)
		aqmlab_move_thresholds(q, true);
	else if (aqmlab_speaks(q->rate > q->rate_bound + epsilon, q->rate > q->rate_before))
		aqmlab_move_thresholds(q, false);
	else if (aqmlab_speaks(q->rate < q->rate_bound - epsilon, q->rate < q->rate_before))
		aqmlab_move_thresholds(q, true);
	q->rate_before = q->rate;
}
#endif

#endif
