/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A discipline with one class, whose child is the discipline to observe: all but the
 * calls that a tap logs. The file that includes it defines tap_start().
 */
#ifndef AQMLAB_CHILD_H
#define AQMLAB_CHILD_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

struct tap_private {
	struct list_head place;
	struct Qdisc *sch;	/* the tap */
	struct Qdisc *child;
	bool logs;	/* the tap logs the calls of this child */
	bool is_cake;
	bool is_codel;
	bool splits;	/* the child splits joined packets */
	bool has_jiffies;	/* the child reads jiffies */
	bool is_notified;	/* of an empty child, in this call */
	u32 arrived;	/* packets since the reset */
	u8 instance;
};

static atomic_t tap_instances = ATOMIC_INIT(0);
static LIST_HEAD(tap_all);
static DEFINE_SPINLOCK(tap_all_lock);

/* Begin the log of a child, or of one that was reset; packets are numbered anew. */
static void tap_start(struct Qdisc *sch);

/* Return code point and ECN field as cake reads them; 0 of other packets. */
static u8 tap_tos(struct sk_buff *skb)
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

static int tap_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct tap_private *private = qdisc_priv(sch);

	private->sch = sch;
	private->child = &noop_qdisc;
	private->instance = atomic_inc_return(&tap_instances) - 1;
	spin_lock_bh(&tap_all_lock);
	list_add(&private->place, &tap_all);
	spin_unlock_bh(&tap_all_lock);
	return 0;
}

static void tap_reset(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);

	qdisc_reset(private->child);
	tap_start(sch);
}

static void tap_destroy(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);

	spin_lock_bh(&tap_all_lock);
	list_del(&private->place);
	spin_unlock_bh(&tap_all_lock);
	qdisc_put(private->child);
}

/* Return the tap whose child has this timer in its private data; NULL without one. */
static struct Qdisc *tap_of(const void *timer)
{
	struct Qdisc *found = NULL;
	struct tap_private *private;

	spin_lock_bh(&tap_all_lock);
	list_for_each_entry(private, &tap_all, place) {
		struct Qdisc *child = private->child;
		const void *data = qdisc_priv(child);

		if (timer >= data && timer < data + child->ops->priv_size)
			found = private->sch;
	}
	spin_unlock_bh(&tap_all_lock);
	return found;
}

static int tap_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
		     struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct tap_private *private = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &private->child);
	sch_tree_lock(sch);
	tap_start(sch);
	sch_tree_unlock(sch);
	return 0;
}

static struct Qdisc *tap_leaf(struct Qdisc *sch, unsigned long class)
{
	struct tap_private *private = qdisc_priv(sch);

	return private->child;
}

/* There is one class. */
static unsigned long tap_find(struct Qdisc *sch, u32 class)
{
	return 1;
}

static void tap_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (walker->stop)
		return;
	if (walker->count >= walker->skip && walker->fn(sch, 1, walker) < 0)
		walker->stop = 1;
	else
		walker->count++;
}

static int tap_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			  struct tcmsg *message)
{
	struct tap_private *private = qdisc_priv(sch);

	message->tcm_handle |= TC_H_MIN(1);
	message->tcm_info = private->child->handle;
	return 0;
}

/* The kernel notifies the parents of a child that is empty, where drops lower their counts. */
static void tap_qlen_notify(struct Qdisc *sch, unsigned long class)
{
	struct tap_private *private = qdisc_priv(sch);

	private->is_notified = true;
}

static const struct Qdisc_class_ops tap_class_ops = {
	.graft	= tap_graft,
	.leaf	= tap_leaf,
	.find	= tap_find,
	.walk	= tap_walk,
	.dump	= tap_dump_class,
	.qlen_notify = tap_qlen_notify,
};

#endif
