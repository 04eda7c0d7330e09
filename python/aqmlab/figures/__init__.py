"""Figures as data, made of results, scenarios and theory.

Each function returns an `aqmlab.figures.chart.Chart`, which a report draws for the screen. `aqmlab.axes` has functions
of the same names with a matplotlib axis as the first argument. `__init__.pyi` lists the functions; they are loaded when
first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
