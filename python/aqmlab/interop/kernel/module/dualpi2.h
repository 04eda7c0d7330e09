/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decisions of DualPI2 (RFC 9332, appendix A), in the integers and with the rules of
 * Linux, as aqmlab's core computes them: crates/aqm/src/disciplines/dualpi2/linux.rs has
 * the same lines in Rust, and names the differences from the RFC.
 *
 * Packets with ECT(1) or CE go to the queue L of low latency, all others to the classic
 * queue C. A PI controller computes p' from the longer delay of both queues; times in ns,
 * probabilities times 2^32:
 *
 *   every Tupdate   p' <- p' + alpha (delay - target) + beta (delay - old delay)
 *   C               p_C = p'^2     dropped, or marked if it is ECN-capable
 *   L               p_CL = k p'    marked, and also where it waited longer than the step
 *   overload        p_CL > 1       C is dropped and not marked; L is dropped with p_C
 *
 * A packet is hit if a draw is at most the probability, with p'^2 if two are. There is no
 * timer: a call first computes the steps that are due, each with the queues as they were
 * then, as nothing has moved since. What the scenario says is in parameters.h.
 */
#ifndef AQMLAB_DUALPI2_H
#define AQMLAB_DUALPI2_H

#include "record.h"
#include "parameters.h"

#define AQMLAB_GAIN_SHIFT	6	/* a gain is per 64 ns */
#define AQMLAB_MOST_P		(AQMLAB_DROPS_IN_OVERLOAD ? U32_MAX : U32_MAX / AQMLAB_COUPLING)
#define AQMLAB_FIRST_CREDIT	((s32)(AQMLAB_MTU * (u32)(AQMLAB_WEIGHT_C - AQMLAB_WEIGHT_L)))

enum aqmlab_which {
	AQMLAB_L,
	AQMLAB_C,
	AQMLAB_NEITHER,
};

/* Of a waiting packet. */
struct aqmlab_skb {
	u64 arrival;		/* ns */
	u32 number;
	u8 tos;			/* with which it came */
	bool step;		/* L's native AQM looks at its delay */
};

struct aqmlab_fifo {
	u64 bytes;
	u64 oldest;		/* ns, the arrival of its head */
	u32 packets;
};

/* A reset clears all but the limit. */
struct aqmlab_queue {
	u64 limit;		/* packets, or bytes with AQMLAB_LIMIT_IN_BYTES */
	struct aqmlab_fifo fifo[AQMLAB_NEITHER];
	u64 memory;		/* bytes of the buffers of all that wait */
	u64 delay;		/* ns, of the last step */
	u64 next_step;		/* ns */
	u32 p;			/* p', times 2^32 */
	s32 credit;		/* above 0 C is served, if both wait */
};

/* What was decided about a packet, and why. */
struct aqmlab_decision {
	u8 verdict;
	bool marks;		/* in place of a drop */
	u8 draws;
	u32 draw[2];
};

static inline void aqmlab_defaults(struct aqmlab_queue *q)
{
	q->limit = AQMLAB_LIMIT;
}

static inline void aqmlab_reset(struct aqmlab_queue *q, u64 now)
{
	*q = (struct aqmlab_queue){
		.limit = q->limit,
		.next_step = now + AQMLAB_T_UPDATE_NS,
		.credit = AQMLAB_FIRST_CREDIT,
	};
}

static inline u32 aqmlab_packets(const struct aqmlab_queue *q)
{
	return q->fifo[AQMLAB_L].packets + q->fifo[AQMLAB_C].packets;
}

static inline u64 aqmlab_bytes(const struct aqmlab_queue *q)
{
	return q->fifo[AQMLAB_L].bytes + q->fifo[AQMLAB_C].bytes;
}

static inline enum aqmlab_which aqmlab_queue_of(u8 tos)
{
	/* The last bit of ECT(1) and of CE. */
	return tos & 1 ? AQMLAB_L : AQMLAB_C;
}

static inline bool aqmlab_is_dropped(const struct aqmlab_decision *decision)
{
	return decision->verdict != AQMLAB_ACCEPT && !decision->marks;
}

/* The longer delay of both queues. */
static inline u64 aqmlab_delay(const struct aqmlab_queue *q, u64 now)
{
	u64 delay = 0;
	u32 i;

	for (i = 0; i < AQMLAB_NEITHER; i++)
		if (q->fifo[i].packets && now - q->fifo[i].oldest > delay)
			delay = now - q->fifo[i].oldest;
	return delay;
}

/* A step of the controller. */
static inline void aqmlab_step(struct aqmlab_queue *q, u64 now)
{
	u64 delay = aqmlab_delay(q, now);
	u64 change = (delay - AQMLAB_TARGET_NS) * AQMLAB_ALPHA + (delay - q->delay) * AQMLAB_BETA;
	bool rises = (s64)change > 0;
	u32 size = (rises ? change : -change) >> AQMLAB_GAIN_SHIFT;
	u32 p = rises ? q->p + size : q->p - size;

	if (rises && p < q->p)
		p = U32_MAX;
	if (!rises && p > q->p)
		p = 0;
	q->p = min_t(u32, p, AQMLAB_MOST_P);
	q->delay = delay;
}

