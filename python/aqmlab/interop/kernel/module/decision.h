/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decisions of a RED queue in integers, as aqmlab's core computes them:
 * crates/aqm/src/red/discipline.rs (decision), average/integer.rs, curve/table.rs
 * and spacing/ have the same lines in Rust. There is no floating point, and no
 * division for a packet.
 *
 * What the scenario says is in parameters.h. Of each switch only one case is
 * compiled. curve.h has what a change of thresholds or max_p computes, adaptation.h
 * what moves by itself.
 *
 *   average    A <- A + (q << FRACTION) - (A >> W_LOG)
 *   p_b        straight line between two points of a table; unit 2^-31
 *   spacing    picked if draw * divisor < p_b << 32, draw of 32 bits
 */
#ifndef AQMLAB_DECISION_H
#define AQMLAB_DECISION_H

#include "record.h"

#define AQMLAB_ONE		2147483648U	/* p_b = 1: 2^31 */
#define AQMLAB_NO_P_B		(~0U)		/* below min_th */
#define AQMLAB_CELL_FRACTION	24
#define AQMLAB_MOST_SEGMENTS	8

/* Idle rules. */
#define AQMLAB_STEP		0	/* a step with q = 0 */
#define AQMLAB_SHIFTS		1	/* Linux's table of shifts */
#define AQMLAB_POWERS		2	/* (1 - W)^m by binary powers */

/* Spacing of drops and marks. */
#define AQMLAB_UNIFORM		0	/* gaps uniform on 1 .. 1/p_b */
#define AQMLAB_WAIT		1	/* gaps uniform on 1/p_b .. 2/p_b */
#define AQMLAB_DSRED		2	/* as UNIFORM while count p_b is at most 1 */
#define AQMLAB_GEOMETRIC	3	/* each packet with p_b */
#define AQMLAB_THRESHOLD	4	/* Linux: a threshold drawn once a gap */

/* DDRED: which of several packets that have travelled equally far is the victim. */
#define AQMLAB_NEWEST		0
#define AQMLAB_OLDEST		1
#define AQMLAB_RANDOM		2

/* What moves while the queue runs. */
#define AQMLAB_NOTHING		0
#define AQMLAB_ADAPTIVE_RED	1	/* max_p of each class */
#define AQMLAB_ADAPTIVE_RIO	2	/* the thresholds of the last class */

/* The form of the curves, which says what can change while the queue runs. */
#define AQMLAB_FIXED_SHAPE	0	/* nothing: ExRED, points */
#define AQMLAB_LINEAR		1
#define AQMLAB_GENTLE		2
#define AQMLAB_DOUBLE_SLOPE	3
#define AQMLAB_MRED		4
#define AQMLAB_NLRED		5

/* What the averages measure. */
#define AQMLAB_COUPLED		0	/* class i by the packets of classes 0 to i */
#define AQMLAB_DECOUPLED	1	/* class i by its own packets */
#define AQMLAB_SHARED		2	/* all by one average */

/* A part of the curve without jumps and bends; x is the average times 2^FRACTION. */
struct aqmlab_segment {
	u64 from;
	u64 scale;		/* cells times 2^24 in a unit of x, times 2^shift */
	u32 shift;
	u32 first;		/* its first point, from the curve's */
};

struct aqmlab_curve {
	u64 begin;		/* x from which p_b is not 0 */
	u64 end;		/* x from which p_b is above */
	u32 above;
	u32 segments;
	struct aqmlab_segment segment[AQMLAB_MOST_SEGMENTS];
	u32 points;		/* its first in aqmlab_points: p_b at the ends of all cells */
};

/* Adaptive RED: where max_p of a class moves. */
struct aqmlab_target {
	u64 low;		/* x below which max_p decreases */
	u64 high;		/* x above which it increases */
};

/* What describes the curve of a class. */
struct aqmlab_bounds {
	u64 min;		/* x of min_th */
	u64 max;		/* x of max_th */
	u64 max_p;		/* times 2^63 */
};

#include "parameters.h"

