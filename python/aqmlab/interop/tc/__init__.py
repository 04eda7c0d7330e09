"""Linux's own queue disciplines in the words of ``tc``.

* `netem`: the words of netem and the channel of a link, and back
* `queues`, `red`, `other_queues`: the tables between our parameters and tc's words, and back
* `program`, `tool`: scenarios as shell scripts, and their runs for a cross-check
"""
