/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Records of the calls of Linux's cake, as sch_aqmlab_cake.c logs them: 64 bytes
 * without gaps, little endian, in the ring of log.h.
 * crates/aqm/src/replay/cake.rs reads them.
 */
#ifndef AQMLAB_CAKE_H
#define AQMLAB_CAKE_H

/* Kinds; those below are of record.h and tap.h. */
#define AQMLAB_CAKE_ARRIVAL	32	/* a packet was offered to the child */
#define AQMLAB_CAKE_DEPARTURE	33	/* the child returned a packet */
#define AQMLAB_CAKE_EMPTY	34	/* the child returned none */
#define AQMLAB_CAKE_RESET	35	/* the child was attached or emptied */
#define AQMLAB_CAKE_OF_CALL	36	/* values that the child got in the call of the next record */
#define AQMLAB_CAKE_HEADER	37	/* bytes of the TCP header of the packet of the next record */

/* Types of values. */
#define AQMLAB_CAKE_TIME	1	/* ktime_get, in ns since the time of the call's record */
#define AQMLAB_CAKE_U16		2	/* get_random_u16 */
#define AQMLAB_CAKE_U32		3	/* get_random_u32 */
#define AQMLAB_CAKE_HASH	4	/* flow_hash_from_keys */

/* Values of a record. */
#define AQMLAB_CAKE_VALUES	8

struct aqmlab_cake_record {
	__le64 time_ns;		/*  0 clock (CLOCK_MONOTONIC) before the child's call */
	__le32 span_ns;		/*  8 until the clock was read after the call */
	__le32 count;		/* 12 values of the call */
	__le32 sequence;	/* 16 number of the record, from 0 */
	__le32 packet;		/* 20 number of the packet since the reset; ~0: none */
	__le32 bytes;		/* 24 its length; of segments together, the length of their packet */
	__le32 flow;		/* 28 its hash; of a departure, its length in the shaper */
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
	__u8 not_used;		/* 62 */
	__u8 instance;		/* 63 number of the tap, where there are several */
};

struct aqmlab_cake_values {
	__u8 types[AQMLAB_CAKE_VALUES];		/*  0 */
	__u8 unused[8];				/*  8 */
	__le32 sequence;			/* 16 */
	__le32 count;				/* 20 values, or bytes of a header */
	__le32 values[AQMLAB_CAKE_VALUES];	/* 24 */
	__u8 kind;				/* 56 */
	__u8 not_used[6];			/* 57 */
	__u8 instance;				/* 63 */
};

#endif
