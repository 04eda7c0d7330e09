// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Log the decisions of an unchanged discipline of Linux.
 *
 * The tap is a discipline with one class, whose child is the discipline to observe:
 *
 *     tc qdisc add dev DEV parent 1:1 handle 10: aqmlab_tap
 *     tc qdisc add dev DEV parent 10:1 cake bandwidth 10mbit
 *
 * It hands every packet to the child, asks the child whenever it is asked, and logs
 * each call (tap.h), also those of the child's timer. The values that the child gets
 * from the kernel are logged by the functions aqmlab_* below: the child's module is
 * the distribution's, loaded with the names of the functions that it imports changed
 * to these (aqmlab.interop.kernel.tap). The state of CoDel, whose structures are in
 * net/codel.h, is logged too.
 */
#include <linux/build_bug.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <net/codel.h>
#include <net/flow_dissector.h>
#include <net/ip.h>
#include <net/pkt_sched.h>

#include "builtin.h"
#include "record.h"
#include "tap.h"
#include "log.h"
#include "child.h"

#define TAP_KIND	"aqmlab_tap"
#define TAP_NOBODY	(~0U)
/* Timers of children, one each. */
#define TAP_TIMERS	16
/* Values of one call: in cake one for each round of a flow, thousands when many packets are dropped. */
#define TAP_VALUES	65536

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_init_key		init_timer_key
#define aqmlab_timer_init_key	aqmlab_init_timer_key
#endif

static bool aqmlab_headers;
module_param_named(headers, aqmlab_headers, bool, 0444);
MODULE_PARM_DESC(headers, "log the headers of TCP, which an ACK filter compares");

static bool aqmlab_peeks;
module_param_named(peeks, aqmlab_peeks, bool, 0444);
MODULE_PARM_DESC(peeks, "peek at the child's packet where the parent peeks");

static bool aqmlab_splits = true;
module_param_named(splits, aqmlab_splits, bool, 0444);
MODULE_PARM_DESC(splits, "a child that can split joined packets does (cake always; dualpi2 with split_gso)");

static_assert(sizeof(struct aqmlab_tap_record) == sizeof(struct aqmlab_record));
static_assert(offsetof(struct aqmlab_tap_record, sequence) ==
	      offsetof(struct aqmlab_record, sequence));

/* The private data of a packet; the child's disciplines use up to 17 bytes (CHOKe). */
struct tap_skb {
	u8 unused[8];
	u32 adjusted;		/* written by cake: its length in the shaper */
	u8 unused_too[5];
	u8 number[3];		/* written by the tap: the last 24 bits of the packet's number */
} __packed __aligned(4);

/* The private data of sch_codel.c, as it begins. */
struct tap_codel {
	struct codel_params params;
	struct codel_vars vars;
};

union tap_entry {
	struct aqmlab_record record;
	struct aqmlab_tap_record tap;
	struct aqmlab_tap_values values;
};

/* The values of the call that is under way. */
struct tap_call {
	bool is_under_way;
	u32 count;
	u32 values[TAP_VALUES];
	u8 types[TAP_VALUES];
	u64 before;
};

static struct tap_call *tap_calls;	/* of each processor */

