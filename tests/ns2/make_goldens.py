#!/usr/bin/env python3
"""Makes the event-for-event references from ns-2 2.35, or checks that the committed ones are what ns-2 gives.

    make_goldens.py            writes tests/data/ns2
    make_goldens.py --check    generates all again in a temporary folder and compares; exit code 1 on difference

Needs `ns` (Debian package ns2); nothing outside Python's standard library.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from goldens import cases_exact, cases_ordinary, driver
from goldens.admission import NotAdmittedError, admit
from goldens.files import compare_folders, lacking, write_case, write_index

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2"


def make(folder: Path) -> None:
    """Runs every candidate and writes the admitted ones, the index and the rejected list into `folder`."""
    entries: list[dict[str, Any]] = []
    rejected: list[dict[str, str]] = []
    for case in [*cases_exact.candidates(), *cases_ordinary.candidates()]:
        try:
            admitted = admit(case)
        except NotAdmittedError as no:
            rejected.append({"case": f"{case.family}/{case.name}", "reason": str(no)})
            print(f"{case.family}/{case.name}: rejected: {no}", file=sys.stderr, flush=True)
            continue
        entries.append(write_case(folder, admitted))
        print(f"{case.family}/{case.name}: {len(admitted.table)} events", file=sys.stderr, flush=True)
    if (missing := lacking(entries)) is not None:
        raise SystemExit(f"the references are incomplete: {missing}")
    write_index(folder, entries, rejected)


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    options = parser.parse_args(arguments)
    try:
        if driver.version() != "2.35":
            print(f"ns-2 2.35 is needed, found {driver.version()!r}", file=sys.stderr)
            return 2
        if not options.check:
            make(DATA)
            return 0
        with tempfile.TemporaryDirectory(prefix="goldens-") as folder:
            make(Path(folder))
            difference = compare_folders(DATA, Path(folder))
    except driver.Ns2Error as error:
        print(error, file=sys.stderr)
        return 2
    if difference is not None:
        print(f"the committed references differ from ns-2: {difference}", file=sys.stderr)
        return 1
    print("the committed references are what ns-2 gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
