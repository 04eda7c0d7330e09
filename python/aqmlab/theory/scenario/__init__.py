"""Theory plotted over the simulation of a scenario, at one link.

* `model`, `link_curve`, `link_traffic`, `traffic_class`: what of the link is modelled
* `link_assumptions`, `assumption`: what is left out or taken for granted
* `theory`, `theory_tables`: what is computed
* `shares`, `class_shares`, `pc_red_shares`, `ddred_shares`, `adaptive_rio_shares`: shares by class
* `transfers`, `routes`: short or drawn transfers, seed by seed
* `agreement`, `evidence`, `swing`: the gaps, and what the runs show of the assumptions
* `analysis`, `charts`, `picture`, `page`: the whole, its figures and its report
"""
