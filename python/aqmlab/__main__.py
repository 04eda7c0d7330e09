"""``aqmlab`` on the command line; ``python -m aqmlab`` is the same."""

import sys

from aqmlab import signals


def entry() -> None:
    """Start from the shell. To import the commands takes a part of a second, in which Ctrl-C ends with one line too."""
    signals.end_as_ctrl_c()
    try:
        from aqmlab.cli import entry as start
    except KeyboardInterrupt:
        print("aqmlab: interrupted", file=sys.stderr)
        sys.exit(signals.exit_code())
    start()


if __name__ == "__main__":
    entry()
