"""The link process: ``python -m aqmlab.live.link FILE|-``; the core does all of it."""

from __future__ import annotations

import sys
from pathlib import Path

from aqmlab import _core


def main(arguments: list[str]) -> int:
    """Be a link until its end."""
    if len(arguments) != 1:
        print("aqmlab-link: takes one argument, a file with its configuration, or -", file=sys.stderr)
        return 2
    text = sys.stdin.readline() if arguments[0] == "-" else Path(arguments[0]).read_text(encoding="utf-8")
    return int(_core.live_link(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