/* Compute the steps that are due. */
static inline void aqmlab_catch_up(struct aqmlab_queue *q, u64 now)
{
	while (q->next_step <= now) {
		u64 delay = q->delay;
		u32 p = q->p;

		aqmlab_step(q, q->next_step);
		/* Once p' rests it stays, of empty queues and at the most: go on to the last one. */
		if (q->p == p && (aqmlab_packets(q) ? p == AQMLAB_MOST_P && q->delay > delay : !delay)) {
			u64 left = div64_u64(now - q->next_step, AQMLAB_T_UPDATE_NS);

			q->next_step += left * AQMLAB_T_UPDATE_NS;
			q->delay = aqmlab_delay(q, q->next_step);
		}
		q->next_step += AQMLAB_T_UPDATE_NS;
	}
}

static inline bool aqmlab_hits(u32 p, struct aqmlab_decision *decision)
{
	u32 draw = aqmlab_random();

	decision->draw[decision->draws++] = draw;
	return draw <= p;
}

static inline void aqmlab_mark(struct aqmlab_decision *decision)
{
	decision->verdict = AQMLAB_EARLY;
	decision->marks = true;
}

/* Decide by chance about a packet outside the queues. */
static inline void aqmlab_decide(struct aqmlab_queue *q, enum aqmlab_which which, u8 tos,
				 struct aqmlab_decision *decision)
{
	u64 p_cl = (u64)q->p * AQMLAB_COUPLING;
	bool overload = p_cl > U32_MAX;

	/* Too little waits for congestion. */
	if (aqmlab_bytes(q) < 2ULL * AQMLAB_MTU)
		return;
	if (which == AQMLAB_C) {
		if (!aqmlab_hits(q->p, decision) || !aqmlab_hits(q->p, decision))
			return;
		decision->verdict = AQMLAB_EARLY;
		decision->marks = !overload && (tos & 3);
	} else if (!overload) {
		if (aqmlab_hits(p_cl, decision))
			aqmlab_mark(decision);
	} else if (AQMLAB_DROPS_IN_OVERLOAD && aqmlab_hits(q->p, decision) &&
		   aqmlab_hits(q->p, decision)) {
		decision->verdict = AQMLAB_FORCED;
	} else {
		aqmlab_mark(decision);
	}
}

static inline bool aqmlab_is_full_for(const struct aqmlab_queue *q, u32 bytes, u32 memory)
{
	if (q->memory + memory > AQMLAB_MEMLIMIT)
		return true;
	if (AQMLAB_LIMIT_IN_BYTES)
		return aqmlab_bytes(q) + bytes > q->limit;
	return aqmlab_packets(q) >= q->limit;
}

/* A packet arrives, with the bytes of its buffer. Unless it is dropped it joins its queue. */
static inline void aqmlab_arrive(struct aqmlab_queue *q, u64 now, struct aqmlab_skb *packet,
				 u32 bytes, u32 memory, struct aqmlab_decision *decision)
{
	enum aqmlab_which which = aqmlab_queue_of(packet->tos);
	struct aqmlab_fifo *fifo = &q->fifo[which];

	aqmlab_catch_up(q, now);
	*decision = (struct aqmlab_decision){ };
	if (aqmlab_is_full_for(q, bytes, memory))
		decision->verdict = AQMLAB_OVERFLOW;
	else if (AQMLAB_AT_ARRIVAL)
		aqmlab_decide(q, which, packet->tos, decision);
	if (aqmlab_is_dropped(decision))
		return;
	packet->arrival = now;
	packet->step = which == AQMLAB_L && fifo->packets >= AQMLAB_STEP_PACKETS;
	if (!fifo->packets)
		fifo->oldest = now;
	fifo->packets++;
	fifo->bytes += bytes;
	q->memory += memory;
}

/* Return the queue whose turn it is, after the steps that are due. */
static inline enum aqmlab_which aqmlab_turn(struct aqmlab_queue *q, u64 now)
{
	aqmlab_catch_up(q, now);
	if (q->fifo[AQMLAB_L].packets && (!q->fifo[AQMLAB_C].packets || q->credit <= 0))
		return AQMLAB_L;
	return q->fifo[AQMLAB_C].packets ? AQMLAB_C : AQMLAB_NEITHER;
}

/* The head of a queue leaves it; next is the one behind, or NULL. */
static inline void aqmlab_leave(struct aqmlab_queue *q, u64 now, enum aqmlab_which which,
				const struct aqmlab_skb *packet, u32 bytes, u32 memory,
				const struct aqmlab_skb *next, struct aqmlab_decision *decision)
{
	struct aqmlab_fifo *other = &q->fifo[which == AQMLAB_L ? AQMLAB_C : AQMLAB_L];
	s32 weight = which == AQMLAB_L ? AQMLAB_WEIGHT_C : -AQMLAB_WEIGHT_L;
	struct aqmlab_fifo *fifo = &q->fifo[which];

	fifo->packets--;
	fifo->bytes -= bytes;
	fifo->oldest = next ? next->arrival : 0;
	q->memory -= memory;
	*decision = (struct aqmlab_decision){ };
	if (!AQMLAB_AT_ARRIVAL)
		aqmlab_decide(q, which, packet->tos, decision);
	if (aqmlab_is_dropped(decision))
		return;
	if (packet->step && now - packet->arrival > AQMLAB_STEP_NS)
		aqmlab_mark(decision);
	if (other->packets)
		q->credit = (u32)q->credit + (u32)weight * bytes;
}

/* The link has asked, and neither queue has a packet. Return whether the credit changes. */
static inline bool aqmlab_serve_nothing(struct aqmlab_queue *q)
{
	bool changes = q->credit != AQMLAB_FIRST_CREDIT;

	q->credit = AQMLAB_FIRST_CREDIT;
	return changes;
}

#endif
