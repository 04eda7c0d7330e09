"""ExRED: Prabhavat and Varakulsiripunth's "extended drop slope RED" (a discrete-event simulation of their own).

The paper's runs are an open loop: Poisson arrivals, exponential service, no TCP. `chain` solves its Markov chain, and
the one with the average that it leaves out; `best` asks which curve is best at which load. `published.csv` holds its
printed parameters, `readings.toml` the open points of the paper and the choices made; `plan` lists the runs, `measure`
and `rows` make their table, `claims` has the claims as functions, and ours, and `paper` makes the page.
`open-loop.toml` is the paper's loop as a scenario, `tcp.toml` is ours: the same under TCP.
"""

from aqmlab.papers.exred.paper import PAPER

__all__ = ["PAPER"]
