"""Theory laid over the simulation of a scenario, at one link."""
