// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Log the decisions of an unchanged sch_cake.
 *
 * A discipline with one class, whose child is cake:
 *
 *     tc qdisc add dev DEV parent 1:1 handle 10: aqmlab_cake
 *     tc qdisc add dev DEV parent 10:1 cake bandwidth 10mbit
 *
 * It hands every packet to the child, asks the child whenever it is asked, and logs
 * each call (cake.h). The values that the child gets from the kernel are logged by the
 * functions aqmlab_* below: the child's module is the distribution's, loaded with the
 * names of the functions that it imports changed to these (aqmlab.interop.kernel.cake).
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <net/flow_dissector.h>
#include <net/ip.h>
#include <net/pkt_sched.h>

#include "record.h"
#include "cake.h"
#include "log.h"
#include "child.h"

#define CAKE_KIND	"aqmlab_cake"
#define CAKE_CHILD	"cake"
#define CAKE_NOBODY	(~0U)
/* Values of one call: one for each round of a flow, thousands when cake drops many packets. */
#define CAKE_VALUES	65536

static bool aqmlab_headers;
module_param_named(headers, aqmlab_headers, bool, 0444);
MODULE_PARM_DESC(headers, "log the headers of TCP, which an ACK filter compares");

static_assert(sizeof(struct aqmlab_cake_record) == sizeof(struct aqmlab_record));
static_assert(offsetof(struct aqmlab_cake_record, sequence) ==
	      offsetof(struct aqmlab_record, sequence));

/* The private data of a packet. */
struct cake_skb {
	ktime_t arrival;	/* written by cake */
	u32 adjusted;		/* written by cake: its length in the shaper */
	u32 unused;
	u32 number;		/* not touched by cake */
} __packed __aligned(4);

union cake_entry {
	struct aqmlab_record record;
	struct aqmlab_cake_record cake;
	struct aqmlab_cake_values values;
};

/* The values of the call that is under way. */
struct cake_call {
	bool is_under_way;
	u32 count;
	u32 values[CAKE_VALUES];
	u8 types[CAKE_VALUES];
	u64 before;
};

static struct cake_call *cake_calls;	/* of each processor */

static void cake_note(u8 type, u32 value)
{
	struct cake_call *call = &cake_calls[raw_smp_processor_id()];

	if (!call->is_under_way)
		return;
	if (call->count < CAKE_VALUES) {
		call->types[call->count] = type;
		call->values[call->count] = value;
	}
	call->count++;
}

ktime_t aqmlab_ktime_get(void);
u16 aqmlab_get_random_u16(void);
u32 aqmlab_get_random_u32(void);
u32 aqmlab_flow_hash_from_keys(struct flow_keys *keys);

ktime_t aqmlab_ktime_get(void)
{
	ktime_t now = ktime_get();

	cake_note(AQMLAB_CAKE_TIME, ktime_to_ns(now) - cake_calls[raw_smp_processor_id()].before);
	return now;
}
EXPORT_SYMBOL(aqmlab_ktime_get);

u16 aqmlab_get_random_u16(void)
{
	u16 value = get_random_u16();

	cake_note(AQMLAB_CAKE_U16, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_get_random_u16);

u32 aqmlab_get_random_u32(void)
{
	u32 value = get_random_u32();

	cake_note(AQMLAB_CAKE_U32, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_get_random_u32);

u32 aqmlab_flow_hash_from_keys(struct flow_keys *keys)
{
	u32 value = flow_hash_from_keys(keys);

	cake_note(AQMLAB_CAKE_HASH, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_flow_hash_from_keys);

static struct cake_skb *cake_skb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct cake_skb));
	return (struct cake_skb *)qdisc_skb_cb(skb)->data;
}

/* Copy the TCP header of an IPv4 packet. Return its length; 0 of other packets. */
static u32 cake_tcp(const struct sk_buff *skb, void *to, u32 most)
{
	u32 at = skb_network_offset(skb), length;
	const struct iphdr *ip;
	const struct tcphdr *tcp;
	struct iphdr ip_space;
	struct tcphdr tcp_space;

	if (skb_protocol(skb, true) != htons(ETH_P_IP))
		return 0;
	ip = skb_header_pointer(skb, at, sizeof(ip_space), &ip_space);
	if (!ip || ip->protocol != IPPROTO_TCP)
		return 0;
	at += 4 * ip->ihl;
	tcp = skb_header_pointer(skb, at, sizeof(tcp_space), &tcp_space);
	if (!tcp || tcp->doff < 5)
		return 0;
	length = min_t(u32, 4 * tcp->doff, most);
	return skb_copy_bits(skb, at, to, length) ? 0 : length;
}