/* A program whose curves stay constant, as that of BPF, defines it as 0. */
#ifndef AQMLAB_CHANGEABLE
#define AQMLAB_CHANGEABLE	(AQMLAB_SHAPE != AQMLAB_FIXED_SHAPE)
#endif
/* Whether the queue has curves and points of its own, in place of those of parameters.h. */
#define AQMLAB_OWN_CURVES	(AQMLAB_CHANGEABLE || AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO)
#define AQMLAB_OWN_POINTS	(AQMLAB_CHANGEABLE || AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED)

struct aqmlab_average {
	u64 scaled;		/* the average times 2^(W_LOG + FRACTION) */
	u64 idle_since;		/* ns */
	u64 bytes;		/* of the packets that it covers and that wait */
	u32 packets;
};

struct aqmlab_class {
	u64 threshold;		/* AQMLAB_THRESHOLD: times 2^32 */
	s64 count;		/* arrivals since the last drop or mark; -1 below min_th */
	bool above_min_th;
};

/* What may change while the queue runs. */
struct aqmlab_settings {
	u64 limit;		/* packets, or bytes with AQMLAB_LIMIT_IN_BYTES */
	bool ecn;
	bool changed;		/* a curve is no longer that of parameters.h */
#if AQMLAB_CHANGEABLE
	struct aqmlab_bounds bounds[AQMLAB_CLASSES];
#endif
};

/* Curves in place of those of parameters.h. */
struct aqmlab_own {
#if AQMLAB_OWN_CURVES
	struct aqmlab_curve curve[AQMLAB_CLASSES];
#endif
#if AQMLAB_OWN_POINTS
	u32 point[AQMLAB_POINTS];
#endif
#if AQMLAB_CHANGEABLE && AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	struct aqmlab_target target[AQMLAB_CLASSES];
#endif
};

/* A reset clears all but settings and curves. */
struct aqmlab_queue {
	struct aqmlab_settings settings;
	struct aqmlab_average average[AQMLAB_AVERAGES];
	struct aqmlab_class class[AQMLAB_CLASSES];
	u64 bytes;		/* waiting */
	u32 packets;
	bool serving;		/* a packet is in transmission */
	u32 serving_class;
	u32 serving_bytes;
	u64 adapted;		/* ns, when the interval to the next step began */
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO
	u64 max_th;		/* of the last class */
	u64 rate;		/* of all arrivals: bytes in the window, times 2^16 */
	u64 rate_before;	/* at the last step */
	u64 rate_bound;		/* C' */
	u64 rate_at;		/* ns, of the last arrival */
	u64 assured_at;		/* ns, of the last arrival of the first class */
#endif
	struct aqmlab_own own;
};

/* What was decided about an arrival, and why. */
struct aqmlab_decision {
	u8 verdict;
	bool drawn;
	u32 p_b;		/* AQMLAB_NO_P_B below min_th */
	u32 draw;
};

#include "curve.h"

/* Set the values of the scenario; a reset keeps later changes. */
static inline void aqmlab_defaults(struct aqmlab_queue *q)
{
	q->settings.limit = AQMLAB_LIMIT;
	q->settings.ecn = AQMLAB_ECN;
	q->settings.changed = false;
#if AQMLAB_CHANGEABLE
	memcpy(q->settings.bounds, aqmlab_bounds, sizeof(aqmlab_bounds));
#endif
#if AQMLAB_OWN_CURVES
	memcpy(q->own.curve, aqmlab_curves, sizeof(aqmlab_curves));
#endif
#if AQMLAB_OWN_POINTS
	memcpy(q->own.point, aqmlab_points, sizeof(aqmlab_points));
#endif
#if AQMLAB_CHANGEABLE && AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	memcpy(q->own.target, aqmlab_targets, sizeof(aqmlab_targets));
#endif
}

/* Change settings while the queue runs; all else goes on. */
static inline void aqmlab_change_settings(struct aqmlab_queue *q, const struct aqmlab_settings *settings)
{
	bool changed = q->settings.changed;
#if AQMLAB_CHANGEABLE
	u32 i;

	for (i = 0; i < AQMLAB_CLASSES; i++)
		changed |= aqmlab_change_curve(q, i, &settings->bounds[i]);
#endif
	q->settings = *settings;
	q->settings.changed = changed;
}

