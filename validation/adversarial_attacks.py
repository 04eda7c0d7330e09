"""Attack the program with new cases.

``python validation/adversarial_attacks.py [--seed N] [--minutes M] [attack ...]``

Each attack of `validation/attacks` draws cases from its seed until its share of the time is over and prints how many
there were and the findings. A finding is a crash, an "internal error", control characters in a message, a changed
number without an error, a file outside the folder in question, or a case without end. The numbers are in
docs/validation/adversarial.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from aqmlab.errors import StorageError
from attacks.damage import damage
from attacks.index import index
from attacks.killed import killed
from attacks.names import names
from attacks.records import records
from attacks.scenarios import scenarios
from attacks.stores import stores
from attacks.studies import studies
from attacks.tally import Tally
from attacks.together import together
from attacks.words import words

ATTACKS = {
    "scenarios": scenarios,
    "damage": damage,
    "stores": stores,
    "index": index,
    "records": records,
    "words": words,
    "studies": studies,
    "names": names,
    "together": together,
    "killed": killed,
}


def run() -> int:
    """Run the attacks that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", choices=[[], *ATTACKS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each attack")
    asked = parser.parse_args()
    findings = 0
    for name in asked.attacks or ATTACKS:
        tally = Tally(name)
        until = time.monotonic() + 60 * asked.minutes
        with tempfile.TemporaryDirectory(prefix="aqmlab-attacks-") as folder:
            ATTACKS[name](
                tally, random.Random(f"{name} {asked.seed}"), lambda until=until: time.monotonic() < until, Path(folder)
            )
        findings += len(tally.findings)
        print(
            json.dumps(
                {"attack": name, "outcomes": dict(sorted(tally.outcomes.items())), "findings": len(tally.findings)}
            ),
            flush=True,
        )
    return 1 if findings else 0


if __name__ == "__main__":
    with contextlib.suppress(StorageError):
        sys.exit(run())
