/*
 * Random traffic through the decisions of a generated module, in user space. The
 * log goes to standard output. Arguments: arrivals, seed, rate of the link in bit/s.
 *
 * Load changes every 1000 arrivals, from idle links to overload.
 */
#include "shim.h"

#include "decision.h"
#include "record.h"

#define SIZES	(1U << 16)

struct packet {
	u32 number, bytes, class;
};

static struct packet waiting[SIZES];
static u32 head, tail;
static struct aqmlab_queue queue;
static u32 sequence;

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
	struct packet *packet;

	if (head == tail) {
		if (queue.serving) {
			aqmlab_serve_nothing(&queue, now);
			write_event(AQMLAB_EMPTY, now, AQMLAB_NOBODY, 0);
		}
		return 0;
	}
	packet = &waiting[head++ % SIZES];
	aqmlab_leaves(&queue, packet->class, packet->bytes);
	aqmlab_serve(&queue, now, packet->class, packet->bytes);
	write_event(AQMLAB_DEPARTURE, now, packet->number, packet->bytes);
	return packet->bytes;
}

static void arrive(u64 now, u32 number, u32 bytes, u8 tos)
{
	u32 class = aqmlab_class_of[tos >> 2], found = queue.packets;
	struct aqmlab_decision decision;
	u8 outcome = AQMLAB_NONE;
	struct aqmlab_record record;

	aqmlab_decide(&queue, now, class, bytes, &decision);
	if (decision.verdict != AQMLAB_ACCEPT)
		outcome = aqmlab_marks(&decision, tos) ? AQMLAB_MARKED : AQMLAB_DROPPED;
	record = (struct aqmlab_record){
		.time_ns = now, .average = aqmlab_average_of(&queue, class),
		.packet = number, .bytes = bytes, .flow = number % 7,
		.p_b = decision.p_b, .draw = decision.draw,
		.victim = outcome == AQMLAB_NONE ? AQMLAB_NOBODY : number,
		.waiting = found, .count = (u32)queue.class[class].count,
		.kind = AQMLAB_ARRIVAL, .verdict = decision.verdict,
		.outcome = outcome, .tos = tos, .ttl = 60, .ttl_initial = 64,
		.drawn = decision.drawn ? AQMLAB_DREW : 0,
	};
	write_record(&record);
	if (outcome == AQMLAB_DROPPED)
		return;
	waiting[tail++ % SIZES] = (struct packet){ number, bytes, class };
	aqmlab_joins(&queue, class, bytes);
}

int main(int count, char **words)
{
	static const u8 code_points[] = { 0, 0, 10, 12, 14, 46 };
	u64 now = 0, free_at = 0, ns_per_byte;
	u32 arrivals, i, bytes;
	u32 load = 100;

	if (count != 4)
		return 2;
	arrivals = strtoul(words[1], NULL, 10);
	shim_state = strtoull(words[2], NULL, 10);
	ns_per_byte = 8000000000ULL / strtoull(words[3], NULL, 10);
	aqmlab_reset(&queue);
	write_event(AQMLAB_RESET, 0, AQMLAB_NOBODY, 0);
	for (i = 0; i < arrivals; i++) {
		u64 random = shim_random();
		u8 tos = code_points[random % 6] << 2 | ((random >> 8) & 3);

		if (i % 1000 == 0)
			load = 20 + (shim_random() >> 32) % 140;
		bytes = random & (1 << 16) ? 40 + ((random >> 20) & 1023) : 1000;
		/* Uniform on 0 to twice the mean. */
		now += ((random >> 32) % 2048) * (1000 * ns_per_byte * 100 / load) / 1024;
		while (free_at <= now) {
			u32 served = serve(free_at);

			if (!served) {
				free_at = now;
				break;
			}
			free_at += served * ns_per_byte;
		}
		arrive(now, i, bytes, tos);
		if (!queue.serving && free_at <= now)
			free_at = now + serve(now) * ns_per_byte;
	}
	return 0;
}
