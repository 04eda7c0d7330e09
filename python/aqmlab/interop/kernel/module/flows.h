/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * PC-RED's list of flows: what each has lost lately, and whether it is protected. The
 * same in Rust is in crates/aqm/src/red/victim/pc_red.rs and priority_list.rs.
 *
 *   a_d     <- (1 - w)^m a_d + w x     a drop of x bytes, m intervals after the last
 *   status  <- a_d > L                 L of the level; a flow without priority has none
 *
 * When the list is full, the flow that was not seen for the longest time makes room,
 * flows without priority first.
 */
#ifndef AQMLAB_FLOWS_H
#define AQMLAB_FLOWS_H

#define AQMLAB_LARGEST_LOSS	0x20000000000000ULL	/* 2^53 */

struct aqmlab_flow {
	u64 a_d;		/* bytes in an interval, times 2^24, as of the last drop */
	u64 last_drop;		/* ns; at first, when it was listed */
	u64 seen;		/* ns */
	u32 label;
	u32 next;		/* of its chain, or of those that are free */
	u32 older;
	u32 newer;
	u8 level;		/* 0: no priority */
	bool protected;
};

struct aqmlab_flows {
	struct aqmlab_flow *flow;	/* AQMLAB_LIST_SIZE of them */
	u32 *chain;			/* the first of each of AQMLAB_CHAINS */
	u32 free;
	u32 count;
	u32 priority;			/* of them have priority */
	u32 oldest[2];			/* without and with priority */
	u32 newest[2];
};

#if AQMLAB_PROTECTS
static inline void aqmlab_reset_flows(struct aqmlab_flows *list)
{
	u32 i;

	for (i = 0; i < AQMLAB_LIST_SIZE; i++)
		list->flow[i].next = i + 1 < AQMLAB_LIST_SIZE ? i + 1 : AQMLAB_NOBODY;
	for (i = 0; i < AQMLAB_CHAINS; i++)
		list->chain[i] = AQMLAB_NOBODY;
	list->free = 0;
	list->count = 0;
	list->priority = 0;
	for (i = 0; i < 2; i++) {
		list->oldest[i] = AQMLAB_NOBODY;
		list->newest[i] = AQMLAB_NOBODY;
	}
}

/* Fibonacci hashing. */
static inline u32 *aqmlab_chain_of(const struct aqmlab_flows *list, u32 label)
{
	u32 hash = label * 0x9e3779b9U;

	return &list->chain[(hash ^ hash >> 16) & (AQMLAB_CHAINS - 1)];
}

static inline void aqmlab_unlink(struct aqmlab_flows *list, u32 id)
{
	struct aqmlab_flow *flow = &list->flow[id];
	u32 kind = flow->level > 0;

	if (flow->older == AQMLAB_NOBODY)
		list->oldest[kind] = flow->newer;
	else
		list->flow[flow->older].newer = flow->newer;
	if (flow->newer == AQMLAB_NOBODY)
		list->newest[kind] = flow->older;
	else
		list->flow[flow->newer].older = flow->older;
}

/* Make a flow the newest of its kind. */
static inline void aqmlab_link(struct aqmlab_flows *list, u32 id)
{
	struct aqmlab_flow *flow = &list->flow[id];
	u32 kind = flow->level > 0;

	flow->older = list->newest[kind];
	flow->newer = AQMLAB_NOBODY;
	if (flow->older == AQMLAB_NOBODY)
		list->oldest[kind] = id;
	else
		list->flow[flow->older].newer = id;
	list->newest[kind] = id;
}

/* Forget a flow. */
static inline void aqmlab_forget(struct aqmlab_flows *list, u32 id)
{
	struct aqmlab_flow *flow = &list->flow[id];
	u32 *place = aqmlab_chain_of(list, flow->label);

	aqmlab_unlink(list, id);
	while (*place != id)
		place = &list->flow[*place].next;
	*place = flow->next;
	list->count--;
	list->priority -= flow->level > 0;
	flow->next = list->free;
	list->free = id;
}

/* Forget the flows that were not seen for too long. */
static inline void aqmlab_forget_old(struct aqmlab_flows *list, u64 now)
{
	u32 kind;

	if (!AQMLAB_TIMES_OUT)
		return;
	for (kind = 0; kind < 2; kind++)
		while (list->oldest[kind] != AQMLAB_NOBODY &&
		       list->flow[list->oldest[kind]].seen + AQMLAB_TIMEOUT_NS < now)
			aqmlab_forget(list, list->oldest[kind]);
}

