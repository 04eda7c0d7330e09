"""Speed: aqmlab beside ns-2, and the cost of a packet-hop as the work grows.

A packet-hop is one packet, data or ACK, carried over one link.
"""
