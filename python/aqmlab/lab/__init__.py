"""The laboratory in the browser: a local page whose sliders change a scenario, and whose charts follow.

There is one page. Its scripts make controls, charts and numbers of the simulator's answers. The simulator is the
native core behind the server of ``aqmlab lab``, or WebAssembly in a page that is one file (``aqmlab lab --out``).

* `page`: the page as HTML, served or standalone
* `page.html`, `lab.css`, `lab.js`, `address.js`, `backend.js`, `panel.js`, `history.js`, `numbers.js`, `chart.js`,
  `shapes.js`: its visible part
* `watching.js`, `queue_view.js`, `curve_view.js`, `grips.js`: the queue packet by packet, with a curve that is dragged
* `uplink.js`: the page "Your uplink", whose scenario and commands of tc an add-on makes (group ``aqmlab.routers``)
* `worker.js`, `local.js`, `controls.js`, `results.js`, `lanes.js`, `marks.js`, `recording.js`, `core.js`: its worker,
  which asks the simulator
* `server`, `laboratory`: the HTTP server, and the whole
* `message`, `request_validation`, `request_error`: which requests are accepted
* `sessions`: their answers, from the native core
"""

from aqmlab.lab.laboratory import Lab, open_lab

__all__ = ["Lab", "open_lab"]
