"""A module for Linux that is generated from a queue, and the replay of the decisions that it logs."""
