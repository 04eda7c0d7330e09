"""The bottleneck as a router: between two interfaces of a machine, or as the default route of a namespace."""

from aqmlab.live.shape.shaping import Shaped, clean, shape

__all__ = ["Shaped", "clean", "shape"]
