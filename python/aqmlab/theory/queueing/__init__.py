"""Queueing models of the open loop: M/M/1/K, birth-death chains, runs of drops, and the best curve at a load."""
