/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Records of the calls of one of Linux's disciplines, as sch_aqmlab_tap.c logs them: 64 bytes
 * without gaps, little endian, in the ring of log.h.
 * crates/aqm/src/replay/tap.rs reads them.
 */
#ifndef AQMLAB_TAP_H
#define AQMLAB_TAP_H

/* Kinds; those below are of record.h. */
#define AQMLAB_TAP_ARRIVAL	32	/* a packet was offered to the child */
#define AQMLAB_TAP_DEPARTURE	33	/* the child returned a packet */
#define AQMLAB_TAP_EMPTY	34	/* the child returned none */
#define AQMLAB_TAP_RESET	35	/* the child was attached or emptied */
#define AQMLAB_TAP_OF_CALL	36	/* values that the child got in the call of the next record */
#define AQMLAB_TAP_HEADER	37	/* bytes of the TCP header of the packet of the next record */
#define AQMLAB_TAP_TIMER	38	/* the child's timer expired */
#define AQMLAB_TAP_PEEK		40	/* the child's next packet was asked for, and stays in the child */
#define AQMLAB_TAP_STATE	39	/* state of the child after the call of the next record; before a reset, settings */

/* Types of values. */
#define AQMLAB_TAP_TIME	1	/* ktime_get, in ns since the time of the call's record */
#define AQMLAB_TAP_U16		2	/* get_random_u16 */
#define AQMLAB_TAP_U32		3	/* get_random_u32 */
#define AQMLAB_TAP_HASH		4	/* flow_hash_from_keys */
#define AQMLAB_TAP_BYTES	5	/* 4 bytes of get_random_bytes */
#define AQMLAB_TAP_BELOW	6	/* get_random_u32_below */
#define AQMLAB_TAP_PERTURBED	7	/* skb_get_hash_perturb */
#define AQMLAB_TAP_JIFFIES	8	/* jiffies before the call, of sfb alone */

/*
 * A reset has the name of the child from byte 24 on, and in count the jiffies of the last call; before the first one,
 * those when the tap was loaded. CoDel's state has the words first_above_time, drop_next, count, lastcount, rec_inv_sqrt
 * and dropping; its settings target, interval, limit, mtu, ecn, ce_threshold, and 1 if that is off.
 */

/* Values of a record. */
#define AQMLAB_TAP_VALUES	8

struct aqmlab_tap_record {
	__le64 time_ns;		/*  0 clock (CLOCK_MONOTONIC) before the child's call */
	__le32 span_ns;		/*  8 until the clock was read after the call */
	__le32 count;		/* 12 values of the call */
	__le32 sequence;	/* 16 number of the record, from 0 */
	__le32 packet;		/* 20 number of the packet since the reset; ~0: none */
	__le32 bytes;		/* 24 its length; of segments together, the length of their packet */
	__le32 flow;		/* 28 its hash; of a departure from cake, its length in the shaper */
	__le32 memory;		/* 32 bytes of its buffer */
	__le16 segment;		/* 36 bytes of payload of a segment; 0: it is not joined */
	__le16 segments;	/* 38 */
	__u8 header;		/* 40 bytes of headers of a segment */
	__u8 is_hashed;		/* 41 its hash is that of its flow */
	__u8 unused[2];		/* 42 */
	__le32 seq;		/* 44 sequence number of TCP */
	__le32 waiting;		/* 48 packets in the child */
	__le32 backlog;		/* 52 bytes in the child */
	__u8 kind;		/* 56 */
	__u8 outcome;		/* 57 arrival: the child's return code */
	__u8 unused_too;	/* 58 */
	__u8 tos;		/* 59 code point and ECN field before an arrival, after a departure */
	__s8 packets_apart;	/* 60 packets in the child as its parent counts them, less those in it */
	__u8 bytes_apart;	/* 61 the parent counts other bytes */
	__u8 false_notice;	/* 62 the kernel notified the parent of an empty child in the call, and it is not empty */
	__u8 instance;		/* 63 number of the tap, where there are several */
};

struct aqmlab_tap_values {
	__u8 types[AQMLAB_TAP_VALUES];		/*  0 */
	__u8 unused[8];				/*  8 */
	__le32 sequence;			/* 16 */
	__le32 count;				/* 20 values, or bytes of a header */
	__le32 values[AQMLAB_TAP_VALUES];	/* 24 */
	__u8 kind;				/* 56 */
	__u8 not_used[6];			/* 57 */
	__u8 instance;				/* 63 */
};

#endif
