"""The link process: ``python -m aqmlab.live.link FILE|-``; the core does all of it."""

from __future__ import annotations

import sys

from aqmlab import _core


def main(arguments: list[str]) -> int:
    """Be a link until its end.

    The core itself reads standard input: what Python would read of it beyond the configuration are commands.
    """
    if len(arguments) != 1:
        print("aqmlab-link: takes one argument, a file with its configuration, or -", file=sys.stderr)
        return 2
    return int(_core.live_link(arguments[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
