/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A record of the log of decisions: 64 bytes without gaps, little endian.
 * crates/aqm/src/replay/record.rs reads it.
 */
#ifndef AQMLAB_RECORD_H
#define AQMLAB_RECORD_H

/* Kinds. */
#define AQMLAB_ARRIVAL		0	/* a packet was offered */
#define AQMLAB_DEPARTURE	1	/* the link took a packet */
#define AQMLAB_EMPTY		2	/* the link asked, and none waited */
#define AQMLAB_RESET		3	/* the queue was created or emptied */
#define AQMLAB_CHANGED		4	/* a parameter was changed: a replay ends here */
#define AQMLAB_DISCARD		5	/* the link asked, and this packet was dropped as it left */

/* Outcomes: what became of the victim. */
#define AQMLAB_NONE		0
#define AQMLAB_MARKED		1
#define AQMLAB_DROPPED		2

/* Bits of drawn. */
#define AQMLAB_DREW		1
#define AQMLAB_DREW_VICTIM	2	/* DualPI2: the second draw */

#define AQMLAB_NOBODY		(~0U)	/* no packet */

enum aqmlab_verdict {
	AQMLAB_ACCEPT,
	AQMLAB_EARLY,
	AQMLAB_FORCED,
	AQMLAB_OVERFLOW,
};

/*
 * offset  field        meaning; a departure has only the first six and instance
 *
 * DualPI2 decides also about packets that leave: its departures and drops have all fields.
 * average is the delay of the controller's last step in ns, p_b its probability times 2^32,
 * flow the bytes of the packet's buffer, victim_draw the second draw, count the credit, and
 * waiting the packets in both queues, of a departure those that are left.
 */
struct aqmlab_record {
	__le64 time_ns;		/*  0 clock of the kernel (CLOCK_MONOTONIC) */
	__le64 average;		/*  8 that decided, times 2^(W_LOG + FRACTION) */
	__le32 sequence;	/* 16 number of the record, from 0 */
	__le32 packet;		/* 20 number of the packet since the reset, from 0 */
	__le32 bytes;		/* 24 its length */
	__le32 flow;		/* 28 hash of its flow; DDRED by fraction: lowest 8 bits TTL_f */
	__le32 p_b;		/* 32 times 2^31; ~0 below min_th */
	__le32 draw;		/* 36 of the spacing */
	__le32 victim_draw;	/* 40 of the victim rule */
	__le32 victim;		/* 44 number of the packet marked or dropped; ~0: none */
	__le32 waiting;		/* 48 packets that the arrival found */
	__le32 count;		/* 52 signed: arrivals since a drop, after the decision */
	__u8 kind;		/* 56 */
	__u8 verdict;		/* 57 0 accept, 1 early, 2 forced, 3 overflow */
	__u8 outcome;		/* 58 */
	__u8 tos;		/* 59 code point and ECN field that the packet came with */
	__u8 ttl;		/* 60 */
	__u8 ttl_initial;	/* 61 */
	__u8 drawn;		/* 62 */
	__u8 instance;		/* 63 number of the queue, where several have the discipline */
};

#endif
