// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A plug-in of tc (iproute2 4.20 or later) for the discipline @KIND@: its options, and what
 * tc shows of it. tc looks for q_@KIND@.so in $TC_LIB_DIR, else in /usr/lib/tc.
 */
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* What tc has of its own; no package has the header. */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *util, int count, char **words, struct nlmsghdr *message, const char *dev);
	int (*print_qopt)(struct qdisc_util *util, FILE *file, struct rtattr *options);
	int (*print_xstats)(struct qdisc_util *util, FILE *file, struct rtattr *statistics);
	int (*parse_copt)(struct qdisc_util *util, int count, char **words, struct nlmsghdr *message, const char *dev);
	int (*print_copt)(struct qdisc_util *util, FILE *file, struct rtattr *options);
	int (*has_block)(struct qdisc_util *util, struct rtattr *options, bool *has);
};

#define PRINT_ANY	4
#define NO_COLOR	6
#define MOST_BYTES	1024
#define ONE_63		9223372036854775808.0	/* max_p = 1 in integers */
#define ONE_32		4294967296.0		/* p' = 1 in integers */
#define ONE_THRESHOLD	((double)(1ULL << AQMLAB_THRESHOLD_BITS))

int addattr_l(struct nlmsghdr *message, int most, int type, const void *data, int length);
int print_color_uint(int type, int color, const char *key, const char *format, unsigned int value);
int print_color_bool(int type, int color, const char *key, const char *format, bool value);
int print_color_string(int type, int color, const char *key, const char *format, const char *value);
int print_color_float(int type, int color, const char *key, const char *format, double value);
int open_json_array(int type, const char *key);
void close_json_array(int type, const char *format);
void open_json_object(const char *key);
void close_json_object(void);

static void print_number(const char *key, const char *format, double value)
{
	print_color_float(PRINT_ANY, NO_COLOR, key, format, value);
}

/* Read a whole number from 1. Return whether the word is one. */
static bool read_whole(const char *word, __u32 *value)
{
	char *end;
	unsigned long found = strtoul(word, &end, 10);

	*value = found;
	return !*end && end != word && word[0] != '-' && found && found == *value;
}

/* Read a number above 0 and up to another. Return it times a power of 2, rounded up, or 0. */
static __u64 read_scaled(const char *word, double most, double one)
{
	char *end;
	double value = strtod(word, &end);
	__u64 scaled;

	if (*end || end == word || !(value > 0 && value <= most))
		return 0;
	value *= one;
	scaled = value;
	return scaled + (scaled < value);
}

/* An option with a number: its attribute, and which numbers are allowed. */
struct option {
	const char *name;
	int type;
	double most;
	double one;
	const char *allowed;
};

static const struct option options_with_number[] = {
	{ "limit", AQMLAB_TCA_LIMIT, 0, 0, "a whole number from 1" },
	{ "class", AQMLAB_TCA_CLASS, 0, 0, "a whole number from 1" },
	{ "min", AQMLAB_TCA_MIN_TH, 4294967296.0, ONE_THRESHOLD, "above 0, up to 2^32" },
	{ "max", AQMLAB_TCA_MAX_TH, 4294967296.0, ONE_THRESHOLD, "above 0, up to 2^32" },
	{ "max_p", AQMLAB_TCA_MAX_P, 1, ONE_63, "above 0, up to 1" },
};

/* Add the attribute of an option. Return whether its number is allowed. */
static bool add_option(struct nlmsghdr *message, const struct option *option, const char *word)
{
	__u32 whole;
	__u64 scaled;

	if (!option->most) {
		if (!read_whole(word, &whole))
			return false;
		addattr_l(message, MOST_BYTES, option->type, &whole, sizeof(whole));
		return true;
	}
	scaled = read_scaled(word, option->most, option->one);
	if (scaled)
		addattr_l(message, MOST_BYTES, option->type, &scaled, sizeof(scaled));
	return scaled;
}

static const struct option *find_option(const char *word)
{
	unsigned int i;

	for (i = 0; i < sizeof(options_with_number) / sizeof(options_with_number[0]); i++)
		if (!strcmp(word, options_with_number[i].name))
			return &options_with_number[i];
	return NULL;
}

