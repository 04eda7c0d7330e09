"""Former name of `aqmlab.scenario.plugins`, kept for plug-ins written before version 0.2."""

from __future__ import annotations

import warnings

from aqmlab.scenario.plugins import *  # noqa: F403 - every public name under its former path

warnings.warn("aqmlab.extending is now aqmlab.scenario.plugins", DeprecationWarning, stacklevel=2)
