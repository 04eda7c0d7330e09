/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parameters of a queue as netlink carries them, in TCA_OPTIONS. Limit and ECN can be
 * set; the rest is reported.
 */
#ifndef AQMLAB_OPTIONS_H
#define AQMLAB_OPTIONS_H

enum {
	AQMLAB_TCA_UNSPEC,
	AQMLAB_TCA_LIMIT,	/* u32: packets or bytes */
	AQMLAB_TCA_ECN,		/* u8: 1 marks, 0 drops */
	AQMLAB_TCA_FIXED,	/* struct aqmlab_fixed */
	AQMLAB_TCA_CURVES,	/* a struct aqmlab_bounds for each class */
	__AQMLAB_TCA_MAX,
#define AQMLAB_TCA_MAX		(__AQMLAB_TCA_MAX - 1)
};

struct aqmlab_fixed {
	__u8 w_log;		/* w_q = 2^-w_log */
	__u8 fraction;		/* bits behind the binary point of min and max */
	__u8 limit_in_bytes;
	__u8 in_bytes;		/* average */
};

struct aqmlab_bounds {
	__u64 min;		/* average from which p_b is above 0, times 2^fraction */
	__u64 max;		/* average at which the curve ends */
	__u32 max_p;		/* p_b there, times 2^31 */
	__u32 unused;
};

#endif
