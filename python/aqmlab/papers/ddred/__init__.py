"""DDRED: Dedu, Linck and Spies, "Distance-Dependent RED Policy (DDRED)" (simulated in ns-2.29).

The packet that has travelled least pays for a drop, not the one that arrives. `published.csv` holds the printed
numbers, `readings.toml` the open points of the paper and the choices made, `claims.toml` its claims as sentences that
runs can decide, `page.toml` its page's contents, `forms.toml` the forms that it describes but did not run, and
`sweep.toml` the search for the DDRED row of Table I.
"""

from aqmlab.papers.ddred.paper import PAPER

__all__ = ["PAPER"]
