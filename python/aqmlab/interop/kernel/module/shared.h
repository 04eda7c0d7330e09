/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Parts that the modules of all disciplines share: random numbers, the header of a
 * packet, statistics, events of the log, and registration with the kernel. The private
 * data of a qdisc begin with struct aqmlab_common.
 */
#ifndef AQMLAB_SHARED_H
#define AQMLAB_SHARED_H

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

#include "record.h"
#include "log.h"

static_assert(sizeof(struct aqmlab_record) == 64);

/* A generator for each processor: get_random_u32() costs more than the rest. */
static DEFINE_PER_CPU(u64, aqmlab_generator);

/* Draw 32 bits: the upper half of Knuth's linear congruential generator (MMIX). */
static inline u32 aqmlab_random(void)
{
	u64 *state = this_cpu_ptr(&aqmlab_generator);

	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32;
}

struct aqmlab_common {
	struct tc_red_xstats stats;
	u32 arrived;		/* packets since the reset */
	u8 instance;
};

static atomic_t aqmlab_instances = ATOMIC_INIT(0);

/* Of an IP header. */
struct aqmlab_header {
	u8 tos;
	u8 ttl;
	bool is_ip;
};

/* Read the header; what is not IP has zeros. */
static struct aqmlab_header aqmlab_read_header(struct sk_buff *skb)
{
	unsigned char *begin = skb_network_header(skb);
	struct aqmlab_header header = { };

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (begin + sizeof(struct iphdr) > skb_tail_pointer(skb))
			break;
		header.tos = ipv4_get_dsfield(ip_hdr(skb));
		header.ttl = ip_hdr(skb)->ttl;
		header.is_ip = true;
		break;
	case htons(ETH_P_IPV6):
		if (begin + sizeof(struct ipv6hdr) > skb_tail_pointer(skb))
			break;
		header.tos = ipv6_get_dsfield(ipv6_hdr(skb));
		header.ttl = ipv6_hdr(skb)->hop_limit;
		header.is_ip = true;
	}
	return header;
}

static void aqmlab_count_drop(struct Qdisc *sch, u8 verdict)
{
	struct aqmlab_common *common = qdisc_priv(sch);

	if (verdict == AQMLAB_OVERFLOW) {
		common->stats.pdrop++;
		return;
	}
	common->stats.early++;
	qdisc_qstats_overlimit(sch);
}

static void aqmlab_count_mark(struct Qdisc *sch)
{
	struct aqmlab_common *common = qdisc_priv(sch);

	common->stats.marked++;
	qdisc_qstats_overlimit(sch);
}

/* Log an event; packet is its number, or AQMLAB_NOBODY. */
static void aqmlab_log_event(struct Qdisc *sch, u8 kind, u64 now, u32 packet, u32 bytes)
{
	const struct aqmlab_common *common = qdisc_priv(sch);
	struct aqmlab_record record = {
		.time_ns = cpu_to_le64(now),
		.packet = cpu_to_le32(packet),
		.bytes = cpu_to_le32(bytes),
		.victim = cpu_to_le32(AQMLAB_NOBODY),
		.kind = kind,
		.instance = common->instance,
	};

	aqmlab_log_append(&record);
}

static int __init aqmlab_register(struct Qdisc_ops *ops)
{
	int error = aqmlab_log_open(KBUILD_MODNAME);
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(aqmlab_generator, cpu) = get_random_u64();
	if (error)
		return error;
	error = register_qdisc(ops);
	if (error)
		aqmlab_log_close();
	return error;
}

static void __exit aqmlab_unregister(struct Qdisc_ops *ops)
{
	unregister_qdisc(ops);
	aqmlab_log_close();
}

#endif
