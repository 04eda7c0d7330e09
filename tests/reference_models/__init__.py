"""Twins: slow, readable implementations of the disciplines in plain Python, written from the papers alone.

A twin shares no line with the core. Both are fed the same operations and the same random numbers, and must then agree
decision for decision: which packet dies and why, which one is marked, which one leaves, and every average.
"""
