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
 * each call (cake.h). Probes at the return of ktime_get, get_random_u16,
 * get_random_u32 and flow_hash_from_keys log the values that the child gets, in the
 * order of its calls; calls from elsewhere are told by their return address.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/pkt_sched.h>

#include "record.h"
#include "cake.h"
#include "log.h"

#define CAKE_KIND	"aqmlab_cake"
#define CAKE_CHILD	"cake"
#define CAKE_NOBODY	(~0U)
/* Values of one call: drops of a full buffer, or quanta of flows. */
#define CAKE_VALUES	4096

static bool aqmlab_headers;
module_param_named(headers, aqmlab_headers, bool, 0444);
MODULE_PARM_DESC(headers, "log the headers of TCP, which an ACK filter compares");

static_assert(sizeof(struct aqmlab_cake_record) == sizeof(struct aqmlab_record));
static_assert(offsetof(struct aqmlab_cake_record, sequence) ==
	      offsetof(struct aqmlab_record, sequence));

struct cake_private {
	struct Qdisc *child;
	bool logs;	/* the child is cake */
	u32 arrived;	/* packets since the reset */
	u8 instance;
};

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
	const struct module *owner;	/* of the child; NULL: there is none */
	u32 count;
	u32 values[CAKE_VALUES];
	u8 types[CAKE_VALUES];
	u64 before;
};

static atomic_t cake_instances = ATOMIC_INIT(0);
static struct cake_call __percpu *cake_calls;

static void cake_note(unsigned long caller, u8 type, u32 value)
{
	struct cake_call *call = this_cpu_ptr(cake_calls);

	if (!call->owner || !within_module(caller, call->owner))
		return;
	if (call->count < CAKE_VALUES) {
		call->types[call->count] = type;
		call->values[call->count] = value;
	}
	call->count++;
}

static int cake_at_time(struct kretprobe_instance *at, struct pt_regs *regs)
{
	struct cake_call *call = this_cpu_ptr(cake_calls);

	cake_note(get_kretprobe_retaddr(at), AQMLAB_CAKE_TIME,
		  (u64)regs_return_value(regs) - call->before);
	return 0;
}

static int cake_at_u16(struct kretprobe_instance *at, struct pt_regs *regs)
{
	cake_note(get_kretprobe_retaddr(at), AQMLAB_CAKE_U16, (u16)regs_return_value(regs));
	return 0;
}

static int cake_at_u32(struct kretprobe_instance *at, struct pt_regs *regs)
{
	cake_note(get_kretprobe_retaddr(at), AQMLAB_CAKE_U32, (u32)regs_return_value(regs));
	return 0;
}

static int cake_at_hash(struct kretprobe_instance *at, struct pt_regs *regs)
{
	cake_note(get_kretprobe_retaddr(at), AQMLAB_CAKE_HASH, (u32)regs_return_value(regs));
	return 0;
}

static struct kretprobe cake_probes[] = {
	{ .kp.symbol_name = "ktime_get", .handler = cake_at_time, .maxactive = 16 },
	{ .kp.symbol_name = "get_random_u16", .handler = cake_at_u16, .maxactive = 16 },
	{ .kp.symbol_name = "get_random_u32", .handler = cake_at_u32, .maxactive = 16 },
	{ .kp.symbol_name = "flow_hash_from_keys", .handler = cake_at_hash, .maxactive = 16 },
};

static struct cake_skb *cake_skb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct cake_skb));
	return (struct cake_skb *)qdisc_skb_cb(skb)->data;
}

/* Return code point and ECN field as cake reads them. */
static u8 cake_tos(struct sk_buff *skb)
{
	unsigned char *header = skb_network_header(skb);

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (header + sizeof(struct iphdr) <= skb_tail_pointer(skb))
			return ipv4_get_dsfield(ip_hdr(skb));
		break;
	case htons(ETH_P_IPV6):
		if (header + sizeof(struct ipv6hdr) <= skb_tail_pointer(skb))
			return ipv6_get_dsfield(ipv6_hdr(skb));
		break;
	case htons(ETH_P_ARP):
		return 0x38 << 2;
	}
	return 0;
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
	struct cake_private *private = qdisc_priv(sch);
	struct cake_call *call = this_cpu_ptr(cake_calls);

	call->count = 0;
	call->before = ktime_get_ns();
	if (private->logs)
		call->owner = private->child->ops->owner;
	return call;
}

/* Append a record of values of a call, 8 at most. */
static void cake_append_values(struct Qdisc *sch, u8 kind, const u8 *types, const void *values,
			       u32 count, size_t size)
{
	const struct cake_private *private = qdisc_priv(sch);
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
	const struct cake_private *private = qdisc_priv(sch);
	struct aqmlab_cake_record *cake = &entry->cake;
	u32 at, count, space[AQMLAB_CAKE_VALUES];

	for (at = 0; at < min_t(u32, call->count, CAKE_VALUES); at += count) {
		count = min_t(u32, call->count - at, AQMLAB_CAKE_VALUES);
		cpu_to_le32_array(memcpy(space, &call->values[at], 4 * count), count);
		cake_append_values(sch, AQMLAB_CAKE_OF_CALL, &call->types[at], space, count, 4 * count);
	}
	cake->time_ns = cpu_to_le64(call->before);
	cake->span_ns = cpu_to_le32(min_t(u64, ktime_get_ns() - call->before, U32_MAX));
	cake->count = cpu_to_le32(call->count);
	cake->waiting = cpu_to_le32(private->child->q.qlen);
	cake->backlog = cpu_to_le32(private->child->qstats.backlog);
	cake->kind = kind;
	cake->instance = private->instance;
	aqmlab_log_append(&entry->record);
}

