"""The loop of TCP and a queue as a linear control system: margins, conditions, maps of stability."""
