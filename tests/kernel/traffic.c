/*
 * Random traffic through the decisions of a generated module, in user space. The
 * log goes to standard output. Arguments: arrivals, seed, rate of the link in bit/s, and
 * for each class that is changed its number from 0, min_th, max_th and max_p in integers.
 */
#include "load.h"

#include "decision.h"
#include "record.h"

/* As in the kernel, a packet knows the next one of the list. */
struct sk_buff;
struct aqmlab_skb;
static struct aqmlab_skb *aqmlab_skb(struct sk_buff *skb);

struct sk_buff {
	struct sk_buff *next, *prev;
	u64 cb[2];
	u32 bytes;
};

static inline u32 aqmlab_length(const struct sk_buff *skb)
{
	return skb->bytes;
}

#include "victim.h"
#include "flows.h"

static struct sk_buff *head, *tail;
static struct aqmlab_queue queue;
static struct aqmlab_flow flow[AQMLAB_LIST_SIZE + 1];
static u32 chain[AQMLAB_CHAINS];
static struct aqmlab_flows flows = { .flow = flow, .chain = chain };
static struct aqmlab_node node[AQMLAB_LISTS + AQMLAB_SLOTS];
static struct aqmlab_index places = { .node = node };
static u32 sequence;

static struct aqmlab_skb *aqmlab_skb(struct sk_buff *skb)
{
	return (struct aqmlab_skb *)skb->cb;
}

static void append(struct sk_buff *skb)
{
	skb->next = NULL;
	skb->prev = tail;
	if (tail)
		tail->next = skb;
	else
		head = skb;
	tail = skb;
	aqmlab_joins(&queue, aqmlab_skb(skb)->class, skb->bytes);
}

/* Take a packet out of the queue; rank is that in its list of the index. */
static void take(struct sk_buff *skb, u32 rank)
{
	if (AQMLAB_INDEXED)
		aqmlab_unindex(&places, aqmlab_list_of(aqmlab_skb(skb)), rank);
	if (skb->prev)
		skb->prev->next = skb->next;
	else
		head = skb->next;
	if (skb->next)
		skb->next->prev = skb->prev;
	else
		tail = skb->prev;
	aqmlab_leaves(&queue, aqmlab_skb(skb)->class, skb->bytes);
}

static void write_record(struct aqmlab_record *record)
{
	record->sequence = sequence++;
	if (fwrite(record, sizeof(*record), 1, stdout) != 1)
		exit(1);
}

static void write_event(u8 kind, u64 now, u32 number, u32 bytes)
{
	struct aqmlab_record record = {
		.time_ns = now, .packet = number, .bytes = bytes,
		.victim = AQMLAB_NOBODY, .kind = kind,
	};

	write_record(&record);
}

/* The link asks for a packet. Return its length, 0 if there is none. */
static u32 serve(u64 now)
{
	struct sk_buff *skb = head;
	u32 bytes;

	if (!skb) {
		if (queue.serving) {
			aqmlab_serve_nothing(&queue, now);
			write_event(AQMLAB_EMPTY, now, AQMLAB_NOBODY, 0);
		}
		return 0;
	}
	take(skb, 1);
	bytes = skb->bytes;
	aqmlab_serve(&queue, now, aqmlab_skb(skb)->class, bytes);
	write_event(AQMLAB_DEPARTURE, now, aqmlab_skb(skb)->number, bytes);
	free(skb);
	return bytes;
}

/* Append the arriving packet where a victim is searched; it is in the queue then. */
static bool search(struct sk_buff *skb, u8 verdict, struct aqmlab_victim *victim)
{
	enum aqmlab_among among = aqmlab_among(verdict, !queue.packets);

	if (verdict != AQMLAB_ACCEPT && AQMLAB_LAST_N)
		among = aqmlab_find_in_tail(&queue, tail, skb, victim);
	if (verdict != AQMLAB_ACCEPT && among == AQMLAB_AMONG_ARRIVING) {
		victim->skb = skb;
		return false;
	}
	append(skb);
	if (AQMLAB_INDEXED && among == AQMLAB_AMONG_ALL)
		aqmlab_index_packet(&places, skb);
	if (AQMLAB_INDEXED && verdict != AQMLAB_ACCEPT)
		aqmlab_find_victim(&queue, &places, victim);
	if (AQMLAB_INDEXED && among != AQMLAB_AMONG_ALL)
		aqmlab_index_packet(&places, skb);
	return true;
}

