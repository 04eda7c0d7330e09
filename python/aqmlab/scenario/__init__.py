"""Scenario files: reading, checking, parameters, and disciplines written in Python (`plugins`)."""
