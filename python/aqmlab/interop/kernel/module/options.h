/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parameters of a queue as netlink carries them, in TCA_OPTIONS. Limit and ECN can be
 * set, and min_th, max_th and max_p of one class at a time; the rest is reported.
 */
#ifndef AQMLAB_OPTIONS_H
#define AQMLAB_OPTIONS_H

#include <linux/pkt_sched.h>
#include <linux/types.h>

#define AQMLAB_THRESHOLD_BITS	16	/* of thresholds behind the binary point, packets or bytes */

enum {
	AQMLAB_TCA_UNSPEC,
	AQMLAB_TCA_LIMIT,	/* u32: packets or bytes */
	AQMLAB_TCA_ECN,		/* u8: 1 marks, 0 drops */
	AQMLAB_TCA_FIXED,	/* struct aqmlab_fixed */
	AQMLAB_TCA_CURVES,	/* a struct aqmlab_shown for each class */
	AQMLAB_TCA_CLASS,	/* u32: from 1, the class of the next three; of one class not needed */
	AQMLAB_TCA_MIN_TH,	/* u64: times 2^16 */
	AQMLAB_TCA_MAX_TH,	/* u64: times 2^16 */
	AQMLAB_TCA_MAX_P,	/* u64: times 2^63 */
	AQMLAB_TCA_DUALPI2,	/* struct aqmlab_dualpi2 */
	__AQMLAB_TCA_MAX,
#define AQMLAB_TCA_MAX		(__AQMLAB_TCA_MAX - 1)
};

struct aqmlab_fixed {
	__u8 w_log;		/* w_q = 2^-w_log */
	__u8 unused;
	__u8 limit_in_bytes;
	__u8 in_bytes;		/* average */
};

struct aqmlab_shown {
	__u64 min;		/* average from which p_b is above 0, times 2^16 */
	__u64 max;		/* times 2^16 */
	__u64 max_p;		/* times 2^63 */
};

/* Of DualPI2, where nothing but the limit can be set; times in us. */
struct aqmlab_dualpi2 {
	__u32 target;
	__u32 t_update;
	__u32 alpha;		/* 256ths per s */
	__u32 beta;
	__u32 step;
	__u32 step_packets;
	__u32 memlimit;		/* bytes */
	__u8 coupling;
	__u8 classic_share;	/* percent */
	__u8 drops_in_overload;
	__u8 at_arrival;
};

/* The statistics of DualPI2. */
struct aqmlab_dualpi2_xstats {
	struct tc_red_xstats red;
	__u32 p;		/* p', times 2^32 */
	__u32 delay;		/* of the last step, us */
	__u32 packets_l;
	__u32 packets_c;
	__s32 credit;
};

#endif
