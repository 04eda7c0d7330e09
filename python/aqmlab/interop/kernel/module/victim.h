/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The victim: which packet is dropped or marked when one must be. The same lines in
 * Rust are in crates/aqm/src/red/victim/.
 */
#ifndef AQMLAB_VICTIM_H
#define AQMLAB_VICTIM_H

/* What a packet in the queue is known by. */
struct aqmlab_skb {
	u32 number;
	u8 class;
	u8 tos;
	u8 ttl;
	u8 ttl_initial;
	u32 flow;
	u8 level;		/* PC-RED: priority that it asks for; 0: none */
	bool open;		/* PC-RED: it may be picked */
};

/* Which packets the victim is chosen from. */
enum aqmlab_among {
	AQMLAB_AMONG_ARRIVING,	/* it is the arriving packet */
	AQMLAB_AMONG_WAITING,	/* the packets that wait, without the arriving one */
	AQMLAB_AMONG_ALL,
};

struct aqmlab_victim {
	struct sk_buff *skb;
	struct sk_buff *before;	/* the packet ahead of it */
	bool drawn;
	u32 draw;
};

static inline enum aqmlab_among aqmlab_among(u8 verdict, bool is_empty)
{
	if (!AQMLAB_SEARCHES ||
	    (AQMLAB_FULL_FIRST && verdict == AQMLAB_OVERFLOW) ||
	    (AQMLAB_EARLY_ONLY && verdict != AQMLAB_EARLY))
		return AQMLAB_AMONG_ARRIVING;
	if (AQMLAB_PROTECTS)
		return AQMLAB_AMONG_ALL;
	if (AQMLAB_ARRIVAL_IS_CANDIDATE || is_empty || verdict == AQMLAB_OVERFLOW)
		return AQMLAB_AMONG_ALL;
	return AQMLAB_AMONG_WAITING;
}

/* Hops that a packet has travelled. */
static inline u32 aqmlab_distance(const struct aqmlab_skb *packet)
{
	return packet->ttl_initial > packet->ttl ? packet->ttl_initial - packet->ttl : 0;
}

/*
 * Find the packet that has travelled least, from the head up to but not including
 * one (NULL: the end). Of several it is the newest, the oldest or one at random.
 */
static inline void aqmlab_find_nearest(struct sk_buff *head, const struct sk_buff *end,
				       struct aqmlab_victim *victim)
{
	u32 least = ~0U, ties = 0, skip = 0;
	struct sk_buff *skb, *before;

	for (skb = head; skb && skb != end; skb = skb->next) {
		u32 distance = aqmlab_distance(aqmlab_skb(skb));

		if (distance > least)
			continue;
		ties = distance < least ? 1 : ties + 1;
		least = distance;
	}
	if (!ties)
		return;
	if (AQMLAB_TIES == AQMLAB_NEWEST)
		skip = ties - 1;
	if (AQMLAB_TIES == AQMLAB_RANDOM) {
		victim->draw = aqmlab_random();
		victim->drawn = true;
		skip = ((u64)victim->draw * ties) >> 32;
	}
	before = NULL;
	for (skb = head; skb != end; before = skb, skb = skb->next)
		if (aqmlab_distance(aqmlab_skb(skb)) == least && !skip--)
			break;
	victim->skb = skb;
	victim->before = before;
}

/*
 * PC-RED: pick a packet at random. From it on towards the tail the first that is open is
 * the victim; if there is none, the first open one from the head (AQMLAB_CIRCULAR), else
 * the last.
 */
static inline void aqmlab_find_open(struct sk_buff *head, u32 packets,
				    struct aqmlab_victim *victim)
{
	struct sk_buff *skb, *before = NULL;
	bool found = false;
	u32 skip;

	victim->draw = aqmlab_random();
	victim->drawn = true;
	skip = ((u64)victim->draw * packets) >> 32;
	for (skb = head; skb; before = skb, skb = skb->next) {
		bool open = aqmlab_skb(skb)->open;

		if (skip) {
			skip--;
			open = open && AQMLAB_CIRCULAR && !found;
		} else if (open || (!skb->next && !found)) {
			victim->skb = skb;
			victim->before = before;
			return;
		}
		if (open) {
			victim->skb = skb;
			victim->before = before;
			found = true;
		}
	}
}

/* Find the victim, from the head up to but not including one packet (NULL: the end). */
static inline void aqmlab_find_victim(const struct aqmlab_queue *q, struct sk_buff *head,
				      const struct sk_buff *end, struct aqmlab_victim *victim)
{
	memset(victim, 0, sizeof(*victim));
	if (AQMLAB_PROTECTS)
		aqmlab_find_open(head, q->packets, victim);
	else
		aqmlab_find_nearest(head, end, victim);
}

/*
 * DDRED's tail-drop variant: at a full queue, compare the arriving packet with the
 * last ones. Of those that have travelled equally far the arriving one is the victim,
 * then the newest. A packet that is too short to make room in bytes is kept.
 */
static inline enum aqmlab_among aqmlab_find_in_tail(const struct aqmlab_queue *q,
						    struct sk_buff *head,
						    struct sk_buff *arriving,
						    struct aqmlab_victim *victim)
{
	struct sk_buff *skb, *before = NULL, *found = NULL;
	u32 least = ~0U, ahead = q->packets;

	for (skb = head; skb; before = skb, skb = skb->next) {
		u32 distance = aqmlab_distance(aqmlab_skb(skb));

		if (ahead-- > AQMLAB_LAST_N || distance > least)
			continue;
		least = distance;
		found = skb;
		victim->before = before;
	}
	if (found && least < aqmlab_distance(aqmlab_skb(arriving)) &&
	    (!AQMLAB_LIMIT_IN_BYTES ||
	     q->bytes + aqmlab_length(arriving) <= AQMLAB_LIMIT + aqmlab_length(found))) {
		victim->skb = found;
		return AQMLAB_AMONG_WAITING;
	}
	victim->skb = arriving;
	return AQMLAB_AMONG_ARRIVING;
}

#endif
