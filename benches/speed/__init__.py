"""Speed: aqmlab beside ns-2, and what a packet-hop costs as the work grows.

A packet-hop is one packet, data or ACK, carried over one link.
"""
