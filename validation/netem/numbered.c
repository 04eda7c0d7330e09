/* Send numbered UDP packets over the loopback device at fixed times, and print the arrivals.
 *
 *     numbered COUNT SPACING_US BYTES
 *
 * BYTES is the length of the IP packet. Each line of output has the number of a packet that arrived, from 0, and its delay in ns:
 * from just before it was sent to the kernel's time stamp of its arrival. Lines are in the order of arrivals. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEADERS = 28, LONGEST = 1500, PORT = 5555, ROOM = 1 << 20, QUIET_S = 2 };

static const int64_t SECOND = 1000000000;

struct numbered {
	uint64_t number;
	int64_t sent_ns;
};

static void must(int is_right, const char *what)
{
	if (!is_right) {
		perror(what);
		exit(1);
	}
}

static int64_t nanoseconds(struct timespec at)
{
	return at.tv_sec * SECOND + at.tv_nsec;
}

static int64_t now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return nanoseconds(at);
}

/* Print arrivals until none has come for QUIET_S. */
static void receive(int fd)
{
	char data[LONGEST], control[256];

	for (;;) {
		struct iovec part = {data, sizeof data};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		ssize_t length = recvmsg(fd, &message, 0);
		struct cmsghdr *stamp = CMSG_FIRSTHDR(&message);
		struct numbered packet;
		struct timespec arrived;

		if (length < 0)
			return;
		must(stamp && stamp->cmsg_type == SCM_TIMESTAMPNS && (size_t)length >= sizeof packet, "an arrival");
		memcpy(&packet, data, sizeof packet);
		memcpy(&arrived, CMSG_DATA(stamp), sizeof arrived);
		printf("%llu %lld\n", (unsigned long long)packet.number, (long long)(nanoseconds(arrived) - packet.sent_ns));
	}
}

/* Send each packet at its time; the times do not depend on how long it takes to send one. */
static void send_all(const struct sockaddr_in *to, long count, long spacing_us, size_t length)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int64_t start = now(CLOCK_MONOTONIC) + SECOND;
	char data[LONGEST] = {0};

	must(fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof *to) == 0, "socket");
	prctl(PR_SET_TIMERSLACK, 1);
	for (long n = 0; n < count; n++) {
		int64_t due = start + n * spacing_us * 1000;
		struct timespec at = {due / SECOND, due % SECOND};
		struct numbered packet = {.number = n};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		packet.sent_ns = now(CLOCK_REALTIME);
		memcpy(data, &packet, sizeof packet);
		must(send(fd, data, length, 0) == (ssize_t)length, "send");
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct timeval quiet = {.tv_sec = QUIET_S};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1, room = ROOM, status = 1;
	long count = argc == 4 ? atol(argv[1]) : 0, spacing_us = argc == 4 ? atol(argv[2]) : 0, bytes = argc == 4 ? atol(argv[3]) : 0;
	pid_t receiver;

	if (count < 1 || spacing_us < 1 || bytes < HEADERS + (long)sizeof(struct numbered) || bytes > LONGEST) {
		fprintf(stderr, "usage: numbered COUNT SPACING_US BYTES\n");
		return 2;
	}
	must(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0, "time stamps");
	must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet) == 0, "waiting time");
	must(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room) == 0, "buffer");
	must(bind(fd, (struct sockaddr *)&here, sizeof here) == 0, "bind");
	receiver = fork();
	must(receiver >= 0, "fork");
	if (receiver == 0) {
		receive(fd);
		return 0;
	}
	send_all(&here, count, spacing_us, bytes - HEADERS);
	must(waitpid(receiver, &status, 0) == receiver && status == 0, "receiver");
	return 0;
}