static void decide(u64 now, struct sk_buff *skb)
{
	const struct aqmlab_skb *packet = aqmlab_skb(skb);
	struct aqmlab_victim victim = { 0 };
	u32 found = queue.packets;
	struct aqmlab_decision decision;
	struct aqmlab_record record;
	u8 outcome = AQMLAB_NONE;
	bool is_queued;

	aqmlab_protect(&flows, now, aqmlab_skb(skb));
	aqmlab_decide(&queue, now, packet->class, skb->bytes, &decision);
	is_queued = search(skb, decision.verdict, &victim);
	if (victim.skb)
		outcome = aqmlab_marks(&queue, &decision, aqmlab_skb(victim.skb)->tos) ?
			  AQMLAB_MARKED : AQMLAB_DROPPED;
	record = (struct aqmlab_record){
		.time_ns = now, .average = aqmlab_average_of(&queue, packet->class),
		.packet = packet->number, .bytes = skb->bytes, .flow = aqmlab_logged_flow(packet),
		.p_b = decision.p_b, .draw = decision.draw, .victim_draw = victim.draw,
		.victim = victim.skb ? aqmlab_skb(victim.skb)->number : AQMLAB_NOBODY,
		.waiting = found, .count = (u32)queue.class[packet->class].count,
		.kind = AQMLAB_ARRIVAL, .verdict = decision.verdict,
		.outcome = outcome, .tos = packet->tos, .ttl = packet->ttl,
		.ttl_initial = packet->ttl_initial,
		.drawn = (decision.drawn ? AQMLAB_DREW : 0) |
			 (victim.drawn ? AQMLAB_DREW_VICTIM : 0),
	};
	write_record(&record);
	if (outcome == AQMLAB_DROPPED) {
		if (is_queued)
			take(victim.skb, victim.rank);
		aqmlab_note_loss(&flows, now, aqmlab_skb(victim.skb), victim.skb->bytes);
		free(victim.skb);
	} else if (!is_queued) {
		append(skb);
		if (AQMLAB_INDEXED)
			aqmlab_index_packet(&places, skb);
	}
}

static struct sk_buff *new_packet(u32 number, u64 random)
{
	static const u8 code_points[] = { 0, 0, 10, 12, 14, 46 };
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	struct aqmlab_skb *packet = aqmlab_skb(skb);

	skb->bytes = random & (1 << 16) ? 40 + ((random >> 20) & 1023) : 1000;
	packet->number = number;
	packet->flow = number % 7 + 100 * (random >> 60);
	packet->tos = code_points[random % 6] << 2 | ((random >> 8) & 3);
	packet->class = aqmlab_class_of[packet->tos >> 2];
	packet->ttl_initial = 64;
	packet->ttl = 64 - ((random >> 11) & 7);
	/* Once in 8 times not known; the packet may seem to have passed the end of its route. */
	if (AQMLAB_BY_SHARE && random >> 61) {
		packet->ttl = 64 - ((random >> 11) & 31);
		packet->ttl_final = 64 - ((random >> 36) & 31);
	}
	return skb;
}

static void arrive(u64 now, u32 number, u64 random)
{
	decide(now, new_packet(number, random));
}

/* Change curves as a module does. */
static void change(int count, char **words)
{
#if AQMLAB_CHANGEABLE
	struct aqmlab_settings settings = queue.settings;

	for (; count >= 4; count -= 4, words += 4)
		settings.bounds[atoi(words[0])] = (struct aqmlab_bounds){
			.min = strtoull(words[1], NULL, 10),
			.max = strtoull(words[2], NULL, 10),
			.max_p = strtoull(words[3], NULL, 10),
		};
	aqmlab_change_settings(&queue, &settings);
#endif
}

int main(int count, char **words)
{
	if (count < 4)
		return 2;
	shim_state = strtoull(words[2], NULL, 10);
	aqmlab_defaults(&queue);
	change(count - 4, words + 4);
	aqmlab_reset(&queue, 0);
	aqmlab_reset_flows(&flows);
	aqmlab_reset_index(&places);
	write_event(AQMLAB_RESET, 0, AQMLAB_NOBODY, 0);
	offer(strtoul(words[1], NULL, 10), 8000000000ULL / strtoull(words[3], NULL, 10), 0, serve, arrive);
	return 0;
}
