"""Theory plotted over the simulation of a scenario, at one link.

* `model`, `link_curve`, `link_traffic`, `traffic_class`: the modelled parts of the link
* `link_assumptions`, `assumption`: assumptions and omissions of the models
* `theory`, `theory_tables`: the computed results
* `shares`, `class_shares`, `pc_red_shares`, `ddred_shares`, `adaptive_rio_shares`: shares by class
* `transfers`, `routes`: short or drawn transfers, seed by seed
* `agreement`, `evidence`, `swing`: the gaps, and the evidence of the runs on the assumptions
* `analysis`, `charts`, `picture`, `page`: the whole, its figures and its report
"""
