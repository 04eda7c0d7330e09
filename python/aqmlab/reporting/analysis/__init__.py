"""Theory over the simulation of a scenario: the analysis, its gaps, and its page."""
