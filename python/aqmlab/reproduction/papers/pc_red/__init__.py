"""PC-RED: Li and Yang, "PC-RED for IPv6: Algorithm and Performance Analysis" (simulated in ns-2).

`published.csv` holds the printed tables, `readings.toml` what the paper leaves open and what was chosen, `claims.toml`
its claims as sentences that runs can decide. The equations of its model are in `aqmlab.theory.control`; `loops.py`
and `channels.py` set them beside the runs, for which `replay.py` keeps the priority list again.
"""

from aqmlab.reproduction.papers.pc_red.page import CITATION, NAME, build
from aqmlab.reproduction.papers.pc_red.plan import Effort, jobs

__all__ = ["CITATION", "NAME", "Effort", "build", "jobs"]
