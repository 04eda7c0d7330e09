"""Theory of queue disciplines: queueing, fluid and control models over any drop curve.

`__init__.pyi` lists the names. They are loaded when first used, so that a command that analyses nothing stays quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
