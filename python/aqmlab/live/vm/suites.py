"""Packages of other suites of Debian, fetched with apt beside the system's own: nothing is installed or changed.

apt gets a configuration of its own (``APT_CONFIG``) with its own list of sources, state and cache. Of the user's it
keeps how to fetch (proxies, limits), and the address of Debian's archive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tarfile import TarFile

from aqmlab.errors import InputError
from aqmlab.live.vm.packages import package, said

SUITES = ("bookworm", "bookworm-backports", "trixie-backports")
"""Suites whose kernels are offered: those that Debian serves kernels of several versions in."""
MIRROR = "http://deb.debian.org/debian"
"""Debian's archive where the user's sources name none."""
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
CONFIGURATION = """\
{acquire}
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{folder}/state";
Dir::State::status "/dev/null";
Dir::Cache "{folder}/cache";
Acquire::Languages "none";
APT::Update::Error-Mode "any";
APT::Architecture "amd64";
"""
SOURCES = """\
Types: deb
URIs: {mirror}
Suites: {suites}
Components: main
Architectures: amd64
Targets: Packages
Signed-By: {keys}
"""


@dataclass(frozen=True)
class Suites:
    """Debian's suites with kernels, as apt sees them with a configuration of its own.

    Attributes
    ----------
    folder
        Where apt's configuration and state are kept.
    """

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which apt reads this configuration."""
        return {"APT_CONFIG": str(self.folder / "apt.conf")}

    def update(self) -> None:
        """Write the configuration and fetch the lists of packages."""
        if not KEYS.is_file():
            raise InputError(
                f"no keys of Debian's archive in {KEYS} (install them: apt-get install debian-archive-keyring)"
            )
        for name in ("sources", "state/lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        sources = SOURCES.format(mirror=mirror(), suites=" ".join(SUITES), keys=KEYS)
        (self.folder / "sources" / "kernels.sources").write_text(sources, encoding="utf-8")
        configuration = self.folder / "apt.conf"
        # The user's settings may hold the password of a proxy.
        configuration.touch(mode=0o600)
        text = CONFIGURATION.format(acquire=how_to_fetch(said(["apt-config", "dump"])), folder=self.folder)
        configuration.write_text(text, encoding="utf-8")
        said(["apt-get", "update"], environment=self.environment)

    def names(self, beginning: str) -> list[str]:
        """Return the names of all packages that begin so."""
        return said(["apt-cache", "pkgnames", beginning], environment=self.environment).split()

    def depends(self, name: str) -> list[str]:
        """Return the packages on which a package depends, the first of alternatives; virtual packages are left out."""
        text = said(["apt-cache", "depends", "--important", name], environment=self.environment)
        return re.findall(r"^ [ |]Depends: ([^<\s]\S*)$", text, re.MULTILINE)

    @contextmanager
    def packages(self, names: Iterable[str]) -> Iterator[tuple[list[TarFile], list[str]]]:
        """Fetch packages: the files of each, and ``name version`` of each."""
        with ExitStack() as opened:
            found = [opened.enter_context(package(name, environment=self.environment)) for name in names]
            yield [files for files, _ in found], [version for _, version in found]


def mirror() -> str:
    """Return the address of Debian's archive in the user's sources, or Debian's own."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL)", "Created-By: Packages"]
    for line in said(words).splitlines():
        address, _, name = line.partition(" ")
        if name == "Debian Debian" and address.startswith(("http", "https", "ftp", "mirror")):
            return address.rstrip("/")
    return MIRROR


def how_to_fetch(dump: str) -> str:
    r"""Return the user's settings of apt's downloads out of all of apt's settings.

    >>> how_to_fetch('Dir "/";\nAcquire::Retries "3";\nAcquire::IndexTargets::deb::DEP-11::MetaKey "x";')
    'Acquire::Retries "3";'
    """
    kept = [line for line in dump.splitlines() if re.match(r"Acquire::(?!IndexTargets|Languages)", line)]
    return "\n".join(kept)
