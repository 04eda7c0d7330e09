"""Settings of a queue as text for other systems, with the values that each of them makes of it."""

from aqmlab.interop.dialects.answer import dialects_of
from aqmlab.interop.dialects.settings import Dialect, Settings

__all__ = ["Dialect", "Settings", "dialects_of"]
