"""Linux's own queue disciplines in several kernels."""
