"""Cisco IOS: WRED."""
