"""Linux's own queue disciplines in the words of ``tc``.

* `queues`, `red`, `other_queues`: the tables between our parameters and tc's words, and back
* `program`, `tool`: scenarios as shell scripts, and their runs for a cross-check
"""
