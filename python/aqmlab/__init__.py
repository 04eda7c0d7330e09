"""A laboratory for active queue management.

>>> import aqmlab
>>> [discipline.name for discipline in aqmlab.disciplines()][:2]
['drop-tail', 'red']

`__init__.pyi` lists the names. They are loaded when first used, so that starting is quick. No module has the name of a
function: importing `aqmlab.run` as a module would hide the function `run`.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import lazy_loader

_load, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of any type
    if name == "__version__":
        return importlib.import_module("aqmlab._core").version()
    value = _load(name)
    if inspect.isfunction(value):
        value = importlib.import_module("aqmlab.argument_types").named(value)
    elif inspect.isclass(value) and not issubclass(value, BaseException):
        value = importlib.import_module("aqmlab.argument_types").with_named_methods(value)
    globals()[name] = value
    return value
