"""TCP and a queue as a fluid: where it rests, and its course in time."""
