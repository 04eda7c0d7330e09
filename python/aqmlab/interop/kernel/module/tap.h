/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A record of a decision of Linux's discipline, as sch_aqmlab_tap.c logs it: 64
 * bytes without gaps, little endian, in the ring of log.h.
 * crates/aqm/src/replay/tap.rs reads it.
 */
#ifndef AQMLAB_TAP_H
#define AQMLAB_TAP_H

/* Kinds; those below are of record.h. */
#define AQMLAB_TAP_ARRIVAL	16	/* a packet was offered to the child */
#define AQMLAB_TAP_DEPARTURE	17	/* the child returned a packet */
#define AQMLAB_TAP_EMPTY	18	/* the child returned none */
#define AQMLAB_TAP_RESET	19	/* the child was attached or emptied */

/*
 * A reset has the child's settings: target in first_above, interval in drop_next,
 * limit in count, mtu in last_count, ECN in dropping, and the threshold of CE in
 * bytes; 1 in outcome if it is off. Other records have the child's state after its call.
 */
struct aqmlab_tap_record {
	__le64 time_ns;		/*  0 clock (CLOCK_MONOTONIC) before the child's call */
	__le32 span_ns;		/*  8 until the clock was read after the call */
	__le32 tick;		/* 12 the time that the child read, in 2^10 ns */
	__le32 sequence;	/* 16 number of the record, from 0 */
	__le32 packet;		/* 20 number of the packet since the reset; ~0: none */
	__le32 bytes;		/* 24 its length */
	__le32 flow;		/* 28 hash of its flow */
	__le32 first_above;	/* 32 end of the interval; 0: the delay is below target */
	__le32 drop_next;	/* 36 */
	__le32 count;		/* 40 */
	__le32 last_count;	/* 44 */
	__le32 waiting;		/* 48 packets in the child */
	__le32 backlog;		/* 52 bytes in the child */
	__u8 kind;		/* 56 */
	__u8 outcome;		/* 57 arrival: 1 if the child dropped the packet */
	__u8 unused;		/* 58 */
	__u8 tos;		/* 59 code point and ECN field that it has now */
	__le16 rec_inv_sqrt;	/* 60 */
	__u8 dropping;		/* 62 */
	__u8 instance;		/* 63 number of the tap, where there are several */
};

#endif
