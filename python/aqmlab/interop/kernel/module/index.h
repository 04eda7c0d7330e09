/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An index of the packets that wait, so that the search for a victim takes a time that
 * grows with the logarithm of their number: skip lists with widths (Pugh 1990, "A skip
 * list cookbook", 3.4), each in order of arrival. DDRED has a list for each distance and
 * a bit for each list with packets, PC-RED one list, which counts open packets too. DDRED
 * by fraction has one list in order of shares, in which packets of one share are in order
 * of arrival: routes of up to 254 hops have about 20,000 different shares.
 *
 * A node's heights follow from the number of the packet, not from draws, which decide.
 */
#ifndef AQMLAB_INDEX_H
#define AQMLAB_INDEX_H

#define AQMLAB_INDEXED		(AQMLAB_SEARCHES && !AQMLAB_LAST_N)
#define AQMLAB_LISTS		(AQMLAB_PROTECTS || AQMLAB_BY_SHARE ? 1 : 256)
#define AQMLAB_HEIGHT		8	/* a node is so high once in 4^7 */

/* To the next node of this height at least, and what is behind this node up to that one. */
struct aqmlab_step {
	u32 next;		/* AQMLAB_NOBODY: the end */
	u32 packets;
	u32 open;
};

struct aqmlab_node {
	struct sk_buff *skb;
	struct aqmlab_step step[AQMLAB_HEIGHT];
#if AQMLAB_BY_SHARE
	u32 share;
#endif
};

struct aqmlab_index {
	struct aqmlab_node *node;	/* a head for each list, then AQMLAB_SLOTS for packets */
	u64 filled[4];			/* lists with packets */
	u32 free;
};

/* Where a search ended: the last node of each height before the packet, and its rank from 1. */
struct aqmlab_path {
	struct aqmlab_step *step[AQMLAB_HEIGHT];
	u32 passed[AQMLAB_HEIGHT];	/* with shares: packets up to that node */
	u32 rank;
	u32 open;		/* packets before it that are open */
};

static inline void aqmlab_reset_index(struct aqmlab_index *index)
{
	u32 i, h;

	memset(index->filled, 0, sizeof(index->filled));
	for (i = 0; i < AQMLAB_LISTS; i++)
		for (h = 0; h < AQMLAB_HEIGHT; h++)
			index->node[i].step[h] = (struct aqmlab_step){ .next = AQMLAB_NOBODY };
	for (i = AQMLAB_LISTS; i < AQMLAB_LISTS + AQMLAB_SLOTS; i++)
		index->node[i].step[0].next = i + 1;
	index->node[i - 1].step[0].next = AQMLAB_NOBODY;
	index->free = AQMLAB_LISTS;
}

/* The list of a packet; with shares, the share. */
static inline u32 aqmlab_list_of(const struct aqmlab_skb *packet)
{
	return AQMLAB_PROTECTS ? 0 : aqmlab_travelled(packet);
}

#if AQMLAB_BY_SHARE
/* How many packets have a smaller share. */
static inline u32 aqmlab_packets_before(const struct aqmlab_index *index, u32 share)
{
	const struct aqmlab_node *node = index->node;
	u32 packets = 0;
	int h;

	for (h = AQMLAB_HEIGHT - 1; h >= 0; h--) {
		const struct aqmlab_step *step = &node->step[h];

		while (step->next != AQMLAB_NOBODY && index->node[step->next].share < share) {
			packets += step->packets;
			node = &index->node[step->next];
			step = &node->step[h];
		}
	}
	return packets;
}

/* Of the least share. */
static inline u32 aqmlab_packets_in(const struct aqmlab_index *index, u32 share)
{
	return aqmlab_packets_before(index, share + 1);
}
#else
static inline u32 aqmlab_packets_in(const struct aqmlab_index *index, u32 list)
{
	const struct aqmlab_step *step = &index->node[list].step[AQMLAB_HEIGHT - 1];
	u32 packets = step->packets;

	while (step->next != AQMLAB_NOBODY) {
		step = &index->node[step->next].step[AQMLAB_HEIGHT - 1];
		packets += step->packets;
	}
	return packets;
}
#endif

/*
 * Go to the packet of a rank in a list, or to the open packet of a rank among the open
 * ones, from 1. A rank beyond all leads to the end.
 */
static inline void aqmlab_seek(const struct aqmlab_index *index, u32 list, u32 rank, bool open,
			       struct aqmlab_path *path)
{
	struct aqmlab_node *node = &index->node[list];
	u32 packets = 0, opened = 0;
	int h;

	for (h = AQMLAB_HEIGHT - 1; h >= 0; h--) {
		struct aqmlab_step *step = &node->step[h];

		while (step->next != AQMLAB_NOBODY &&
		       (open ? opened + step->open : packets + step->packets) < rank) {
			packets += step->packets;
			opened += step->open;
			node = &index->node[step->next];
			step = &node->step[h];
		}
		path->step[h] = step;
		if (AQMLAB_BY_SHARE)
			path->passed[h] = packets;
	}
	path->rank = packets + 1;
	path->open = opened;
}

/* The packet where a search ended; NULL: the end. */
static inline struct sk_buff *aqmlab_at(const struct aqmlab_index *index,
					const struct aqmlab_path *path)
{
	u32 next = path->step[0]->next;

	return next == AQMLAB_NOBODY ? NULL : index->node[next].skb;
}

/*
 * A packet joins the end of its list, or of those with its share. There are slots for as
 * many as the limit lets in.
 */
static inline void aqmlab_index_packet(struct aqmlab_index *index, struct sk_buff *skb)
{
	const struct aqmlab_skb *packet = aqmlab_skb(skb);
	u32 list = aqmlab_list_of(packet), rank = ~0U;
	/* Fibonacci hashing: zeros at the upper end are as likely as in random numbers. */
	u32 height = min_t(u32, (32 - fls(packet->number * 0x9e3779b9U)) / 2, AQMLAB_HEIGHT - 1);
	u32 slot = index->free;
	struct aqmlab_path path;
	u32 h;

	index->free = index->node[slot].step[0].next;
	index->node[slot].skb = skb;
#if AQMLAB_BY_SHARE
	index->node[slot].share = list;
	rank = aqmlab_packets_before(index, list + 1) + 1;
	list = 0;
#endif
	aqmlab_seek(index, list, rank, false, &path);
	for (h = 0; h < AQMLAB_HEIGHT; h++) {
		struct aqmlab_step *step = path.step[h];

		step->packets++;
		step->open += packet->open;
		if (h > height)
			continue;
		index->node[slot].step[h] = (struct aqmlab_step){ .next = AQMLAB_NOBODY };
		if (AQMLAB_BY_SHARE) {
			u32 ahead = path.rank - path.passed[h];

			index->node[slot].step[h].next = step->next;
			index->node[slot].step[h].packets = step->packets - ahead;
			step->packets = ahead;
		}
		step->next = slot;
	}
	index->filled[list / 64] |= 1ULL << list % 64;
}

/* The packet of a rank in a list, or of those with a share, leaves it. */
static inline void aqmlab_unindex(struct aqmlab_index *index, u32 list, u32 rank)
{
	struct aqmlab_path path;
	u32 slot, open, h;

#if AQMLAB_BY_SHARE
	rank += aqmlab_packets_before(index, list);
	list = 0;
#endif
	aqmlab_seek(index, list, rank, false, &path);
	slot = path.step[0]->next;
	open = aqmlab_skb(index->node[slot].skb)->open;
	for (h = 0; h < AQMLAB_HEIGHT; h++) {
		struct aqmlab_step *step = path.step[h];

		step->packets--;
		step->open -= open;
		if (step->next != slot)
			continue;
		step->next = index->node[slot].step[h].next;
		step->packets += index->node[slot].step[h].packets;
		step->open += index->node[slot].step[h].open;
	}
	index->node[slot].step[0].next = index->free;
	index->free = slot;
	if (index->node[list].step[0].next == AQMLAB_NOBODY)
		index->filled[list / 64] &= ~(1ULL << list % 64);
}

/* The list or the share of the packets with the shortest way so far; AQMLAB_NOBODY if the index is empty. */
static inline u32 aqmlab_nearest_list(const struct aqmlab_index *index)
{
#if AQMLAB_BY_SHARE
	u32 first = index->node[0].step[0].next;

	return first == AQMLAB_NOBODY ? first : index->node[first].share;
#else
	u32 i;

	for (i = 0; i < 4; i++)
		if (index->filled[i])
			return 64 * i + __ffs64(index->filled[i]);
	return AQMLAB_NOBODY;
#endif
}

#endif
