"""PC-RED: Li and Yang, "PC-RED for IPv6: Algorithm and Performance Analysis" (simulated in ns-2).

`published.csv` holds the printed tables, `readings.toml` the open points of the paper and the choices made; `plan`
lists the runs, `measure` reads them, `claims` has the claims as functions, and `paper` makes the page. The equations of
the model are in `aqmlab.theory.control`; `loops` and `channels` set them beside the runs, for which `replay` keeps the
priority list again.
"""

from aqmlab.papers.pc_red.paper import PAPER

__all__ = ["PAPER"]
