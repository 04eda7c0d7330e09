"""The bottleneck as a router: between two interfaces of a machine, or as the default route of a namespace.

* `configuration`: one link of a scenario; `choosing`: what may be shaped
* `routing`, `steps`: the way of packets through the link; each change with the change that undoes it
* `journal`: changes, recorded before they are made; `network`: answers of the kernel
* `shaping`: a shape from start to end
"""

from aqmlab.live.shape.shaping import Shaped, clean, shape

__all__ = ["Shaped", "clean", "shape"]
