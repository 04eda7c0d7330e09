"""Traffic of live runs by sockets of the kernel's TCP: many connections in one process for each side.

Starts, pauses, ends and sizes are those of the scenario, to the millisecond, and the kernel is asked what became of
each connection (``TCP_INFO``). What a kernel sends is its own; this only gives it something to send.
"""
