"""Linux' own queue disciplines as bottleneck: the same job on this machine's kernel or on an emulated one."""
