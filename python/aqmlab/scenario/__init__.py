"""Scenario files: reading, checking, parameters, and disciplines written in Python (`plugins`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["plugins"])
