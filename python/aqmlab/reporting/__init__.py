"""Pages: one self-contained HTML file, its sections, and the figures that runs have. `aqmlab.report` writes one."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
