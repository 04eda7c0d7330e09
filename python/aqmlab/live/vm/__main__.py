"""``python -m aqmlab.live.vm``: build the laboratory's image, anew if there is one."""

from __future__ import annotations

import sys

from aqmlab.errors import Error
from aqmlab.live.vm.build import build


def main() -> int:
    """Build it."""
    try:
        build()
    except Error as error:
        print(f"aqmlab: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
