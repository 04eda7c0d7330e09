/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The log of decisions: a ring of records that a file in debugfs reads. When the
 * ring is full, new records are lost and counted; their numbers are missing.
 */
#ifndef AQMLAB_LOG_H
#define AQMLAB_LOG_H

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

static unsigned int aqmlab_log;
module_param_named(log, aqmlab_log, uint, 0444);
MODULE_PARM_DESC(log, "records of the ring of decisions (0: none)");

static struct {
	struct aqmlab_record *records;
	struct dentry *directory;
	struct mutex readers;	/* one at a time */
	spinlock_t lock;	/* all below */
	u64 written;
	u64 read;
	u32 sequence;
	u32 lost;
} aqmlab_ring;

/* Append a record; the caller has filled in all but its number. */
static void aqmlab_log_append(struct aqmlab_record *record)
{
	u32 place;

	spin_lock_bh(&aqmlab_ring.lock);
	record->sequence = cpu_to_le32(aqmlab_ring.sequence++);
	if (aqmlab_ring.written - aqmlab_ring.read < aqmlab_log) {
		div_u64_rem(aqmlab_ring.written++, aqmlab_log, &place);
		aqmlab_ring.records[place] = *record;
	} else {
		aqmlab_ring.lost++;
	}
	spin_unlock_bh(&aqmlab_ring.lock);
}

/* Take the oldest record. */
static bool aqmlab_log_take(struct aqmlab_record *record)
{
	bool found;
	u32 place;

	spin_lock_bh(&aqmlab_ring.lock);
	found = aqmlab_ring.read < aqmlab_ring.written;
	if (found) {
		div_u64_rem(aqmlab_ring.read++, aqmlab_log, &place);
		*record = aqmlab_ring.records[place];
	}
	spin_unlock_bh(&aqmlab_ring.lock);
	return found;
}

/* Whole records only; a read takes them out of the ring. */
static ssize_t aqmlab_log_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct aqmlab_record record;
	size_t done = 0;

	if (size < sizeof(record))
		return -EINVAL;
	if (mutex_lock_interruptible(&aqmlab_ring.readers))
		return -ERESTARTSYS;
	while (size - done >= sizeof(record) && aqmlab_log_take(&record)) {
		if (copy_to_user(to + done, &record, sizeof(record))) {
			mutex_unlock(&aqmlab_ring.readers);
			return -EFAULT;
		}
		done += sizeof(record);
	}
	mutex_unlock(&aqmlab_ring.readers);
	return done;
}

static const struct file_operations aqmlab_log_file = {
	.owner = THIS_MODULE,
	.open = stream_open,
	.read = aqmlab_log_read,
};

static int aqmlab_log_open(const char *name)
{
	spin_lock_init(&aqmlab_ring.lock);
	mutex_init(&aqmlab_ring.readers);
	if (!aqmlab_log)
		return 0;
	aqmlab_ring.records = __vmalloc(array_size(aqmlab_log, sizeof(*aqmlab_ring.records)),
					GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!aqmlab_ring.records)
		return -ENOMEM;
	aqmlab_ring.directory = debugfs_create_dir(name, NULL);
	debugfs_create_file("decisions", 0400, aqmlab_ring.directory, NULL, &aqmlab_log_file);
	debugfs_create_u32("lost", 0400, aqmlab_ring.directory, &aqmlab_ring.lost);
	return 0;
}

static void aqmlab_log_close(void)
{
	debugfs_remove(aqmlab_ring.directory);
	vfree(aqmlab_ring.records);
}

#endif