/* Append a record of a start; packets are numbered anew. */
static void cake_start(struct Qdisc *sch)
{
	struct cake_private *private = qdisc_priv(sch);
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
	struct cake_private *private = qdisc_priv(sch);
	const struct skb_shared_info *shared = skb_shinfo(skb);
	u32 bytes = qdisc_pkt_len(skb);
	union cake_entry entry = { };
	struct cake_call *call;
	int result;

	cake_skb(skb)->number = private->arrived;
	entry.cake.packet = cpu_to_le32(private->arrived++);
	entry.cake.bytes = cpu_to_le32(shared->gso_size ? skb->len : bytes);
	entry.cake.tos = cake_tos(skb);
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
	call->owner = NULL;
	entry.cake.outcome = result;
	if (private->logs)
		cake_append(sch, &entry, AQMLAB_CAKE_ARRIVAL, call);
	if (result != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(result))
			qdisc_qstats_drop(sch);
		return result;
	}
	sch->qstats.backlog += bytes;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *cake_dequeue(struct Qdisc *sch)
{
	struct cake_private *private = qdisc_priv(sch);
	struct cake_call *call = cake_begin(sch);
	struct sk_buff *skb = private->child->dequeue(private->child);
	union cake_entry entry = { };

	call->owner = NULL;
	if (!skb) {
		entry.cake.packet = cpu_to_le32(CAKE_NOBODY);
		if (private->logs)
			cake_append(sch, &entry, AQMLAB_CAKE_EMPTY, call);
		return NULL;
	}
	if (private->logs) {
		entry.cake.packet = cpu_to_le32(cake_skb(skb)->number);
		entry.cake.bytes = cpu_to_le32(qdisc_pkt_len(skb));
		entry.cake.tos = cake_tos(skb);
		entry.cake.flow = cpu_to_le32(cake_skb(skb)->adjusted);
		entry.cake.memory = cpu_to_le32(skb->truesize);
		entry.cake.seq = cpu_to_le32(cake_seq(skb));
		cake_append(sch, &entry, AQMLAB_CAKE_DEPARTURE, call);
	}
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static int cake_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct cake_private *private = qdisc_priv(sch);

	private->child = &noop_qdisc;
	private->instance = atomic_inc_return(&cake_instances) - 1;
	return 0;
}

static void cake_reset(struct Qdisc *sch)
{
	struct cake_private *private = qdisc_priv(sch);

	qdisc_reset(private->child);
	cake_start(sch);
}

static void cake_destroy(struct Qdisc *sch)
{
	struct cake_private *private = qdisc_priv(sch);

	qdisc_put(private->child);
}

static int cake_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct cake_private *private = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &private->child);
	sch_tree_lock(sch);
	cake_start(sch);
	sch_tree_unlock(sch);
	return 0;
}

static struct Qdisc *cake_leaf(struct Qdisc *sch, unsigned long class)
{
	struct cake_private *private = qdisc_priv(sch);

	return private->child;
}

/* There is one class. */
static unsigned long cake_find(struct Qdisc *sch, u32 class)
{
	return 1;
}

static void cake_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (walker->stop)
		return;
	if (walker->count >= walker->skip && walker->fn(sch, 1, walker) < 0)
		walker->stop = 1;
	else
		walker->count++;
}

static int cake_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			   struct tcmsg *message)
{
	struct cake_private *private = qdisc_priv(sch);

	message->tcm_handle |= TC_H_MIN(1);
	message->tcm_info = private->child->handle;
	return 0;
}

/* The child's drops lower the counts of the parents by way of this. */
static void cake_qlen_notify(struct Qdisc *sch, unsigned long class)
{
}

static const struct Qdisc_class_ops cake_class_ops = {
	.graft	= cake_graft,
	.leaf	= cake_leaf,
	.find	= cake_find,
	.walk	= cake_walk,
	.dump	= cake_dump_class,
	.qlen_notify = cake_qlen_notify,
};

static struct Qdisc_ops cake_ops __read_mostly = {
	.id		= CAKE_KIND,
	.cl_ops		= &cake_class_ops,
	.priv_size	= sizeof(struct cake_private),
	.enqueue	= cake_enqueue,
	.dequeue	= cake_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= cake_init,
	.reset		= cake_reset,
	.destroy	= cake_destroy,
	.owner		= THIS_MODULE,
};

static void cake_remove_probes(size_t count)
{
	while (count--)
		unregister_kretprobe(&cake_probes[count]);
}

static int __init cake_module_init(void)
{
	size_t count;
	int error;

	cake_calls = alloc_percpu(struct cake_call);
	if (!cake_calls)
		return -ENOMEM;
	error = aqmlab_log_open(KBUILD_MODNAME);
	if (error)
		goto without_log;
	for (count = 0; count < ARRAY_SIZE(cake_probes); count++) {
		error = register_kretprobe(&cake_probes[count]);
		if (error)
			goto without_probes;
	}
	error = register_qdisc(&cake_ops);
	if (!error)
		return 0;
without_probes:
	cake_remove_probes(count);
	aqmlab_log_close();
without_log:
	free_percpu(cake_calls);
	return error;
}

static void __exit cake_module_exit(void)
{
	unregister_qdisc(&cake_ops);
	cake_remove_probes(ARRAY_SIZE(cake_probes));
	aqmlab_log_close();
	free_percpu(cake_calls);
}

module_init(cake_module_init);
module_exit(cake_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Log of the decisions of an unchanged sch_cake");
MODULE_ALIAS("sch_aqmlab_cake");
