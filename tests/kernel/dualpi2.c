/*
 * Random traffic through the decisions of a generated module of DualPI2, in user space. The
 * log goes to standard output. Arguments: arrivals, seed, rate of the link in bit/s.
 *
 * There are pauses, and at times the link stalls for up to 3 s.
 */
#include "load.h"

#include "dualpi2.h"

struct packet {
	struct packet *next;
	struct aqmlab_skb own;
	u32 bytes;
	u32 memory;
};

static struct aqmlab_queue queue;
static struct packet *head[AQMLAB_NEITHER], *tail[AQMLAB_NEITHER];
static u64 stalled_until;
static u32 sequence;

static void write_record(u8 kind, u64 now, const struct packet *packet,
			 const struct aqmlab_decision *decision, u32 waiting)
{
	u8 outcome = decision->verdict == AQMLAB_ACCEPT ? AQMLAB_NONE :
		     decision->marks ? AQMLAB_MARKED : AQMLAB_DROPPED;
	struct aqmlab_record record = {
		.time_ns = now, .average = queue.delay, .sequence = sequence++,
		.packet = packet ? packet->own.number : AQMLAB_NOBODY, .bytes = packet ? packet->bytes : 0,
		.flow = packet ? packet->memory : 0, .p_b = queue.p,
		.draw = decision->draw[0], .victim_draw = decision->draw[1],
		.victim = outcome ? packet->own.number : AQMLAB_NOBODY,
		.waiting = waiting, .count = (u32)queue.credit, .kind = kind,
		.verdict = decision->verdict, .outcome = outcome,
		.tos = packet ? packet->own.tos : 0, .drawn = (1 << decision->draws) - 1,
	};

	if (fwrite(&record, sizeof(record), 1, stdout) != 1)
		exit(1);
}

static u32 serve(u64 now)
{
	struct aqmlab_decision decision = { 0 };
	enum aqmlab_which which;
	bool dropped = false;

	if (shim_random() % 10000 == 0)
		stalled_until = now + shim_random() % 3000000000ULL;
	if (now < stalled_until)
		return 0;
	while ((which = aqmlab_turn(&queue, now)) != AQMLAB_NEITHER) {
		struct packet *packet = head[which];
		u32 bytes = packet->bytes;

		head[which] = packet->next;
		aqmlab_leave(&queue, now, which, &packet->own, bytes, packet->memory,
			     packet->next ? &packet->next->own : NULL, &decision);
		dropped = aqmlab_is_dropped(&decision);
		write_record(dropped ? AQMLAB_DISCARD : AQMLAB_DEPARTURE, now, packet, &decision,
			     aqmlab_packets(&queue));
		free(packet);
		if (!dropped)
			return bytes;
	}
	decision = (struct aqmlab_decision){ 0 };
	if (aqmlab_serve_nothing(&queue) || dropped)
		write_record(AQMLAB_EMPTY, now, NULL, &decision, 0);
	return 0;
}

static void arrive(u64 now, u32 number, u64 random)
{
	struct packet *packet = calloc(1, sizeof(*packet));
	enum aqmlab_which which = aqmlab_queue_of(random >> 8);
	u32 waiting = aqmlab_packets(&queue);
	struct aqmlab_decision decision;

	packet->bytes = random & (1 << 16) ? 40 + ((random >> 20) & 1023) : 1000;
	packet->memory = packet->bytes < 200 ? 768 : 2304;
	packet->own.number = number;
	packet->own.tos = random >> 8;
	aqmlab_arrive(&queue, now, &packet->own, packet->bytes, packet->memory, &decision);
	write_record(AQMLAB_ARRIVAL, now, packet, &decision, waiting);
	if (aqmlab_is_dropped(&decision)) {
		free(packet);
		return;
	}
	if (head[which])
		tail[which]->next = packet;
	else
		head[which] = packet;
	tail[which] = packet;
}

int main(int count, char **words)
{
	const struct aqmlab_decision none = { 0 };

	if (count < 4)
		return 2;
	shim_state = strtoull(words[2], NULL, 10);
	aqmlab_defaults(&queue);
	aqmlab_reset(&queue, 0);
	write_record(AQMLAB_RESET, 0, NULL, &none, 0);
	offer(strtoul(words[1], NULL, 10), 8000000000ULL / strtoull(words[3], NULL, 10), 2000, serve, arrive);
	return 0;
}