static int parse(struct qdisc_util *util, int count, char **words, struct nlmsghdr *message, const char *dev)
{
	struct rtattr *options = (struct rtattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	(void)util;
	(void)dev;
	addattr_l(message, MOST_BYTES, TCA_OPTIONS, NULL, 0);
	for (; count > 0; count--, words++) {
		const struct option *option = find_option(*words);
		__u8 ecn = !strcmp(*words, "ecn");

		if (option && count > 1) {
			count--;
			words++;
			if (!add_option(message, option, *words)) {
				fprintf(stderr, "@KIND@: %s %s is not allowed (allowed: %s)\n", option->name, *words,
					option->allowed);
				return -1;
			}
		} else if (ecn || !strcmp(*words, "noecn")) {
			addattr_l(message, MOST_BYTES, AQMLAB_TCA_ECN, &ecn, sizeof(ecn));
		} else if (option) {
			fprintf(stderr, "@KIND@: %s needs a number (allowed: %s)\n", option->name, option->allowed);
			return -1;
		} else {
			fprintf(stderr,
				"@KIND@: unknown option %s (allowed: limit N, ecn, noecn, min N, max N, max_p P, class N; the rest is built in)\n",
				*words);
			return -1;
		}
	}
	options->rta_len = (char *)message + NLMSG_ALIGN(message->nlmsg_len) - (char *)options;
	return 0;
}

static void print_curves(struct rtattr *told, const struct aqmlab_fixed *fixed)
{
	const struct aqmlab_shown *shown = RTA_DATA(told);
	unsigned int i, classes = RTA_PAYLOAD(told) / sizeof(*shown);

	open_json_array(2, "classes");
	for (i = 0; i < classes; i++) {
		open_json_object(NULL);
		if (classes > 1)
			print_color_uint(1, NO_COLOR, NULL, "class %u ", i + 1);
		print_number("min", fixed->in_bytes ? "min %gb " : "min %gp ", shown[i].min / ONE_THRESHOLD);
		print_number("max", fixed->in_bytes ? "max %gb " : "max %gp ", shown[i].max / ONE_THRESHOLD);
		print_number("max_p", "max_p %g ", shown[i].max_p / ONE_63);
		close_json_object();
	}
	close_json_array(2, NULL);
}

static void print_dualpi2(const struct aqmlab_dualpi2 *shown)
{
	print_number("target", "target %gms ", shown->target / 1000.0);
	print_number("tupdate", "tupdate %gms ", shown->t_update / 1000.0);
	print_number("alpha", "alpha %g ", shown->alpha / 256.0);
	print_number("beta", "beta %g ", shown->beta / 256.0);
	print_number("step_thresh", "step_thresh %gms ", shown->step / 1000.0);
	print_color_uint(PRINT_ANY, NO_COLOR, "min_qlen_step", "min_qlen_step %up ", shown->step_packets);
	print_color_uint(PRINT_ANY, NO_COLOR, "coupling_factor", "coupling_factor %u ", shown->coupling);
	print_color_uint(PRINT_ANY, NO_COLOR, "classic_protection", "classic_protection %u%% ", shown->classic_share);
	print_color_uint(PRINT_ANY, NO_COLOR, "memlimit", "memlimit %ub ", shown->memlimit);
	print_color_string(PRINT_ANY, NO_COLOR, "overload", "%s ",
			   shown->drops_in_overload ? "drop_on_overload" : "overflow");
	print_color_string(PRINT_ANY, NO_COLOR, "drop", "%s ", shown->at_arrival ? "drop_enqueue" : "drop_dequeue");
}

static int print(struct qdisc_util *util, FILE *file, struct rtattr *options)
{
	struct aqmlab_fixed fixed = { 0 };
	struct rtattr *told[AQMLAB_TCA_MAX + 1] = { NULL };
	struct rtattr *one;
	int left;

	(void)util;
	(void)file;
	if (!options)
		return 0;
	left = RTA_PAYLOAD(options);
	for (one = RTA_DATA(options); RTA_OK(one, left); one = RTA_NEXT(one, left))
		if (one->rta_type <= AQMLAB_TCA_MAX)
			told[one->rta_type] = one;
	if (told[AQMLAB_TCA_FIXED] && RTA_PAYLOAD(told[AQMLAB_TCA_FIXED]) >= sizeof(fixed))
		memcpy(&fixed, RTA_DATA(told[AQMLAB_TCA_FIXED]), sizeof(fixed));
	if (told[AQMLAB_TCA_LIMIT])
		print_color_uint(PRINT_ANY, NO_COLOR, "limit", fixed.limit_in_bytes ? "limit %ub " : "limit %up ",
				 *(__u32 *)RTA_DATA(told[AQMLAB_TCA_LIMIT]));
	if (told[AQMLAB_TCA_ECN]) {
		bool ecn = *(__u8 *)RTA_DATA(told[AQMLAB_TCA_ECN]);

		print_color_bool(2, NO_COLOR, "ecn", NULL, ecn);
		print_color_string(1, NO_COLOR, NULL, "%s", ecn ? "ecn " : "noecn ");
	}
	if (told[AQMLAB_TCA_CURVES]) {
		print_color_uint(PRINT_ANY, NO_COLOR, "w_log", "w_q 2^-%u ", fixed.w_log);
		print_curves(told[AQMLAB_TCA_CURVES], &fixed);
	}
	if (told[AQMLAB_TCA_DUALPI2] && RTA_PAYLOAD(told[AQMLAB_TCA_DUALPI2]) >= sizeof(struct aqmlab_dualpi2))
		print_dualpi2(RTA_DATA(told[AQMLAB_TCA_DUALPI2]));
	return 0;
}

static int print_statistics(struct qdisc_util *util, FILE *file, struct rtattr *told)
{
	struct tc_red_xstats found = { 0 };
	struct aqmlab_dualpi2_xstats dualpi2;

	(void)util;
	(void)file;
	if (!told || RTA_PAYLOAD(told) < sizeof(found))
		return 0;
	memcpy(&found, RTA_DATA(told), sizeof(found));
	print_color_uint(PRINT_ANY, NO_COLOR, "marked", "  marked %u ", found.marked);
	print_color_uint(PRINT_ANY, NO_COLOR, "early", "early %u ", found.early);
	print_color_uint(PRINT_ANY, NO_COLOR, "pdrop", "pdrop %u ", found.pdrop);
	if (RTA_PAYLOAD(told) < sizeof(dualpi2))
		return 0;
	memcpy(&dualpi2, RTA_DATA(told), sizeof(dualpi2));
	print_number("prob", "prob %g ", dualpi2.p / ONE_32);
	print_number("delay", "delay %gms ", dualpi2.delay / 1000.0);
	print_color_uint(PRINT_ANY, NO_COLOR, "packets_l", "packets_l %u ", dualpi2.packets_l);
	print_color_uint(PRINT_ANY, NO_COLOR, "packets_c", "packets_c %u ", dualpi2.packets_c);
	print_number("credit", "credit %g ", dualpi2.credit);
	return 0;
}

struct qdisc_util @KIND@_qdisc_util = {
	.id = "@KIND@",
	.parse_qopt = parse,
	.print_qopt = print,
	.print_xstats = print_statistics,
};
