"""A Debian kernel with its own queue disciplines, emulated in virtual time: the same run gives the same bytes."""
