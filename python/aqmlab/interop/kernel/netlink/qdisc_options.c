// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Add or change a queueing discipline with options that tc has no words for.
 *
 *     qdisc_options add|change DEVICE PARENT HANDLE KIND [ATTRIBUTE:BYTES:VALUE...]
 *
 * PARENT and HANDLE are in tc's form (10:1, 20:). An option is an attribute in
 * TCA_OPTIONS by its number in linux/pkt_sched.h, with a value of 1 or 4 bytes:
 * 1:4:1000 is the limit of dualpi2. The answer of the kernel is the exit code, and an
 * error is one line on standard error.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
	struct nlmsghdr header;
	struct tcmsg qdisc;
	char attributes[1024];
} request;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "qdisc_options: %s: %s\n", what, why);
	exit(1);
}

/* Append an attribute; return its place, so that a nest can be closed. */
static struct rtattr *append(int type, const void *data, size_t length)
{
	struct rtattr *place = (struct rtattr *)((char *)&request + NLMSG_ALIGN(request.header.nlmsg_len));

	if ((char *)place + RTA_SPACE(length) > (char *)(&request + 1))
		fail("options", "too many");
	place->rta_type = type;
	place->rta_len = RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(place), data, length);
	request.header.nlmsg_len = NLMSG_ALIGN(request.header.nlmsg_len) + RTA_SPACE(length);
	return place;
}

/* Read a class or a handle in tc's form. */
static uint32_t handle_of(const char *text)
{
	unsigned int major, minor = 0;

	if (sscanf(text, "%x:%x", &major, &minor) < 1 || major > 0xffff || minor > 0xffff)
		fail(text, "not a handle, for example 10:1");
	return major << 16 | minor;
}

static void append_option(const char *text)
{
	unsigned int attribute, bytes;
	unsigned long value;
	uint32_t word;
	uint8_t byte;

	if (sscanf(text, "%u:%u:%lu", &attribute, &bytes, &value) != 3 || (bytes != 1 && bytes != 4))
		fail(text, "not ATTRIBUTE:BYTES:VALUE with 1 or 4 bytes");
	if (value > (bytes == 1 ? UINT8_MAX : UINT32_MAX))
		fail(text, "the value does not fit");
	word = value;
	byte = value;
	append(attribute, bytes == 1 ? (void *)&byte : (void *)&word, bytes);
}

int main(int count, char **words)
{
	struct { struct nlmsghdr header; struct nlmsgerr error; char rest[4096]; } answer;
	struct rtattr *options;
	int at, socket_of_routes;

	if (count < 6)
		fail("words", "add|change DEVICE PARENT HANDLE KIND [ATTRIBUTE:BYTES:VALUE...]");
	request.header.nlmsg_len = NLMSG_LENGTH(sizeof(request.qdisc));
	request.header.nlmsg_type = RTM_NEWQDISC;
	request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	if (!strcmp(words[1], "add"))
		request.header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
	else if (strcmp(words[1], "change"))
		fail(words[1], "neither add nor change");
	request.qdisc.tcm_ifindex = if_nametoindex(words[2]);
	if (!request.qdisc.tcm_ifindex)
		fail(words[2], strerror(errno));
	request.qdisc.tcm_parent = handle_of(words[3]);
	request.qdisc.tcm_handle = handle_of(words[4]);
	append(TCA_KIND, words[5], strlen(words[5]) + 1);
	options = append(TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	for (at = 6; at < count; at++)
		append_option(words[at]);
	options->rta_len = (char *)&request + request.header.nlmsg_len - (char *)options;
	socket_of_routes = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (socket_of_routes < 0 || send(socket_of_routes, &request, request.header.nlmsg_len, 0) < 0 ||
	    recv(socket_of_routes, &answer, sizeof(answer), 0) < 0)
		fail("netlink", strerror(errno));
	close(socket_of_routes);
	if (answer.header.nlmsg_type != NLMSG_ERROR)
		fail("netlink", "unexpected answer");
	if (answer.error.error)
		fail(words[5], strerror(-answer.error.error));
	return 0;
}
