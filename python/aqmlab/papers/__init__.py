"""Papers reproduced: scenario files, printed numbers, readings chosen, claims and their verdicts."""
