"""PC-RED: Li and Yang, "PC-RED for IPv6: Algorithm and Performance Analysis" (simulated in ns-2).

`published.csv` holds the printed tables, `readings.toml` the open points of the paper and the choices made,
`claims.toml` its claims as sentences that runs can decide, `page.toml` its page's contents. The equations of its model
are in `aqmlab.theory.control`; `loops.py` and `channels.py` set them beside the runs, for which `replay.py` keeps the
priority list again.
"""

from aqmlab.papers.pc_red.paper import PAPER

__all__ = ["PAPER"]
