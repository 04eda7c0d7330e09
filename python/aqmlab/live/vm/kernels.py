"""Images of the emulated machine with Debian's kernels of several versions, fetched by apt when they are asked for.

A kernel is named by the beginning of its release: ``6.12`` is the newest 6.12 there is, ``6.12.57`` that one. They are
Debian's cloud kernels, whose drivers are those of emulated machines alone. Images stay in the cache, each under its
release and digest; one that is there is taken without a look at the network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live.vm.build import ASKED, MODULES, Image, cache, keep, programs_here
from aqmlab.live.vm.packages import kernel_of
from aqmlab.live.vm.suites import Suites

FOLDER = "kernels"
"""Folder of these images in the cache, with apt's state beside them."""
PACKAGE = "linux-image-"
FLAVOUR = "-cloud-amd64"
WORD = re.compile(r"[0-9]+\.[0-9]+[a-z0-9.+~-]*")


def parse_kernels(text: str | Iterable[str], option: str = "--kernels") -> list[str]:
    """Read names of kernels, with commas, each once.

    >>> parse_kernels("6.1, 6.12.57,6.1")
    ['6.1', '6.12.57']
    """
    words = text.split(",") if isinstance(text, str) else list(text)
    wanted = list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not wanted:
        raise InputError(f"{option}: no kernel is given (for example: 6.1,6.12)")
    for word in wanted:
        if not WORD.fullmatch(word):
            raise InputError(f'{option}: "{word}" is not a version of Linux (for example: 6.1 or 6.12.57)')
    return wanted


def releases(names: Iterable[str]) -> list[str]:
    """Return the releases of kernels among names of packages, the newest first.

    >>> releases(["linux-image-6.1.0-50-cloud-amd64", "linux-image-6.12.9+deb12-cloud-amd64", "linux-image-amd64"])
    ['6.12.9+deb12-cloud-amd64', '6.1.0-50-cloud-amd64']
    """
    pattern = re.compile(rf"{PACKAGE}([0-9]+\.[0-9]+\S*{FLAVOUR})")
    found = [match[1] for name in names if (match := pattern.fullmatch(name)) is not None]
    return sorted(found, key=age, reverse=True)


def age(release: str) -> list[int]:
    """Return the numbers of a release, by which releases are ordered.

    >>> age("6.12.90+deb12.1-cloud-amd64")
    [6, 12, 90, 12, 1]
    """
    return [int(number) for number in re.findall("[0-9]+", release.removesuffix(FLAVOUR))]


def newest(word: str, known: Sequence[str]) -> str | None:
    """Return the newest release that begins so; None without a match.

    >>> newest("6.1", ["6.12.9+deb12-cloud-amd64", "6.1.0-50-cloud-amd64", "6.1.0-47-cloud-amd64"])
    '6.1.0-50-cloud-amd64'
    """
    fitting = [release for release in known if re.match(rf"{re.escape(word)}(?![0-9])", release)]
    return max(fitting, key=age, default=None)


def short_versions(known: Iterable[str]) -> str:
    """Return the versions of releases in two numbers, the oldest first.

    >>> short_versions(["6.12.9+deb12-cloud-amd64", "6.1.0-50-cloud-amd64", "6.1.0-47-cloud-amd64"])
    '6.1, 6.12'
    """
    versions = sorted({tuple(age(release)[:2]) for release in known})
    return ", ".join(f"{major}.{minor}" for major, minor in versions)


def images(
    words: Iterable[str],
    folder: Path | None = None,
    *,
    option: str = "--kernels",
    tell: Callable[[str], None] = print,
) -> list[Image]:
    """Return the images of kernels; those that are not in the cache are fetched and built.

    Parameters
    ----------
    words
        Beginnings of releases, e.g. ``6.12``.
    folder
        Cache; default: the user's.
    option
        The option that named the kernels, for messages.
    tell
        Is called with a line for each image that is fetched.

    Raises
    ------
    InputError
        If there is no such kernel, two words name the same one, or apt cannot fetch it.
    """
    kept = (cache() if folder is None else folder) / FOLDER
    wanted = parse_kernels(words, option)
    suites = Suites(kept / "apt")
    there = in_cache(kept)
    found = {word: _cached(word, there) for word in wanted}
    missing = [word for word, image in found.items() if image is None]
    if missing:
        served = _served(suites, missing[0], there, option)
        chosen = {word: newest(word, served) for word in missing}
        for word, release in chosen.items():
            if release is None:
                raise InputError(f"{option}: apt serves no kernel {word} (it serves {short_versions(served)})")
        for word, release in chosen.items():
            assert release is not None
            found[word] = fetch(release, suites, kept, tell=tell)
    result = [image for image in found.values() if image is not None]
    for at, image in enumerate(result):
        if image.release in [other.release for other in result[:at]]:
            raise InputError(f"{option}: {image.release} is named twice")
    return result


def in_cache(kept: Path) -> list[Image]:
    """Return the images in a folder that this version built with the programs that are here now."""
    programs = programs_here()
    found = []
    for path in sorted(kept.glob("*/manifest.json")):
        try:
            image = Image(path.parent, json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
        whole = image.kernel.is_file() and image.initramfs.is_file()
        if whole and image.manifest.get("asked") == ASKED and image.manifest.get("programs") == programs:
            found.append(image)
    return found


def fetch(release: str, suites: Suites, kept: Path, *, tell: Callable[[str], None]) -> Image:
    """Fetch a kernel's packages and build its image."""
    name = f"{PACKAGE}{release}"
    # Newer releases have their kernel, modules and lists of modules in packages of their own.
    parts = [name, *(part for part in suites.depends(name) if part.endswith(f"-{release}"))]
    tell(f"fetching {', '.join(parts)}")
    with suites.packages(parts) as (files, versions):
        kernel = kernel_of(files, MODULES)
    return keep(kernel, versions, kept, tell=tell)


def _cached(word: str, there: Sequence[Image]) -> Image | None:
    release = newest(word, [image.release for image in there])
    return next((image for image in there if image.release == release), None)


def _served(suites: Suites, word: str, there: Sequence[Image], option: str) -> list[str]:
    """Return the releases that apt serves; an error of apt names those in the cache."""
    try:
        suites.update()
        served = releases(suites.names(PACKAGE))
    except InputError as error:
        own = f"in the cache: {short_versions(image.release for image in there)}" if there else "none is in the cache"
        raise InputError(f"{option}: {word} cannot be fetched ({own}): {error}") from None
    return served