static inline void aqmlab_reset(struct aqmlab_queue *q, u64 now)
{
	const size_t begin = offsetof(struct aqmlab_queue, average);
	u32 i;

	memset((char *)q + begin, 0, offsetof(struct aqmlab_queue, own) - begin);
	q->adapted = now;
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	memcpy(q->own.point, aqmlab_points, sizeof(aqmlab_points));
#elif AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO
	q->own.curve[AQMLAB_CLASSES - 1] = aqmlab_curves[AQMLAB_CLASSES - 1];
	q->max_th = AQMLAB_MAX_TH;
	q->rate_bound = AQMLAB_C_INIT;
	q->rate_at = now;
	q->assured_at = now;
#endif
	for (i = 0; i < AQMLAB_CLASSES; i++) {
		q->class[i].count = AQMLAB_FIRST_COUNT;
		q->class[i].threshold = 1ULL << 32;
	}
}

/* The averages that cover the packets of a class: from the first to before the last. */
static inline u32 aqmlab_first_average(u32 class)
{
	switch (AQMLAB_MEASURED) {
	case AQMLAB_SHARED:
		return 0;
	default:
		return class;
	}
}

static inline u32 aqmlab_last_average(u32 class)
{
	if (AQMLAB_MEASURED == AQMLAB_COUPLED)
		return AQMLAB_AVERAGES;
	return aqmlab_first_average(class) + 1;
}

static inline bool aqmlab_covers(u32 average, u32 class)
{
	return average >= aqmlab_first_average(class) &&
	       average < aqmlab_last_average(class);
}

static inline u64 aqmlab_step(u64 scaled, u64 length)
{
	return scaled + (length << AQMLAB_FRACTION) - (scaled >> AQMLAB_W_LOG);
}

/* What has become of a number that decays by a factor for each bit of m. */
static inline u64 aqmlab_power(u64 scaled, u64 m, const u32 *factors, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if ((m >> i) & 1)
			scaled = mul_u64_u32_shr(scaled, factors[i], 32);
	return scaled;
}

#if AQMLAB_IDLE == AQMLAB_SHIFTS
static inline u64 aqmlab_decay(u64 scaled, u64 idle_ns)
{
	u64 us = div_u64(idle_ns, 1000);
	u64 linear;
	u32 shift;

	/* The longest idle time has 32 bits, as Linux's Scell_max. */
	us = min_t(u64, us, (u32)(255ULL << AQMLAB_CELL_LOG));
	shift = aqmlab_shifts[(us >> AQMLAB_CELL_LOG) & 255];
	if (shift)
		return scaled >> shift;
	linear = mul_u64_u64_shr(scaled, us, AQMLAB_CELL_LOG);
	return linear < scaled >> 1 ? scaled - linear : scaled >> 1;
}
#elif AQMLAB_IDLE == AQMLAB_POWERS
static inline u64 aqmlab_decay(u64 scaled, u64 idle_ns)
{
	u64 m;

	if (idle_ns >= AQMLAB_LONGEST_NS)
		return 0;
	/* Packet times, in 256ths. */
	m = (idle_ns * AQMLAB_IDLE_MULT) >> AQMLAB_IDLE_SHIFT;
	if (AQMLAB_IDLE_WHOLE)
		m &= ~255ULL;
	return aqmlab_power(scaled, m, aqmlab_factors, AQMLAB_FACTORS);
}
#endif

static inline u64 aqmlab_step_after_idle(u64 scaled, u64 idle_ns)
{
#if AQMLAB_IDLE == AQMLAB_STEP
	return aqmlab_step(scaled, 0);
#else
	scaled = aqmlab_decay(scaled, idle_ns);
	return AQMLAB_EXTRA_STEP ? aqmlab_step(scaled, 0) : scaled;
#endif
}

/* Whether an average needs to know the time at the arrival of a packet of this class. */
static inline bool aqmlab_is_idle(const struct aqmlab_queue *q, u32 average)
{
	if (q->average[average].packets)
		return false;
	return AQMLAB_IDLE_NONE_WAITING || !q->serving ||
	       !aqmlab_covers(average, q->serving_class);
}

