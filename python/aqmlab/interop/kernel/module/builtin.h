/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A module in place of the kernel's default discipline, which is built in.
 *
 * The module is compiled from the kernel's own source (aqmlab.live.vm.sources). Its
 * imports register_qdisc and unregister_qdisc are renamed to the functions below.
 * While it is loaded, its name stands for the module; the built-in discipline comes
 * back when it is unloaded. Existing queues are not changed.
 */
#ifndef AQMLAB_BUILTIN_H
#define AQMLAB_BUILTIN_H

#include <linux/export.h>
#include <linux/string.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

static struct Qdisc_ops *builtin_displaced;

int aqmlab_register_qdisc(struct Qdisc_ops *ops);
void aqmlab_unregister_qdisc(struct Qdisc_ops *ops);

int aqmlab_register_qdisc(struct Qdisc_ops *ops)
{
	struct Qdisc_ops *builtin = (struct Qdisc_ops *)default_qdisc_ops;
	int error;

	/* A built-in discipline belongs to no module. */
	if (builtin_displaced || builtin->owner || strcmp(builtin->id, ops->id))
		return register_qdisc(ops);
	unregister_qdisc(builtin);
	error = register_qdisc(ops);
	if (error)
		register_qdisc(builtin);
	else
		builtin_displaced = builtin;
	return error;
}
EXPORT_SYMBOL(aqmlab_register_qdisc);

void aqmlab_unregister_qdisc(struct Qdisc_ops *ops)
{
	struct Qdisc_ops *builtin = builtin_displaced;

	unregister_qdisc(ops);
	if (!builtin || strcmp(builtin->id, ops->id))
		return;
	builtin_displaced = NULL;
	register_qdisc(builtin);
}
EXPORT_SYMBOL(aqmlab_unregister_qdisc);

#endif
