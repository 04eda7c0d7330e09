"""RFC 7928, the guidelines for characterizing active queue management: every scenario and metric, in one report.

One topic a file: `requirements` is the RFC's list; `network` and `traffic` make scenario text, `settings` sets
disciplines, `case` is one scenario for one discipline; `transports` (section 5), `fairness` (6.2, 4.5, 4.4),
`stability` (8.2), `mixes` (7.2, 9), `multiple` (10.2) and `sensitivity` (4.3.1, 8.3) list the scenarios; `packets`,
`metrics` and `applications` read numbers off a run, `measuring` keeps them; `suite` runs all, `collected` holds what
was found, `tables`, `figures`, `discussion` and `page` show it.
"""
