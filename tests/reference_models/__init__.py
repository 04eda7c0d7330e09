"""Reference models: slow, readable implementations of the disciplines in plain Python, written from the papers alone.

A model shares no line with the core. Both get the same operations and the same random numbers, and must make the same
decisions: which packet is dropped and why, which one is marked, which one leaves, and every average.
"""
