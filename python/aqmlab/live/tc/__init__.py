"""Linux's own queue disciplines as bottleneck: the same job on this machine's kernel or on an emulated one.

* `setting`, `qdisc`: what of a plan the kernel can do; the queue in tc's syntax
* `job`: a run as a shell script that reports JSON lines; `iperf`, `outcome`, `failure` read the report
* `link`: the project's own link in tc's place
* `backend`: runs the script in namespaces, which the kernel removes by itself
"""
