"""What finished runs contain: tables, metrics, summaries, and their export to other programs.

* `result`, `metrics`, `summary`: tables of all seeds, one number per quantity, intervals
* `warmup_check`: whether the warm-up is long enough
* `inactive`: mechanisms that had no effect, and the reason
* `evaluation`: engine, speed and memory of runs
* `voip`, `delay_variation`: scores of calls; one-way delays of flows
* `exporting`: CSV, Parquet, flent, ns-2 traces, pcap
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["voip"])