/* List a flow, without priority. */
static inline u32 aqmlab_list(struct aqmlab_flows *list, u64 now, u32 label)
{
	u32 *place = aqmlab_chain_of(list, label);
	u32 id;

	if (list->free == AQMLAB_NOBODY)
		aqmlab_forget(list, list->oldest[list->oldest[0] == AQMLAB_NOBODY]);
	id = list->free;
	list->free = list->flow[id].next;
	list->flow[id] = (struct aqmlab_flow){
		.last_drop = now, .label = label, .next = *place,
	};
	*place = id;
	list->count++;
	aqmlab_link(list, id);
	return id;
}

/* Give a flow the priority that a packet asks for, as far as r_p_max allows. */
static inline void aqmlab_admit(struct aqmlab_flows *list, u32 id, u8 level)
{
	struct aqmlab_flow *flow = &list->flow[id];

	if (!level || flow->level)
		return;
	if (AQMLAB_REFUSES && (u64)(list->priority + 1) << 32 > AQMLAB_SHARE * list->count)
		return;
	aqmlab_unlink(list, id);
	flow->level = min_t(u8, level, AQMLAB_LEVELS);
	flow->a_d = aqmlab_loss_limits[flow->level] >> 1;
	list->priority++;
	aqmlab_link(list, id);
}

/* The flow of a packet, listed if it is not. */
static inline struct aqmlab_flow *aqmlab_flow_of(struct aqmlab_flows *list, u64 now,
						 const struct aqmlab_skb *packet)
{
	u32 id;

	aqmlab_forget_old(list, now);
	id = *aqmlab_chain_of(list, packet->flow);
	while (id != AQMLAB_NOBODY && list->flow[id].label != packet->flow)
		id = list->flow[id].next;
	if (id == AQMLAB_NOBODY)
		id = aqmlab_list(list, now, packet->flow);
	aqmlab_admit(list, id, packet->level);
	aqmlab_unlink(list, id);
	aqmlab_link(list, id);
	list->flow[id].seen = now;
	return &list->flow[id];
}

/* a_d as it has decayed since the last drop. */
static inline u64 aqmlab_decayed(const struct aqmlab_flow *flow, u64 now)
{
	u64 since = now - flow->last_drop;
	u64 m;

	if (since >= AQMLAB_LOSS_LONGEST_NS)
		return 0;
	/* Intervals, in 256ths. */
	m = (since * AQMLAB_LOSS_MULT) >> AQMLAB_LOSS_SHIFT;
	if (AQMLAB_LOSS_WHOLE)
		m &= ~255ULL;
	return aqmlab_power(flow->a_d, m, aqmlab_loss_factors, AQMLAB_LOSS_FACTORS);
}

static inline bool aqmlab_exceeds(const struct aqmlab_flow *flow, u64 a_d)
{
	return flow->level && a_d > aqmlab_loss_limits[flow->level];
}

/* A packet arrives: it may be picked unless its flow is protected. */
static inline void aqmlab_protect(struct aqmlab_flows *list, u64 now, struct aqmlab_skb *packet)
{
	struct aqmlab_flow *flow;

	packet->level = aqmlab_level_of[packet->tos >> 2];
	flow = aqmlab_flow_of(list, now, packet);
	if (AQMLAB_REFRESH_ON_ARRIVAL)
		flow->protected = aqmlab_exceeds(flow, aqmlab_decayed(flow, now));
	packet->open = !flow->protected;
}

/* A packet was dropped. */
static inline void aqmlab_note_loss(struct aqmlab_flows *list, u64 now,
				    const struct aqmlab_skb *packet, u32 bytes)
{
	struct aqmlab_flow *flow = aqmlab_flow_of(list, now, packet);

	flow->a_d = min_t(u64, aqmlab_decayed(flow, now) + bytes * AQMLAB_LOSS_WEIGHT,
			  AQMLAB_LARGEST_LOSS);
	flow->protected = aqmlab_exceeds(flow, flow->a_d);
	flow->last_drop = now;
}
#else
static inline void aqmlab_reset_flows(struct aqmlab_flows *list)
{
}

static inline void aqmlab_protect(struct aqmlab_flows *list, u64 now, struct aqmlab_skb *packet)
{
}

static inline void aqmlab_note_loss(struct aqmlab_flows *list, u64 now,
				    const struct aqmlab_skb *packet, u32 bytes)
{
}
#endif

#endif
