/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The option with TTL_i and TTL_f, by which DDRED knows the length of a packet's route.
 * The live link reads the same: crates/dataplane/src/wire/route_option.rs.
 *
 *   IPv4   9e 04 TTL_i TTL_f                       among the options of the header
 *   IPv6   NEXT 00 1e 02 TTL_i TTL_f 01 00         in a hop-by-hop header
 *
 * The first one counts. Options after one that is cut are not read.
 */
#ifndef AQMLAB_ROUTE_H
#define AQMLAB_ROUTE_H

#define AQMLAB_ROUTE_IPV4	158
#define AQMLAB_ROUTE_IPV6	0x1e

/* Find the option's two numbers in the options of a header of IPv4; NULL if it is missing. */
static inline const u8 *aqmlab_route_ipv4(const u8 *option, const u8 *end)
{
	/* 0 ends the list, and 1 is an option of one byte. */
	while (option < end && option[0]) {
		if (option[0] == 1) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 || option[1] > end - option)
			return NULL;
		if (option[0] == AQMLAB_ROUTE_IPV4 && option[1] == 4)
			return option + 2;
		option += option[1];
	}
	return NULL;
}

/* The same in the options of a hop-by-hop header of IPv6, whose lengths count the data only. */
static inline const u8 *aqmlab_route_ipv6(const u8 *option, const u8 *end)
{
	while (option < end) {
		if (!option[0]) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] > end - option - 2)
			return NULL;
		if (option[0] == AQMLAB_ROUTE_IPV6 && option[1] == 2)
			return option + 2;
		option += 2 + option[1];
	}
	return NULL;
}

/*
 * Find them in a packet, from its IP header to the end of the bytes that are there. An
 * IPv4 header that is cut, and an IPv6 packet without hop-by-hop header first, have none.
 */
static inline const u8 *aqmlab_route_of(const u8 *packet, const u8 *end)
{
	u32 length;

	if (end - packet < 20)
		return NULL;
	if (packet[0] >> 4 == 4) {
		length = 4 * (packet[0] & 15);
		if (length < 20 || length > end - packet)
			return NULL;
		return aqmlab_route_ipv4(packet + 20, packet + length);
	}
	if (packet[0] >> 4 != 6 || end - packet < 48 || packet[6])
		return NULL;
	length = 8 + 8 * packet[41];
	if (length > end - packet - 40)
		return NULL;
	return aqmlab_route_ipv6(packet + 42, packet + 40 + length);
}

#endif
