/*
 * Random load of a link, for programs that put packets through a queue. Load changes every
 * 1000 arrivals, from idle links to overload.
 */
#ifndef LOAD_H
#define LOAD_H

#include "shim.h"

/*
 * Offer packets to a queue. serve() takes the packet that is next at a time in ns and returns
 * its length, 0 if there is none. Between two arrivals lie up to 30 s once in so many of them,
 * with pause_every = 0 never.
 */
static void offer(u32 arrivals, u64 ns_per_byte, u32 pause_every, u32 (*serve)(u64 now),
		  void (*arrive)(u64 now, u32 number, u64 random))
{
	u64 now = 0, free_at = 0;
	bool serving = false;
	u32 load = 100, i;

	for (i = 0; i < arrivals; i++) {
		u64 random = shim_random();

		if (i % 1000 == 0)
			load = 20 + (shim_random() >> 32) % 140;
		/* Uniform on 0 to twice the mean. */
		now += ((random >> 32) % 2048) * (1000 * ns_per_byte * 100 / load) / 1024;
		if (pause_every && shim_random() % pause_every == 0)
			now += shim_random() % 30000000000ULL;
		while (free_at <= now) {
			u32 served = serve(free_at);

			serving = served;
			if (!served) {
				free_at = now;
				break;
			}
			free_at += served * ns_per_byte;
		}
		arrive(now, i, random);
		if (!serving && free_at <= now) {
			u32 served = serve(now);

			serving = served;
			free_at = now + served * ns_per_byte;
		}
	}
}

#endif
