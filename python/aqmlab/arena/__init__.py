"""Control of a queue while a run lasts, and the evaluation of policies on hold-out scenarios (`aqmlab arena`).

`episodes` steps runs of a scenario interval by interval; `actions` says how a controller's numbers set the queue.
`aqmlab.gym` makes environments of them. `policies` reads policies, `holdout` lists the scenarios that no training
should see, and `evaluation` compares a policy with baselines on them.
"""
