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
	u8 ttl_final;		/* DDRED by fraction: at the destination; 0: not known */
};

/* Which packets the victim is chosen from. */
enum aqmlab_among {
	AQMLAB_AMONG_ARRIVING,	/* it is the arriving packet */
	AQMLAB_AMONG_WAITING,	/* the packets that wait, without the arriving one */
	AQMLAB_AMONG_ALL,
};

struct aqmlab_victim {
	struct sk_buff *skb;
	u32 rank;		/* from 1, in its list of the index, or of those with its share */
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

/* The share of its route that a packet has travelled, times 2^31. */
static inline u32 aqmlab_route_share(const struct aqmlab_skb *packet)
{
	u32 hops = aqmlab_distance(packet);
	u32 route = packet->ttl_initial > packet->ttl_final ?
		    packet->ttl_initial - packet->ttl_final : 0;

	if (!packet->ttl_final)
		return AQMLAB_UNKNOWN_SHARE;
	/* Beyond the end of its route it has travelled all of it. */
	return hops < route ? (u32)div_u64((u64)hops << 31, route) : AQMLAB_ONE;
}

/* How far a packet has travelled: hops, or its share of the route. */
static inline u32 aqmlab_travelled(const struct aqmlab_skb *packet)
{
	return AQMLAB_BY_SHARE ? aqmlab_route_share(packet) : aqmlab_distance(packet);
}

/* The field `flow` of the log: with shares its lowest 8 bits are TTL_f. */
static inline u32 aqmlab_logged_flow(const struct aqmlab_skb *packet)
{
	return AQMLAB_BY_SHARE ? (packet->flow & ~255U) | packet->ttl_final : packet->flow;
}

#include "index.h"

/* The packet that has travelled least; of several the newest, the oldest or one at random. */
static inline void aqmlab_find_nearest(const struct aqmlab_index *index,
				       struct aqmlab_victim *victim)
{
	u32 list = aqmlab_nearest_list(index);
	struct aqmlab_path path;
	u32 ties, rank = 1;

	if (list == AQMLAB_NOBODY)
		return;
	ties = aqmlab_packets_in(index, list);
	if (AQMLAB_TIES == AQMLAB_NEWEST)
		rank = ties;
	if (AQMLAB_TIES == AQMLAB_RANDOM) {
		victim->draw = aqmlab_random();
		victim->drawn = true;
		rank = 1 + (((u64)victim->draw * ties) >> 32);
	}
	/* Those that have travelled least are the first in order of shares. */
	aqmlab_seek(index, AQMLAB_BY_SHARE ? 0 : list, rank, false, &path);
	victim->skb = aqmlab_at(index, &path);
	victim->rank = path.rank;
}

/*
 * PC-RED: pick a packet at random. From it on towards the tail the first that is open is
 * the victim; if there is none, the first open one from the head (AQMLAB_CIRCULAR), else
 * the last.
 */
static inline void aqmlab_find_open(const struct aqmlab_index *index, u32 packets,
				    struct aqmlab_victim *victim)
{
	struct aqmlab_path path;
	u32 before;

	victim->draw = aqmlab_random();
	victim->drawn = true;
	aqmlab_seek(index, 0, 1 + (((u64)victim->draw * packets) >> 32), false, &path);
	before = path.open;
	aqmlab_seek(index, 0, before + 1, true, &path);
	if (!aqmlab_at(index, &path) && AQMLAB_CIRCULAR)
		aqmlab_seek(index, 0, 1, true, &path);
	if (!aqmlab_at(index, &path))
		aqmlab_seek(index, 0, packets, false, &path);
	victim->skb = aqmlab_at(index, &path);
	victim->rank = path.rank;
}

/* Find the victim among the packets of the index. */
static inline void aqmlab_find_victim(const struct aqmlab_queue *q,
				      const struct aqmlab_index *index,
				      struct aqmlab_victim *victim)
{
	memset(victim, 0, sizeof(*victim));
	if (AQMLAB_PROTECTS)
		aqmlab_find_open(index, q->packets, victim);
	else
		aqmlab_find_nearest(index, victim);
}

/*
 * DDRED's tail-drop variant: at a full queue, compare the arriving packet with the
 * last ones. Of those that have travelled equally far the arriving one is the victim,
 * then the newest. A packet that is too short to make room in bytes is kept.
 */
static inline enum aqmlab_among aqmlab_find_in_tail(const struct aqmlab_queue *q,
						    struct sk_buff *tail,
						    struct sk_buff *arriving,
						    struct aqmlab_victim *victim)
{
	struct sk_buff *skb, *found = NULL;
	u32 least = ~0U, left = AQMLAB_LAST_N;

	for (skb = tail; skb && left; skb = skb->prev, left--) {
		u32 travelled = aqmlab_travelled(aqmlab_skb(skb));

		if (travelled >= least)
			continue;
		least = travelled;
		found = skb;
	}
	if (found && least < aqmlab_travelled(aqmlab_skb(arriving)) &&
	    (!AQMLAB_LIMIT_IN_BYTES ||
	     q->bytes + aqmlab_length(arriving) <= q->settings.limit + aqmlab_length(found))) {
		victim->skb = found;
		return AQMLAB_AMONG_WAITING;
	}
	victim->skb = arriving;
	return AQMLAB_AMONG_ARRIVING;
}

#endif