/* Return the sequence number of a TCP packet; 0 of others. */
static u32 cake_seq(const struct sk_buff *skb)
{
	struct tcphdr tcp;

	return cake_tcp(skb, &tcp, sizeof(tcp)) ? ntohl(tcp.seq) : 0;
}

static struct cake_call *cake_begin(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	struct cake_call *call = &cake_calls[smp_processor_id()];

	call->count = 0;
	call->before = ktime_get_ns();
	if (private->logs)
		call->is_under_way = true;
	return call;
}

/* End a call of the child; return how long it took in ns. */
static __le32 cake_end(struct cake_call *call)
{
	call->is_under_way = false;
	return cpu_to_le32(min_t(u64, ktime_get_ns() - call->before, U32_MAX));
}

/* Append a record of values of a call, 8 at most. */
static void cake_append_values(struct Qdisc *sch, u8 kind, const u8 *types, const void *values,
			       u32 count, size_t size)
{
	const struct tap_private *private = qdisc_priv(sch);
	union cake_entry entry = { };

	if (types)
		memcpy(entry.values.types, types, count);
	memcpy(entry.values.values, values, size);
	entry.values.count = cpu_to_le32(count);
	entry.values.kind = kind;
	entry.values.instance = private->instance;
	aqmlab_log_append(&entry.record);
}

/* Append the values of a call, then the record of the call. */
static void cake_append(struct Qdisc *sch, union cake_entry *entry, u8 kind, struct cake_call *call)
{
	const struct tap_private *private = qdisc_priv(sch);
	struct aqmlab_cake_record *cake = &entry->cake;
	/* A packet at which the parent has peeked has left the child, and waits in the tap. */
	const struct sk_buff *peeked = skb_peek(&sch->gso_skb);
	s64 packets = (s64)sch->q.qlen - private->child->q.qlen;
	s64 bytes = (s64)sch->qstats.backlog - private->child->qstats.backlog;
	u32 at, count, space[AQMLAB_CAKE_VALUES];

	for (at = 0; at < min_t(u32, call->count, CAKE_VALUES); at += count) {
		count = min_t(u32, call->count - at, AQMLAB_CAKE_VALUES);
		cpu_to_le32_array(memcpy(space, &call->values[at], 4 * count), count);
		cake_append_values(sch, AQMLAB_CAKE_OF_CALL, &call->types[at], space, count, 4 * count);
	}
	cake->time_ns = cpu_to_le64(call->before);
	cake->packets_apart = clamp_t(s64, packets - !!peeked, -128, 127);
	cake->bytes_apart = bytes != (peeked ? qdisc_pkt_len(peeked) : 0);
	cake->count = cpu_to_le32(call->count);
	cake->waiting = cpu_to_le32(private->child->q.qlen);
	cake->backlog = cpu_to_le32(private->child->qstats.backlog);
	cake->kind = kind;
	cake->instance = private->instance;
	aqmlab_log_append(&entry->record);
}

/* Append a record of a start; packets are numbered anew. */
static void tap_start(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	union cake_entry entry = { };

	private->arrived = 0;
	private->logs = aqmlab_log && !strcmp(private->child->ops->id, CAKE_CHILD);
	if (!private->logs)
		return;
	entry.cake.time_ns = cpu_to_le64(ktime_get_ns());
	entry.cake.packet = cpu_to_le32(CAKE_NOBODY);
	entry.cake.kind = AQMLAB_CAKE_RESET;
	entry.cake.instance = private->instance;
	aqmlab_log_append(&entry.record);
}

/* Log the TCP header of a packet, 32 bytes a record. */
static void cake_log_header(struct Qdisc *sch, const struct sk_buff *skb)
{
	u8 header[64] = { };
	u32 length = cake_tcp(skb, header, sizeof(header)), at, part;

	for (at = 0; at < length; at += part) {
		part = min_t(u32, length - at, 4 * AQMLAB_CAKE_VALUES);
		cake_append_values(sch, AQMLAB_CAKE_HEADER, NULL, header + at, part, part);
	}
}

