"""Juniper Junos: drop profiles."""
