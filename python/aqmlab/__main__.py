"""``python -m aqmlab`` is ``aqmlab``."""

from aqmlab.cli import entry

if __name__ == "__main__":
    entry()
