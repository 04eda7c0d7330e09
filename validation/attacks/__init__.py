"""Attacks on the program, a file for each; `validation/adversarial_attacks.py` runs them."""
