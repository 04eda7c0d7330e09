"""Modules compiled from a kernel's source: folders of a package, edits, and a compiled file."""

import io
import tarfile
from collections.abc import Mapping

import pytest

from aqmlab.errors import InputError
from aqmlab.live.tc.module import program_of
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.sources import Edit, compiled_source, edited, module_sources, source, unpack, version_of
from programs import HEADERS, compiler_of, needs_headers, require

RELEASE, VERSION = "6.12.9+deb12-cloud-amd64", "6.12.9-1~bpo12+1"
MADE = """#include <linux/module.h>
#include "made.h"
MODULE_LICENSE("GPL");
static int limit = LIMIT;
module_param(limit, int, 0444);
"""


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path, {"kernel": RELEASE, "packages": ["tc 6.1", f"linux-image-{RELEASE} {VERSION}"]})


@pytest.fixture
def cached(tmp_path):
    folder = tmp_path / "kernels/sources" / VERSION / "net/sched"
    folder.mkdir(parents=True)
    (folder / "made.c").write_text(MADE)
    (folder / "made.h").write_text("#define LIMIT 64\n")
    return tmp_path


class TestSource:
    def test_a_file_of_the_cache(self, image, cached):
        assert source("net/sched/made.c", image, cached) == MADE

    def test_a_missing_file_is_an_error(self, image, cached):
        with pytest.raises(InputError, match=r"has no file net/sched/other\.c"):
            source("net/sched/other.c", image, cached)

    def test_an_image_without_a_version_is_an_error(self, tmp_path):
        with pytest.raises(InputError, match=r"the manifest names no version of linux-image-6\.1"):
            version_of(Image(tmp_path, {"kernel": "6.1", "packages": ["linux-image-6.1.0 1"]}))

    def test_one_folder_of_a_package_is_unpacked(self, tmp_path):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:xz") as files:
            for name in ("s/net/sched/a.c", "s/net/sched/sub/b.c", "s/net/c.c", "s/net/sched.c"):
                member = tarfile.TarInfo(name)
                member.size = 2
                files.addfile(member, io.BytesIO(b"ab"))
        packed.seek(0)
        with tarfile.open(fileobj=packed, mode="r|xz") as files:
            unpack(files, "s/net/sched", tmp_path)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "s/net/sched/a.c"]


class TestEdits:
    def test_they_follow_each_other(self):
        assert edited("a b", [Edit("a", "c"), Edit("c b", "d")]) == "d"

    @pytest.mark.parametrize(("text", "count"), [("b", 0), ("a a", 2)])
    def test_a_text_that_is_not_there_once_is_an_error(self, text, count):
        with pytest.raises(InputError, match=rf'"a" is {count} times in the source \(allowed: once\)'):
            edited(text, [Edit("a", "c")])


class TestModule:
    def test_files(self, image, cached):
        found = module_sources("net/sched/made.c", image, [Edit("= LIMIT", "= LIMIT - 1")], cached)
        assert sorted(found) == ["Kbuild", "Makefile", "made.c", "made.h"]
        assert found["Kbuild"] == "obj-m := made.o\n"
        assert "LIMIT - 1" in found["made.c"]

    @needs_headers
    def test_it_compiles_without_checksums_of_imports(self, image, cached):
        build = HEADERS[-1].parent
        require("make", compiler_of(build))

        def compiler(files: Mapping[str, str], name: str) -> bytes:
            return program_of(files, name, build)

        program = compiled_source("net/sched/made.c", image, [], cached, compiler=compiler)
        assert program.startswith(b"\x7fELF")
        assert b"__versions" not in program
