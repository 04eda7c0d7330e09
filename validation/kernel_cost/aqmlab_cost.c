// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a queueing discipline costs: packets are offered to that of a device and taken
 * from it, with the same number waiting before each arrival, and the time stamp counter
 * is read around each call. An emulator that counts instructions makes it exact. The
 * results are parameters of this module, in sysfs.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/sch_generic.h>

#define ROUNDS		20000
#define BYTES		1500

static char *dev = "lo";
module_param(dev, charp, 0444);
static unsigned int waiting = 20;
module_param(waiting, uint, 0444);

static unsigned long accepted, accepted_ticks, dropped, dropped_ticks, dequeued, dequeued_ticks, empty_ticks;
module_param(accepted, ulong, 0444);
module_param(accepted_ticks, ulong, 0444);
module_param(dropped, ulong, 0444);
module_param(dropped_ticks, ulong, 0444);
module_param(dequeued, ulong, 0444);
module_param(dequeued_ticks, ulong, 0444);
module_param(empty_ticks, ulong, 0444);

static struct sk_buff *packet(struct net_device *device, unsigned int number)
{
	struct sk_buff *skb = alloc_skb(BYTES, GFP_ATOMIC);
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb->dev = device;
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, BYTES);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64 - number % 16;
	ip->tos = number % 2 ? 10 << 2 : 0;
	ip->tot_len = htons(BYTES);
	skb->protocol = htons(ETH_P_IP);
	qdisc_skb_cb(skb)->pkt_len = BYTES;
	return skb;
}

static void offer(struct Qdisc *q, struct net_device *device, unsigned int number)
{
	struct sk_buff *skb = packet(device, number), *to_free = NULL;
	u64 began, ended;
	int result;

	if (!skb)
		return;
	began = rdtsc_ordered();
	result = q->enqueue(skb, q, &to_free);
	ended = rdtsc_ordered();
	if (result == NET_XMIT_SUCCESS && !to_free) {
		accepted++;
		accepted_ticks += ended - began;
	} else {
		dropped++;
		dropped_ticks += ended - began;
	}
	kfree_skb_list(to_free);
}

static void take(struct Qdisc *q)
{
	u64 began = rdtsc_ordered(), ended;
	struct sk_buff *skb = q->dequeue(q);

	ended = rdtsc_ordered();
	if (skb) {
		dequeued++;
		dequeued_ticks += ended - began;
	}
	kfree_skb(skb);
}

static int __init cost_init(void)
{
	struct net_device *device = dev_get_by_name(&init_net, dev);
	unsigned int i;
	struct Qdisc *q;
	u64 began;

	if (!device)
		return -ENODEV;
	local_bh_disable();
	q = rcu_dereference_bh(netdev_get_tx_queue(device, 0)->qdisc);
	spin_lock(qdisc_lock(q));
	began = rdtsc_ordered();
	empty_ticks = rdtsc_ordered() - began;
	for (i = 0; i < ROUNDS; i++) {
		unsigned long flags;

		local_irq_save(flags);
		while (q->q.qlen > waiting)
			take(q);
		offer(q, device, i);
		local_irq_restore(flags);
	}
	while (q->q.qlen)
		take(q);
	spin_unlock(qdisc_lock(q));
	local_bh_enable();
	dev_put(device);
	return 0;
}

static void __exit cost_exit(void)
{
}

module_init(cost_init);
module_exit(cost_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Cost of a queueing discipline");
