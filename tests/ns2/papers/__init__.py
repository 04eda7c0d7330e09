"""The papers' experiments with plain RED, run in ns-2 2.35 and in our simulator on the same lists of transfers."""
