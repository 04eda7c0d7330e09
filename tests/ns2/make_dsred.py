#!/usr/bin/env python3
"""Makes the references of ns-2's DiffServ module, or checks that the committed ones are what ns-2 gives.

    make_dsred.py            writes tests/data/ns2/dsred/{markers,queues,cases.json}
    make_dsred.py --check    generates all again in a temporary folder and compares; exit code 1 on difference

Needs `ns` (Debian package ns2); nothing outside Python's standard library.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from dsred import files
from dsred.cases import CASES, QUEUE_CASES
from dsred.marking import NotAdmittedError, mark
from dsred.queueing import arrivals

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2" / "dsred"


def make(folder: Path) -> None:
    """Runs every case and writes its table, and the index."""
    markers = [files.write_markings(folder, case, mark(case)) for case in CASES]
    queues = [files.write_arrivals(folder, case, *arrivals(case)) for case in QUEUE_CASES]
    files.write_index(folder, markers, queues)


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            make(DATA)
            return 0
        with tempfile.TemporaryDirectory(prefix="dsred-") as folder:
            make(Path(folder))
            difference = files.compare_folders(DATA, Path(folder))
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not found (ns-2 is the Debian package ns2)", file=sys.stderr)
        return 2
    except (subprocess.CalledProcessError, NotAdmittedError) as failed:
        print(failed, file=sys.stderr)
        return 2
    if difference is not None:
        print(f"the committed references differ from ns-2: {difference}", file=sys.stderr)
        return 1
    print("the committed references are what ns-2 gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