static void tap_note(u8 type, u32 value)
{
	struct tap_call *call = &tap_calls[raw_smp_processor_id()];

	if (!call->is_under_way)
		return;
	if (call->count < TAP_VALUES) {
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

	tap_note(AQMLAB_TAP_TIME, ktime_to_ns(now) - tap_calls[raw_smp_processor_id()].before);
	return now;
}
EXPORT_SYMBOL(aqmlab_ktime_get);

u16 aqmlab_get_random_u16(void)
{
	u16 value = get_random_u16();

	tap_note(AQMLAB_TAP_U16, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_get_random_u16);

u32 aqmlab_get_random_u32(void)
{
	u32 value = get_random_u32();

	tap_note(AQMLAB_TAP_U32, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_get_random_u32);

u32 aqmlab_flow_hash_from_keys(struct flow_keys *keys)
{
	u32 value = flow_hash_from_keys(keys);

	tap_note(AQMLAB_TAP_HASH, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_flow_hash_from_keys);

/* Time in jiffies at the beginning of the call, or of the last one; at first, when the tap was loaded. */
unsigned long aqmlab_jiffies;
EXPORT_SYMBOL(aqmlab_jiffies);

void aqmlab_get_random_bytes(void *to, size_t length);
u32 aqmlab_get_random_u32_below(u32 bound);
u32 aqmlab_skb_get_hash_perturb(const struct sk_buff *skb, const siphash_key_t *key);

void aqmlab_get_random_bytes(void *to, size_t length)
{
	size_t at;
	u32 word;

	get_random_bytes(to, length);
	for (at = 0; at + sizeof(word) <= length; at += sizeof(word)) {
		memcpy(&word, to + at, sizeof(word));
		tap_note(AQMLAB_TAP_BYTES, word);
	}
}
EXPORT_SYMBOL(aqmlab_get_random_bytes);

u32 aqmlab_get_random_u32_below(u32 bound)
{
	u32 value = __get_random_u32_below(bound);

	tap_note(AQMLAB_TAP_BELOW, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_get_random_u32_below);

u32 aqmlab_skb_get_hash_perturb(const struct sk_buff *skb, const siphash_key_t *key)
{
	u32 value = skb_get_hash_perturb(skb, key);

	tap_note(AQMLAB_TAP_PERTURBED, value);
	return value;
}
EXPORT_SYMBOL(aqmlab_skb_get_hash_perturb);

static struct tap_skb *tap_skb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct tap_skb));
	return (struct tap_skb *)qdisc_skb_cb(skb)->data;
}

/* Return the number of a packet, which is one of the last 2^24 that arrived. */
static u32 tap_number(const struct tap_private *private, const struct sk_buff *skb)
{
	u32 last = private->arrived - 1, number = 0, at;

	for (at = 0; at < sizeof(tap_skb(skb)->number); at++)
		number |= (u32)tap_skb(skb)->number[at] << 8 * at;
	return last - ((last - number) & 0xffffff);
}

/* Copy the TCP header of an IPv4 packet. Return its length; 0 of other packets. */
static u32 tap_tcp(const struct sk_buff *skb, void *to, u32 most)
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
static u32 tap_seq(const struct sk_buff *skb)
{
	struct tcphdr tcp;

	return tap_tcp(skb, &tcp, sizeof(tcp)) ? ntohl(tcp.seq) : 0;
}

static struct tap_call *tap_begin(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	struct tap_call *call = &tap_calls[smp_processor_id()];

	call->count = 0;
	private->is_notified = false;
	call->before = ktime_get_ns();
	WRITE_ONCE(aqmlab_jiffies, jiffies);
	if (private->logs)
		call->is_under_way = true;
	if (private->has_jiffies)
		tap_note(AQMLAB_TAP_JIFFIES, aqmlab_jiffies);
	return call;
}

/* End a call of the child; return how long it took in ns. */
static __le32 tap_end(struct tap_call *call)
{
	call->is_under_way = false;
	return cpu_to_le32(min_t(u64, ktime_get_ns() - call->before, U32_MAX));
}

/* Append a record of values of a call, 8 at most. */
static void tap_append_values(struct Qdisc *sch, u8 kind, const u8 *types, const void *values,
			       u32 count, size_t size)
{
	const struct tap_private *private = qdisc_priv(sch);
	union tap_entry entry = { };

	if (types)
		memcpy(entry.values.types, types, count);
	memcpy(entry.values.values, values, size);
	entry.values.count = cpu_to_le32(count);
	entry.values.kind = kind;
	entry.values.instance = private->instance;
	aqmlab_log_append(&entry.record);
}

/* Append the state of a child, 8 words at most. */
static void tap_append_state(struct Qdisc *sch, const u32 *words, u32 count)
{
	u32 space[AQMLAB_TAP_VALUES];

	cpu_to_le32_array(memcpy(space, words, 4 * count), count);
	tap_append_values(sch, AQMLAB_TAP_STATE, NULL, space, count, 4 * count);
}

/* Append the state of CoDel. */
static void tap_append_codel(struct Qdisc *sch)
{
	const struct tap_private *private = qdisc_priv(sch);
	const struct codel_vars *vars = &((struct tap_codel *)qdisc_priv(private->child))->vars;
	const u32 words[] = {
		vars->first_above_time, vars->drop_next, vars->count, vars->lastcount,
		vars->rec_inv_sqrt, vars->dropping,
	};

	tap_append_state(sch, words, ARRAY_SIZE(words));
}

/* Append the settings of CoDel. */
static void tap_append_codel_settings(struct Qdisc *sch)
{
	const struct tap_private *private = qdisc_priv(sch);
	const struct codel_params *params = &((struct tap_codel *)qdisc_priv(private->child))->params;
	const u32 words[] = {
		params->target, params->interval, private->child->limit, params->mtu, params->ecn,
		params->ce_threshold, params->ce_threshold == CODEL_DISABLED_THRESHOLD,
	};

	tap_append_state(sch, words, ARRAY_SIZE(words));
}

/* Append the values of a call and the state after it, then the record of the call. */
static void tap_append(struct Qdisc *sch, union tap_entry *entry, u8 kind, struct tap_call *call)
{
	const struct tap_private *private = qdisc_priv(sch);
	struct aqmlab_tap_record *tap = &entry->tap;
	/* A packet at which the parent has peeked has left the child, and waits in the tap. */
	const struct sk_buff *peeked = skb_peek(&sch->gso_skb);
	s64 packets = (s64)sch->q.qlen - private->child->q.qlen;
	s64 bytes = (s64)sch->qstats.backlog - private->child->qstats.backlog;
	u32 at, count, space[AQMLAB_TAP_VALUES];

	for (at = 0; at < min_t(u32, call->count, TAP_VALUES); at += count) {
		count = min_t(u32, call->count - at, AQMLAB_TAP_VALUES);
		cpu_to_le32_array(memcpy(space, &call->values[at], 4 * count), count);
		tap_append_values(sch, AQMLAB_TAP_OF_CALL, &call->types[at], space, count, 4 * count);
	}
	if (private->is_codel)
		tap_append_codel(sch);
	tap->time_ns = cpu_to_le64(call->before);
	tap->packets_apart = clamp_t(s64, packets - !!peeked, -128, 127);
	tap->false_notice = private->is_notified && private->child->q.qlen;
	tap->bytes_apart = bytes != (peeked ? qdisc_pkt_len(peeked) : 0);
	tap->count = cpu_to_le32(call->count);
	tap->waiting = cpu_to_le32(private->child->q.qlen);
	tap->backlog = cpu_to_le32(private->child->qstats.backlog);
	tap->kind = kind;
	tap->instance = private->instance;
	aqmlab_log_append(&entry->record);
}

/* Append a record of a start; packets are numbered anew. */
static void tap_start(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	union tap_entry entry = { };

	private->arrived = 0;
	private->logs = aqmlab_log && private->child != &noop_qdisc;
	private->is_codel = !strcmp(private->child->ops->id, "codel");
	private->is_cake = !strcmp(private->child->ops->id, "cake");
	private->splits = private->is_cake ||
		(aqmlab_splits && !strcmp(private->child->ops->id, "dualpi2"));
	private->has_jiffies = !strcmp(private->child->ops->id, "sfb");
	if (!private->logs)
		return;
	if (private->is_codel)
		tap_append_codel_settings(sch);
	entry.tap.count = cpu_to_le32(aqmlab_jiffies);
	strscpy((char *)entry.values.values, private->child->ops->id, sizeof(entry.values.values));
	entry.tap.time_ns = cpu_to_le64(ktime_get_ns());
	entry.tap.packet = cpu_to_le32(TAP_NOBODY);
	entry.tap.kind = AQMLAB_TAP_RESET;
	entry.tap.instance = private->instance;
	aqmlab_log_append(&entry.record);
}

/* Log the TCP header of a packet, 32 bytes a record. */
static void tap_log_header(struct Qdisc *sch, const struct sk_buff *skb)
{
	u8 header[64] = { };
	u32 length = tap_tcp(skb, header, sizeof(header)), at, part;

	for (at = 0; at < length; at += part) {
		part = min_t(u32, length - at, 4 * AQMLAB_TAP_VALUES);
		tap_append_values(sch, AQMLAB_TAP_HEADER, NULL, header + at, part, part);
	}
}

static int tap_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct tap_private *private = qdisc_priv(sch);
	const struct skb_shared_info *shared = skb_shinfo(skb);
	bool is_split = private->splits && shared->gso_size;
	u32 bytes = qdisc_pkt_len(skb), at;
	union tap_entry entry = { };
	struct tap_call *call;
	int result;

	for (at = 0; at < sizeof(tap_skb(skb)->number); at++)
		tap_skb(skb)->number[at] = private->arrived >> 8 * at;
	entry.tap.packet = cpu_to_le32(private->arrived++);
	entry.tap.bytes = cpu_to_le32(is_split ? skb->len : bytes);
	entry.tap.tos = tap_tos(skb);
	/* GRED takes the virtual queue of a packet from its last four bits. */
	skb->tc_index = entry.tap.tos >> 2;
	/* Cake computes a hash of its own, from addresses that it may have translated. */
	entry.tap.flow = cpu_to_le32(private->is_cake ? skb->hash : skb_get_hash(skb));
	entry.tap.is_hashed = !private->is_cake || skb->l4_hash;
	entry.tap.memory = cpu_to_le32(skb->truesize);
	entry.tap.seq = cpu_to_le32(tap_seq(skb));
	if (is_split) {
		u8 space[64];

		entry.tap.segment = cpu_to_le16(shared->gso_size);
		entry.tap.segments = cpu_to_le16(shared->gso_segs);
		entry.tap.header = skb_network_offset(skb) + ip_hdrlen(skb) +
			tap_tcp(skb, space, sizeof(space));
	}
	if (private->logs && aqmlab_headers)
		tap_log_header(sch, skb);
	call = tap_begin(sch);
	result = qdisc_enqueue(skb, private->child, to_free);
	entry.tap.span_ns = tap_end(call);
	entry.tap.outcome = result;
	if (result == NET_XMIT_SUCCESS) {
		sch->qstats.backlog += bytes;
		sch->q.qlen++;
	} else if (net_xmit_drop_count(result)) {
		qdisc_qstats_drop(sch);
	}
	if (private->logs)
		tap_append(sch, &entry, AQMLAB_TAP_ARRIVAL, call);
	return result;
}

static struct sk_buff *tap_dequeue(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	struct tap_call *call = tap_begin(sch);
	struct sk_buff *skb = aqmlab_peeks ? qdisc_dequeue_peeked(private->child) :
		private->child->dequeue(private->child);
	union tap_entry entry = { };

	entry.tap.span_ns = tap_end(call);
	if (!skb) {
		entry.tap.packet = cpu_to_le32(TAP_NOBODY);
		if (private->logs)
			tap_append(sch, &entry, AQMLAB_TAP_EMPTY, call);
		return NULL;
	}
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	if (private->logs) {
		entry.tap.packet = cpu_to_le32(tap_number(private, skb));
		entry.tap.bytes = cpu_to_le32(qdisc_pkt_len(skb));
		entry.tap.tos = tap_tos(skb);
		entry.tap.flow = cpu_to_le32(private->is_cake ? tap_skb(skb)->adjusted : skb->hash);
		entry.tap.memory = cpu_to_le32(skb->truesize);
		entry.tap.seq = cpu_to_le32(tap_seq(skb));
		tap_append(sch, &entry, AQMLAB_TAP_DEPARTURE, call);
	}
	return skb;
}

/* Return the child's next packet, which stays in the child; log it if the child is asked. */
static struct sk_buff *tap_peek(struct Qdisc *sch)
{
	struct tap_private *private = qdisc_priv(sch);
	union tap_entry entry = { };
	struct tap_call *call;
	struct sk_buff *skb;

	if (!aqmlab_peeks)
		return qdisc_peek_dequeued(sch);
	call = tap_begin(sch);
	skb = private->child->ops->peek(private->child);
	entry.tap.span_ns = tap_end(call);
	entry.tap.packet = cpu_to_le32(skb ? tap_number(private, skb) : TAP_NOBODY);
	if (private->logs)
		tap_append(sch, &entry, AQMLAB_TAP_PEEK, call);
	return skb;
}

/* Timers of children, and their functions; a new one takes the oldest place. */
static struct tap_timer {
	const void *timer;
	union {
		void (*function)(struct timer_list *timer);
		enum hrtimer_restart (*high_resolution)(struct hrtimer *timer);
	};
} tap_timers[TAP_TIMERS];
static unsigned int tap_timers_made;

/* Return the place of a timer; the last one of an unknown timer. */
static struct tap_timer *tap_timer_of(const void *timer)
{
	unsigned int at;

	for (at = 0; at < TAP_TIMERS - 1 && tap_timers[at].timer != timer; at++)
		;
	return &tap_timers[at];
}

/* Return a place for a timer. */
static struct tap_timer *tap_timer_new(const void *timer)
{
	struct tap_timer *place = tap_timer_of(timer);

	if (place->timer != timer)
		place = &tap_timers[tap_timers_made++ % TAP_TIMERS];
	place->timer = timer;
	return place;
}

/* Log the call of a timer. */
static void tap_append_timer(struct Qdisc *sch, struct tap_call *call)
{
	union tap_entry entry = { };

	entry.tap.span_ns = tap_end(call);
	entry.tap.packet = cpu_to_le32(TAP_NOBODY);
	if (((struct tap_private *)qdisc_priv(sch))->logs)
		tap_append(sch, &entry, AQMLAB_TAP_TIMER, call);
}

/* Run the function of a child's timer, and log it as a call. */
static void tap_on_timer(struct timer_list *timer)
{
	struct tap_timer *place = tap_timer_of(timer);
	struct Qdisc *sch = tap_of(timer);
	struct tap_call *call;

	if (!sch) {
		place->function(timer);
		return;
	}
	call = tap_begin(sch);
	place->function(timer);
	tap_append_timer(sch, call);
}

void aqmlab_timer_init_key(struct timer_list *timer, void (*function)(struct timer_list *timer),
			   unsigned int flags, const char *name, struct lock_class_key *key);

void aqmlab_timer_init_key(struct timer_list *timer, void (*function)(struct timer_list *timer),
			   unsigned int flags, const char *name, struct lock_class_key *key)
{
	tap_timer_new(timer)->function = function;
	timer_init_key(timer, tap_on_timer, flags, name, key);
}
EXPORT_SYMBOL(aqmlab_timer_init_key);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
/* The same of timers of high resolution, which dualpi2 has. */
static enum hrtimer_restart tap_on_hrtimer(struct hrtimer *timer)
{
	struct tap_timer *place = tap_timer_of(timer);
	struct Qdisc *sch = tap_of(timer);
	enum hrtimer_restart again;
	struct tap_call *call;

	if (!sch)
		return place->high_resolution(timer);
	call = tap_begin(sch);
	again = place->high_resolution(timer);
	tap_append_timer(sch, call);
	return again;
}

void aqmlab_hrtimer_setup(struct hrtimer *timer,
			  enum hrtimer_restart (*function)(struct hrtimer *timer),
			  clockid_t clock, enum hrtimer_mode mode);

void aqmlab_hrtimer_setup(struct hrtimer *timer,
			  enum hrtimer_restart (*function)(struct hrtimer *timer),
			  clockid_t clock, enum hrtimer_mode mode)
{
	tap_timer_new(timer)->high_resolution = function;
	hrtimer_setup(timer, tap_on_hrtimer, clock, mode);
}
EXPORT_SYMBOL(aqmlab_hrtimer_setup);
#endif

static struct Qdisc_ops tap_ops __read_mostly = {
	.id		= TAP_KIND,
	.cl_ops		= &tap_class_ops,
	.priv_size	= sizeof(struct tap_private),
	.enqueue	= tap_enqueue,
	.dequeue	= tap_dequeue,
	.peek		= tap_peek,
	.init		= tap_init,
	.reset		= tap_reset,
	.destroy	= tap_destroy,
	.owner		= THIS_MODULE,
};

static int __init tap_module_init(void)
{
	int error;

	WRITE_ONCE(aqmlab_jiffies, jiffies);
	tap_calls = vzalloc(array_size(nr_cpu_ids, sizeof(*tap_calls)));
	if (!tap_calls)
		return -ENOMEM;
	error = aqmlab_log_open(KBUILD_MODNAME);
	if (!error) {
		error = register_qdisc(&tap_ops);
		if (error)
			aqmlab_log_close();
	}
	if (error)
		vfree(tap_calls);
	return error;
}

static void __exit tap_module_exit(void)
{
	unregister_qdisc(&tap_ops);
	aqmlab_log_close();
	vfree(tap_calls);
}

module_init(tap_module_init);
module_exit(tap_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Log of the decisions of an unchanged queueing discipline");
MODULE_ALIAS("sch_aqmlab_tap");
