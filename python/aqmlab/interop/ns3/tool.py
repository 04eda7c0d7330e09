"""ns-3 3.37: scenarios as C++ programs, which are compiled and linked with its libraries."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from aqmlab.interop.crosscheck.tool import Measured, read_measured, run_program
from aqmlab.interop.differences import Semantic, inexpressible
from aqmlab.interop.formatting import file_name, refused
from aqmlab.interop.model import Model
from aqmlab.interop.ns3.build import COMPILER, HINT, WRITTEN_FOR, compile_program, installed
from aqmlab.interop.ns3.differences import differences
from aqmlab.interop.ns3.program import program

SUFFIX = ".cc"


@dataclass(frozen=True)
class Ns3:
    """The tool ``ns3``; see `aqmlab.interop.crosscheck.tool.Tool`.

    Attributes
    ----------
    switches
        Words of the programs' command line, e.g. ``--growthAtExit=false``.
    """

    switches: tuple[str, ...] = ()
    name: str = "ns3"
    title: str = "ns-3"
    parallel: bool = True

    def version(self) -> str | None:
        """The version that programs would be linked with."""
        return installed()

    def missing(self) -> str:
        """Return that ns-3 or a compiler is missing or has another version; "" if it can run."""
        found = self.version()
        if found is None:
            return f"ns-3 is not installed ({HINT})"
        if shutil.which(COMPILER) is None:
            return f"compiler {COMPILER} is missing ({HINT})"
        return "" if found == WRITTEN_FOR else f"ns-3 {found} is installed, programs are for {WRITTEN_FOR}"

    def differences(self, model: Model) -> list[Semantic]:
        """Return the features that ns-3 lacks or implements differently."""
        return differences(model)

    def files(self, model: Model) -> dict[str, str]:
        """Write the program."""
        name = file_name(model, SUFFIX)
        found = self.differences(model)
        if missing := inexpressible(found):
            error = f'#error "not expressible in ns-3: {missing[0].name}"'
            return {name: refused(model, self.title, found, "//", error)}
        return {name: program(model, found, name)}

    def prepare(self, model: Model, folder: Path) -> None:
        """Compile the program."""
        compile_program(folder, file_name(model, SUFFIX))

    def run(self, model: Model, folder: Path, seed: int) -> Measured:
        """Run the program with a seed."""
        binary = folder.resolve() / file_name(model, SUFFIX).removesuffix(".cc")
        words = [str(binary), f"--seed={seed}", *self.switches]
        return read_measured(
            run_program(words, folder=folder, title=self.title, seed=seed), title=self.title, seed=seed
        )


TOOL = Ns3()