static int cake_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct tap_private *private = qdisc_priv(sch);
	const struct skb_shared_info *shared = skb_shinfo(skb);
	u32 bytes = qdisc_pkt_len(skb);
	union cake_entry entry = { };
	struct cake_call *call;
	int result;

	cake_skb(skb)->number = private->arrived;
	entry.cake.packet = cpu_to_le32(private->arrived++);
	entry.cake.bytes = cpu_to_le32(shared->gso_size ? skb->len : bytes);
	entry.cake.tos = tap_tos(skb);
	entry.cake.flow = cpu_to_le32(skb->hash);
	entry.cake.is_hashed = skb->l4_hash;
	entry.cake.memory = cpu_to_le32(skb->truesize);
	entry.cake.seq = cpu_to_le32(cake_seq(skb));
	if (shared->gso_size) {
		u8 space[64];

		entry.cake.segment = cpu_to_le16(shared->gso_size);
		entry.cake.segments = cpu_to_le16(shared->gso_segs);
		entry.cake.header = skb_network_offset(skb) + ip_hdrlen(skb) +
			cake_tcp(skb, space, sizeof(space));
	}
	if (private->logs && aqmlab_headers)
		cake_log_header(sch, skb);
	call = cake_begin(sch);
	result = qdisc_enqueue(skb, private->child, to_free);
	entry.cake.span_ns = cake_end(call);
	entry.cake.outcome = result;
	if (result == NET_XMIT_SUCCESS) {
		sch->qstats.backlog += bytes;
		sch->q.qlen++;
	} else if (net_xmit_drop_count(result)) {
		qdisc_qstats_drop(sch);
	}
	if (private->logs)
		cake_append(sch, &entry, AQMLAB_CAKE_ARRIVAL, call);
	return result;
}

static struct sk_buff *cake_dequeue(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	struct cake_call *call = cake_begin(sch);
	struct sk_buff *skb = private->child->dequeue(private->child);
	union cake_entry entry = { };

	entry.cake.span_ns = cake_end(call);
	if (!skb) {
		entry.cake.packet = cpu_to_le32(CAKE_NOBODY);
		if (private->logs)
			cake_append(sch, &entry, AQMLAB_CAKE_EMPTY, call);
		return NULL;
	}
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	if (private->logs) {
		entry.cake.packet = cpu_to_le32(cake_skb(skb)->number);
		entry.cake.bytes = cpu_to_le32(qdisc_pkt_len(skb));
		entry.cake.tos = tap_tos(skb);
		entry.cake.flow = cpu_to_le32(cake_skb(skb)->adjusted);
		entry.cake.memory = cpu_to_le32(skb->truesize);
		entry.cake.seq = cpu_to_le32(cake_seq(skb));
		cake_append(sch, &entry, AQMLAB_CAKE_DEPARTURE, call);
	}
	return skb;
}

static struct Qdisc_ops cake_ops __read_mostly = {
	.id		= CAKE_KIND,
	.cl_ops		= &tap_class_ops,
	.priv_size	= sizeof(struct tap_private),
	.enqueue	= cake_enqueue,
	.dequeue	= cake_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= tap_init,
	.reset		= tap_reset,
	.destroy	= tap_destroy,
	.owner		= THIS_MODULE,
};

static int __init cake_module_init(void)
{
	int error;

	cake_calls = vzalloc(array_size(nr_cpu_ids, sizeof(*cake_calls)));
	if (!cake_calls)
		return -ENOMEM;
	error = aqmlab_log_open(KBUILD_MODNAME);
	if (!error) {
		error = register_qdisc(&cake_ops);
		if (error)
			aqmlab_log_close();
	}
	if (error)
		vfree(cake_calls);
	return error;
}

static void __exit cake_module_exit(void)
{
	unregister_qdisc(&cake_ops);
	aqmlab_log_close();
	vfree(cake_calls);
}

module_init(cake_module_init);
module_exit(cake_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Log of the decisions of an unchanged sch_cake");
MODULE_ALIAS("sch_aqmlab_cake");