/* Update the averages of a class with the queue that an arrival finds. */
static inline void aqmlab_update_averages(struct aqmlab_queue *q, u64 now, u32 class)
{
	u32 i;

	for (i = aqmlab_first_average(class); i < aqmlab_last_average(class); i++) {
		struct aqmlab_average *average = &q->average[i];
		u64 length = AQMLAB_IN_BYTES ? average->bytes : average->packets;

		if (aqmlab_is_idle(q, i)) {
			average->scaled = aqmlab_step_after_idle(average->scaled,
								 now - average->idle_since);
			if (!AQMLAB_IDLE_NONE_WAITING)
				average->idle_since = now;
			continue;
		}
		if (AQMLAB_IN_SERVICE_COUNTS && q->serving &&
		    aqmlab_covers(i, q->serving_class))
			length += AQMLAB_IN_BYTES ? q->serving_bytes : 1;
		average->scaled = aqmlab_step(average->scaled, length);
	}
}

/* The average by which a class is judged. */
static inline u64 aqmlab_average_of(const struct aqmlab_queue *q, u32 class)
{
	return q->average[aqmlab_first_average(class)].scaled;
}

static inline const struct aqmlab_curve *aqmlab_curve_of(const struct aqmlab_queue *q, u32 class)
{
#if AQMLAB_OWN_CURVES
	return &q->own.curve[class];
#else
	return &aqmlab_curves[class];
#endif
}

/* p_b of a curve at an average. */
static inline u32 aqmlab_p_b_at(const struct aqmlab_curve *curve, const u32 *points, u64 x)
{
	const struct aqmlab_segment *segment = curve->segment;
	const u32 *point;
	u64 z, cell;
	u32 i;

	if (x < curve->begin)
		return AQMLAB_NO_P_B;
	if (x >= curve->end)
		return curve->above;
	for (i = 1; i < curve->segments && x >= curve->segment[i].from; i++)
		segment++;
	z = ((x - segment->from) * segment->scale) >> segment->shift;
	cell = segment->first + (z >> AQMLAB_CELL_FRACTION);
	/* The tables have room for each cell; BPF's verifier must see it. */
	point = points + min_t(u64, curve->points + cell, AQMLAB_POINTS - 2);
	z &= (1U << AQMLAB_CELL_FRACTION) - 1;
	return point[0] + (u32)(((u64)(point[1] - point[0]) * z) >> AQMLAB_CELL_FRACTION);
}

#if AQMLAB_CHANGEABLE
static noinline u32 aqmlab_p_b_changed(const struct aqmlab_queue *q, u32 class, u64 x)
{
	return aqmlab_p_b_at(&q->own.curve[class], q->own.point, x);
}
#endif

/* p_b of a class at its average. The compiler knows curves that nothing has changed. */
static inline u32 aqmlab_p_b(const struct aqmlab_queue *q, u32 class)
{
	u64 x = aqmlab_average_of(q, class) >> AQMLAB_W_LOG;

#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO
	if (class == AQMLAB_CLASSES - 1)
		return aqmlab_p_b_at(&q->own.curve[class], q->own.point, x);
#endif
#if AQMLAB_CHANGEABLE
	if (unlikely(q->settings.changed))
		return aqmlab_p_b_changed(q, class, x);
#endif
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	return aqmlab_p_b_at(&aqmlab_curves[class], q->own.point, x);
#else
	return aqmlab_p_b_at(&aqmlab_curves[class], aqmlab_points, x);
#endif
}

/* Whether at most one packet or byte waits. */
static inline bool aqmlab_is_guarded(const struct aqmlab_queue *q)
{
	u64 length = AQMLAB_IN_BYTES ? q->bytes : q->packets;

	if (!AQMLAB_GUARD_ONE)
		return false;
	if (AQMLAB_IN_SERVICE_COUNTS && q->serving)
		length += AQMLAB_IN_BYTES ? q->serving_bytes : 1;
	return length <= 1;
}

