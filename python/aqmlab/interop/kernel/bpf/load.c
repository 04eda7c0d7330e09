// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Load the queueing discipline @KIND@ into the kernel, and write its log of decisions
 * to a file. It stays in the kernel until this program is interrupted and tc has
 * removed it from its interface.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record.h"

#define LOG_BYTES	(1 << 24)	/* of the ring; a record takes 72 */
#define READ_EVERY_US	20000

struct log {
	FILE *file;
	__u32 next;	/* number of the record that is expected */
	__u64 lost;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(error));
	return 1;
}

static int write_record(void *context, void *data, size_t size)
{
	const struct aqmlab_record *record = data;
	struct log *log = context;

	log->lost += record->sequence - log->next;
	log->next = record->sequence + 1;
	return fwrite(data, size, 1, log->file) == 1 ? 0 : -EIO;
}

/* Make room for the log, and ask for it, before the program is loaded. */
static int prepare_log(struct bpf_object *object)
{
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "aqmlab_log");
	struct bpf_map *logs = bpf_object__find_map_by_name(object, ".rodata.logs");
	const bool yes = true;

	if (!ring || !logs)
		return -ENOENT;
	return bpf_map__set_max_entries(ring, LOG_BYTES) ?:
	       bpf_map__set_initial_value(logs, &yes, sizeof(yes));
}

/* Write records until a signal comes; without a file only wait for it. */
static int serve(struct bpf_object *object, struct log *log)
{
	int ring_fd = bpf_object__find_map_fd_by_name(object, "aqmlab_log");
	struct ring_buffer *ring = ring_buffer__new(ring_fd, write_record, log, NULL);
	bool is_last = false;
	int error = ring ? 0 : -errno;

	while (!error && !is_last) {
		usleep(READ_EVERY_US);
		is_last = stopped;
		error = ring_buffer__consume(ring);
		error = error < 0 || (log->file && fflush(log->file)) ? -EIO : 0;
	}
	ring_buffer__free(ring);
	return error;
}

int main(int count, char **words)
{
	struct log log = { 0 };
	struct bpf_object *object;
	struct bpf_link *link;
	int error = 0;

	if (count > 2 || (count == 2 && words[1][0] == '-')) {
		fprintf(stderr, "usage: %s [FILE]\nLoad @KIND@; write its log of decisions to FILE.\n", words[0]);
		return 2;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	object = bpf_object__open_file("@NAME@.bpf.o", NULL);
	if (!object)
		return fail("@NAME@.bpf.o", errno);
	if (count == 2) {
		log.file = fopen(words[1], "wb");
		if (!log.file)
			return fail(words[1], errno);
		error = prepare_log(object);
		if (error)
			return fail("@NAME@.bpf.o has no log", -error);
	}
	error = bpf_object__load(object);
	if (error)
		return fail("the kernel does not take @NAME@.bpf.o (Linux 6.16 or later, as root)", -error);
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, "aqmlab_ops"));
	if (!link)
		return fail("@KIND@ cannot be registered", errno);
	printf("@KIND@ is loaded: tc qdisc replace dev DEV root @KIND@\n");
	fflush(stdout);
	error = serve(object, &log);
	bpf_link__destroy(link);
	bpf_object__close(object);
	if (log.file && fclose(log.file) && !error)
		error = -errno;
	if (error)
		return fail("the log", -error);
	if (log.lost)
		fprintf(stderr, "load: %" PRIu64 " records were lost: the ring was full\n", (uint64_t)log.lost);
	return 0;
}
