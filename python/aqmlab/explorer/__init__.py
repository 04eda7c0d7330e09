"""The laboratory in the browser: a local page whose sliders change a scenario, and whose charts follow.

`control` is what can be turned, `queue_controls` and `network_controls` find it in a scenario; `workbench` lays a
setting over the scenario, `simulation` runs it within a budget of time, of which `pace` knows how much fits in; `views`
makes charts of the runs, `numbers` the rest; `message` and `gate` let in what is allowed, `server` answers,
`laboratory` is the whole.
"""

from aqmlab.explorer.laboratory import Lab, open_lab

__all__ = ["Lab", "open_lab"]
