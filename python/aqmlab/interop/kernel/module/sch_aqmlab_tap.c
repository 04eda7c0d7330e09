// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Log the decisions of an unchanged discipline of Linux.
 *
 * The tap is a discipline with one class, whose child is the discipline to observe:
 *
 *     tc qdisc add dev DEV parent 1:1 handle 10: aqmlab_tap
 *     tc qdisc add dev DEV parent 10:1 codel
 *
 * It hands every packet to the child, asks the child whenever it is asked, and logs
 * each call with the child's state after it (tap.h). The child is CoDel: the tap
 * reads its state, whose structures are in net/codel.h, and the time that it read
 * itself: CoDel leaves that of an arrival in the packet, and that of a departure
 * follows from the packet and its delay.
 */
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/codel.h>
#include <net/pkt_sched.h>

#include "record.h"
#include "tap.h"
#include "log.h"
#include "child.h"

#define TAP_KIND	"aqmlab_tap"
#define TAP_NOBODY	(~0U)
/* Bytes of a packet's private data that are left to the child. */
#define TAP_CHILD	12

static_assert(sizeof(struct aqmlab_tap_record) == sizeof(struct aqmlab_record));
static_assert(offsetof(struct aqmlab_tap_record, sequence) ==
	      offsetof(struct aqmlab_record, sequence));

/* The private data of sch_codel.c, as it begins. */
struct tap_codel {
	struct codel_params params;
	struct codel_vars vars;
};

/* The private data of a packet. */
struct tap_skb {
	codel_time_t arrival;		/* written by CoDel */
	u8 child[TAP_CHILD - sizeof(codel_time_t)];
	u32 number;			/* not touched by CoDel */
};

union tap_entry {
	struct aqmlab_record record;
	struct aqmlab_tap_record tap;
};

static struct tap_skb *tap_skb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct tap_skb));
	return (struct tap_skb *)qdisc_skb_cb(skb)->data;
}

/* Append a record of a call, with the state of the child after it. */
static void tap_append(struct Qdisc *sch, union tap_entry *entry, u8 kind, u64 before)
{
	const struct tap_private *private = qdisc_priv(sch);
	const struct tap_codel *codel = qdisc_priv(private->child);
	struct aqmlab_tap_record *tap = &entry->tap;

	tap->time_ns = cpu_to_le64(before);
	tap->span_ns = cpu_to_le32(min_t(u64, ktime_get_ns() - before, U32_MAX));
	tap->first_above = cpu_to_le32(codel->vars.first_above_time);
	tap->drop_next = cpu_to_le32(codel->vars.drop_next);
	tap->count = cpu_to_le32(codel->vars.count);
	tap->last_count = cpu_to_le32(codel->vars.lastcount);
	tap->rec_inv_sqrt = cpu_to_le16(codel->vars.rec_inv_sqrt);
	tap->dropping = codel->vars.dropping;
	tap->waiting = cpu_to_le32(private->child->q.qlen);
	tap->backlog = cpu_to_le32(private->child->qstats.backlog);
	tap->kind = kind;
	tap->instance = private->instance;
	aqmlab_log_append(&entry->record);
}

/* Append a record of the child's settings; packets are numbered anew. */
static void tap_start(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	const struct tap_codel *codel = qdisc_priv(private->child);
	union tap_entry entry = { };

	private->arrived = 0;
	private->logs = aqmlab_log && !strcmp(private->child->ops->id, "codel");
	if (!private->logs)
		return;
	entry.tap.time_ns = cpu_to_le64(ktime_get_ns());
	entry.tap.packet = cpu_to_le32(TAP_NOBODY);
	entry.tap.first_above = cpu_to_le32(codel->params.target);
	entry.tap.drop_next = cpu_to_le32(codel->params.interval);
	entry.tap.count = cpu_to_le32(private->child->limit);
	entry.tap.last_count = cpu_to_le32(codel->params.mtu);
	entry.tap.dropping = codel->params.ecn;
	entry.tap.outcome = codel->params.ce_threshold == CODEL_DISABLED_THRESHOLD;
	if (!entry.tap.outcome)
		entry.tap.bytes = cpu_to_le32(codel->params.ce_threshold);
	entry.tap.kind = AQMLAB_TAP_RESET;
	entry.tap.instance = private->instance;
	aqmlab_log_append(&entry.record);
}

static int tap_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct tap_private *private = qdisc_priv(sch);
	u32 bytes = qdisc_pkt_len(skb);
	union tap_entry entry = { };
	u64 before;
	int result;

	tap_skb(skb)->number = private->arrived;
	entry.tap.packet = cpu_to_le32(private->arrived++);
	entry.tap.bytes = cpu_to_le32(bytes);
	entry.tap.tos = tap_tos(skb);
	entry.tap.flow = cpu_to_le32(skb_get_hash(skb));
	before = ktime_get_ns();
	result = qdisc_enqueue(skb, private->child, to_free);
	entry.tap.outcome = result != NET_XMIT_SUCCESS;
	/* A packet that waits is the child's, which is locked. A dropped one has no time. */
	entry.tap.tick = cpu_to_le32(before >> CODEL_SHIFT);
	if (result == NET_XMIT_SUCCESS && private->logs)
		entry.tap.tick = cpu_to_le32(tap_skb(skb)->arrival);
	if (private->logs)
		tap_append(sch, &entry, AQMLAB_TAP_ARRIVAL, before);
	if (result != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(result))
			qdisc_qstats_drop(sch);
		return result;
	}
	sch->qstats.backlog += bytes;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *tap_dequeue(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	const struct tap_codel *codel = qdisc_priv(private->child);
	u64 before = ktime_get_ns();
	struct sk_buff *skb = private->child->dequeue(private->child);
	union tap_entry entry = { };

	if (!skb) {
		entry.tap.packet = cpu_to_le32(TAP_NOBODY);
		entry.tap.tick = cpu_to_le32(before >> CODEL_SHIFT);
		if (private->logs)
			tap_append(sch, &entry, AQMLAB_TAP_EMPTY, before);
		return NULL;
	}
	if (private->logs) {
		entry.tap.packet = cpu_to_le32(tap_skb(skb)->number);
		entry.tap.bytes = cpu_to_le32(qdisc_pkt_len(skb));
		entry.tap.tos = tap_tos(skb);
		/* The child's last delay is that of the packet that it returns. */
		entry.tap.tick = cpu_to_le32(tap_skb(skb)->arrival + codel->vars.ldelay);
		tap_append(sch, &entry, AQMLAB_TAP_DEPARTURE, before);
	}
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static struct Qdisc_ops tap_ops __read_mostly = {
	.id		= TAP_KIND,
	.cl_ops		= &tap_class_ops,
	.priv_size	= sizeof(struct tap_private),
	.enqueue	= tap_enqueue,
	.dequeue	= tap_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= tap_init,
	.reset		= tap_reset,
	.destroy	= tap_destroy,
	.owner		= THIS_MODULE,
};

static int __init tap_module_init(void)
{
	int error = aqmlab_log_open(KBUILD_MODNAME);

	if (error)
		return error;
	error = register_qdisc(&tap_ops);
	if (error)
		aqmlab_log_close();
	return error;
}

static void __exit tap_module_exit(void)
{
	unregister_qdisc(&tap_ops);
	aqmlab_log_close();
}

module_init(tap_module_init);
module_exit(tap_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Log of the decisions of an unchanged queueing discipline");
MODULE_ALIAS("sch_aqmlab_tap");
