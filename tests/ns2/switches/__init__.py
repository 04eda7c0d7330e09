"""Decisions of RED and WRED packet by packet, in settings where a switch of the dialects decides."""