static inline bool aqmlab_is_full_for(const struct aqmlab_queue *q, u32 bytes)
{
	u64 serving = AQMLAB_IN_SERVICE_COUNTS && q->serving;

	if (!AQMLAB_LIMIT_IN_BYTES)
		return q->packets + serving >= q->settings.limit;
	if (AQMLAB_STRICT_LIMIT)
		return q->bytes >= q->settings.limit;
	return q->bytes + bytes + serving * q->serving_bytes > q->settings.limit;
}

/* p_b times the size of the packet over the mean packet. */
static inline u32 aqmlab_scale(u32 p_b, u32 bytes)
{
	u64 share = min_t(u64, ((u64)bytes * AQMLAB_SIZE_RECIPROCAL) >> 16, ~0U);

	return min_t(u64, ((u64)p_b * share) >> 16, AQMLAB_ONE);
}

/* Linux: the first arrival with count p_b at or above the threshold. */
static inline bool aqmlab_passes_threshold(struct aqmlab_class *class, u64 count, u32 p_b,
					   struct aqmlab_decision *decision)
{
	bool picked = count && p_b && 2 * count * p_b >= class->threshold;

	if (picked || !count) {
		decision->draw = aqmlab_random();
		decision->drawn = true;
		class->threshold = decision->draw;
	}
	return picked;
}

/* Whether the arrival just counted is dropped or marked. */
static inline bool aqmlab_picks(struct aqmlab_class *class, u32 p_b, u32 bytes,
				struct aqmlab_decision *decision)
{
	u64 count = clamp_t(s64, class->count, 0, S32_MAX);
	u64 divisor, done;

	if (AQMLAB_SCALES_P_B)
		p_b = aqmlab_scale(p_b, bytes);
	if (AQMLAB_SPACING == AQMLAB_THRESHOLD)
		return aqmlab_passes_threshold(class, count, p_b, decision);
	decision->draw = aqmlab_random();
	decision->drawn = true;
	done = count * p_b;
	switch (AQMLAB_SPACING) {
	case AQMLAB_GEOMETRIC:
		divisor = AQMLAB_ONE;
		break;
	case AQMLAB_WAIT:
		if (done < AQMLAB_ONE)
			return false;
		divisor = done < 2ULL * AQMLAB_ONE ? 2ULL * AQMLAB_ONE - done : 0;
		break;
	case AQMLAB_DSRED:
		if (done > AQMLAB_ONE)
			return false;
		fallthrough;
	default:
		divisor = done < AQMLAB_ONE ? AQMLAB_ONE - done : 0;
	}
	return decision->draw * divisor < (u64)p_b << 32;
}

/* Whether a drop at p_b = 1 is forced. */
static inline bool aqmlab_forces(const struct aqmlab_queue *q, u32 class)
{
	u64 x = aqmlab_average_of(q, class) >> AQMLAB_W_LOG;

	if (AQMLAB_P_ONE_IS_EARLY)
		return false;
	return !AQMLAB_FORCED_AT_END || x >= aqmlab_curve_of(q, class)->end;
}

/* Decide about an arrival, after the averages are updated; a full buffer comes last. */
static inline void aqmlab_drop_decision(struct aqmlab_queue *q, u32 number, u32 bytes,
					struct aqmlab_decision *decision)
{
	struct aqmlab_class *class = &q->class[number];
	decision->verdict = AQMLAB_ACCEPT;
	decision->drawn = false;
	decision->draw = 0;
	decision->p_b = aqmlab_p_b(q, number);
	class->count++;
	if (decision->p_b == AQMLAB_NO_P_B || aqmlab_is_guarded(q)) {
		class->above_min_th = false;
		if (!AQMLAB_CROSSING_COUNT_ONE)
			class->count = -1;
		return;
	}
	if (decision->p_b >= AQMLAB_ONE && aqmlab_forces(q, number)) {
		class->count = AQMLAB_FORCED_COUNT;
		decision->verdict = AQMLAB_FORCED;
	} else if (AQMLAB_CROSSING_COUNT_ONE && !class->above_min_th) {
		class->above_min_th = true;
		class->count = 1;
	} else if (aqmlab_picks(class, decision->p_b, bytes, decision)) {
		class->count = 0;
		decision->verdict = AQMLAB_EARLY;
	}
}

#include "adaptation.h"

