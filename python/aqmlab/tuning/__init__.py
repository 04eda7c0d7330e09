"""From a goal and constraints to the parameters of a queue that hold over whole ranges of flows, round trips, rates.

A file has one thing:

* `goals`: the quantity to minimize or maximize, and the bounds to keep
* `ranges`: the varied conditions, and the points of the ranges that are looked at
* `space`: the parameters that are searched
* `measurements`: runs of settings at points, and the reducer that reads their metrics
* `starts`: the analytic design, ns-2's automatic RED, an RFC's values, the scenario's own settings
* `uplink`: rate, round trips and use of an uplink in place of a scenario file
* `problem`: queue, parameters, conditions and starts of one search
* `search`: Optuna
* `finding`: a search, and the choice among its best
* `verification`: runs for the choice, and the confirmation on fresh seeds
* `outcome`: the answer with its tables and figure
* `decision`: further seeds for the finalists among several disciplines, the one to use, and the reason in words
* `page`: the answer as a page, with runs at rates and round trips that are 10 % off

Add-ons write the answer as text for other systems (`aqmlab.extensions`): tc, ns-2, ns-3, Cisco and Juniper.
"""
