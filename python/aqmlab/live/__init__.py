"""Real applications and real TCP through the very disciplines that are simulated."""