/* Decide about an arrival at a time in ns. The caller accepts, marks or drops. */
static inline void aqmlab_decide(struct aqmlab_queue *q, u64 now, u32 class, u32 bytes,
				 struct aqmlab_decision *decision)
{
	if (AQMLAB_LAST_N) {
		*decision = (struct aqmlab_decision){
			.verdict = aqmlab_is_full_for(q, bytes) ? AQMLAB_OVERFLOW : AQMLAB_ACCEPT,
			.p_b = AQMLAB_NO_P_B,
		};
		return;
	}
	if (AQMLAB_FULL_FIRST && aqmlab_is_full_for(q, bytes)) {
		*decision = (struct aqmlab_decision){
			.verdict = AQMLAB_OVERFLOW,
			.p_b = aqmlab_p_b(q, class),
		};
		return;
	}
	aqmlab_update_averages(q, now, class);
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	aqmlab_adapt(q, now);
#endif
	aqmlab_drop_decision(q, class, bytes, decision);
	if (aqmlab_is_full_for(q, bytes)) {
		decision->verdict = AQMLAB_OVERFLOW;
		if (AQMLAB_OVERFLOW_RESTARTS)
			q->class[class].count = 0;
	}
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RIO
	aqmlab_adapt(q, now, class, bytes);
#endif
}

/* Whether the victim of a decision is marked; ecn are the two bits of its header. */
static inline bool aqmlab_marks(const struct aqmlab_queue *q, const struct aqmlab_decision *decision, u8 ecn)
{
	if (!AQMLAB_ECN || !q->settings.ecn || !(ecn & 3))
		return false;
	if (decision->verdict == AQMLAB_EARLY)
		return decision->p_b <= AQMLAB_MARK_UP_TO;
	return decision->verdict == AQMLAB_FORCED && AQMLAB_MARK_FORCED;
}

/* A packet joins the tail. */
static inline void aqmlab_joins(struct aqmlab_queue *q, u32 class, u32 bytes)
{
	u32 i;

	for (i = aqmlab_first_average(class); i < aqmlab_last_average(class); i++) {
		q->average[i].packets++;
		q->average[i].bytes += bytes;
	}
	q->packets++;
	q->bytes += bytes;
}

/* A packet leaves the queue, by service or by drop. */
static inline void aqmlab_leaves(struct aqmlab_queue *q, u32 class, u32 bytes)
{
	u32 i;

	for (i = aqmlab_first_average(class); i < aqmlab_last_average(class); i++) {
		q->average[i].packets--;
		q->average[i].bytes -= bytes;
	}
	q->packets--;
	q->bytes -= bytes;
}

/* Note since when averages are idle, now that the service of a packet ended or began. */
static inline void aqmlab_note_idle(struct aqmlab_queue *q, u64 now, u32 ended)
{
	u32 i;

	for (i = aqmlab_first_average(ended); i < aqmlab_last_average(ended); i++)
		if (aqmlab_is_idle(q, i))
			q->average[i].idle_since = now;
}

/* The service of a packet that has left the queue begins. */
static inline void aqmlab_serve(struct aqmlab_queue *q, u64 now, u32 class, u32 bytes)
{
	bool was_serving = q->serving;
	u32 before = q->serving_class;

	q->serving = true;
	q->serving_class = class;
	q->serving_bytes = bytes;
	if (AQMLAB_IDLE_NONE_WAITING)
		aqmlab_note_idle(q, now, class);
	else if (was_serving)
		aqmlab_note_idle(q, now, before);
}

/* The link has asked for a packet, and none waits. */
static inline void aqmlab_serve_nothing(struct aqmlab_queue *q, u64 now)
{
	if (!q->serving)
		return;
	q->serving = false;
	if (!AQMLAB_IDLE_NONE_WAITING)
		aqmlab_note_idle(q, now, q->serving_class);
}

/* Whether the time of an arrival or a departure matters. */
static inline bool aqmlab_needs_time(const struct aqmlab_queue *q)
{
	return AQMLAB_AVERAGES > 1 || AQMLAB_IDLE_NONE_WAITING || AQMLAB_PROTECTS ||
	       AQMLAB_ADAPTATION || !q->packets;
}

#endif
