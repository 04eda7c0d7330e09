"""ns-2's DiffServ module: markers packet by packet, a coupled queue packet by packet and in distribution."""
