"""The laboratory in the browser: a local page whose sliders change a scenario, and whose charts follow.

The page simulates by itself, in a worker. Where it cannot (`laboratory.why_native`), a session of the server does.

* `control`: the settings of a slider; `queue_controls` and `network_controls` find the sliders of a scenario by trying
* `session`, `checked`: a scenario with the sliders' settings
* `simulation`: runs within a time budget; `time_budget` estimates how much fits in
* `views`, `numbers`: charts and numbers of the runs
* `message`, `request_validation`, `request_error`: which requests are accepted
* `server`, `laboratory`: the HTTP server, and the whole
* `page.html`, `lab.js`, `address.js`, `backend.js`, `panel.js`, `chart.js`, `watching.js`, `queue_view.js`, `lab.css`:
  the page
* `standalone`: the page that simulates by itself, as one file
* `core.js`, `controls.js`, `results.js`, `local.js`, `worker.js`: its worker
"""

from aqmlab.lab.laboratory import Lab, open_lab

__all__ = ["Lab", "open_lab"]
