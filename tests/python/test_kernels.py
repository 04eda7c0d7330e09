"""Several kernels: their names, their packages, how they are compared; and a run in two where they are in the cache."""

import io
import json
import lzma
import struct
import tarfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.several_kernels import checking
from aqmlab.interop.several_kernels.checking import choose_qdiscs, cross_check_kernels
from aqmlab.interop.several_kernels.outcome import KernelRun, settings_changed
from aqmlab.interop.several_kernels.page import in_words, measures, page_of
from aqmlab.live.vm import kernels, machine, packages, suites
from aqmlab.live.vm.build import ASKED, Image
from aqmlab.scenario.file import Scenario
from programs import EMULATOR, needs

DATA = Path(__file__).parents[1] / "data" / "vm"
SHORT = {"run.duration": "2s", "run.warmup": "1s"}
DIGESTS = {"ip": "1", "tc": "2", "iperf3": "3"}
"""Of the programs in an image, which stand for this machine's."""
OLD, NEW = "6.1.0-50-cloud-amd64", "6.12.95+deb12-cloud-amd64"


def packed(files):
    """Return a package's files as an open archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data.seek(0)
    return tarfile.open(fileobj=data)


def boot_image(payload):
    """Return a boot image around a payload, as the x86 boot protocol places it."""
    head = bytearray(0x400)
    head[0x1F1] = 0
    struct.pack_into("<II", head, 0x248, 0x200, len(payload))
    return bytes(head) + payload


def kept_image(folder, release, **changed):
    """Write an image's folder into a cache."""
    place = folder / kernels.FOLDER / f"{release}-0123456789ab"
    place.mkdir(parents=True)
    manifest = {"kernel": release, "asked": ASKED, "programs": DIGESTS, "modules": [], "builtin": []}
    manifest |= {"packages": [], "sha256": {"kernel": "0", "initramfs": "1"}} | changed
    (place / "manifest.json").write_text(json.dumps(manifest))
    for name in ("kernel", "initramfs"):
        (place / name).write_bytes(b"")
    return Image(place, manifest)


@pytest.fixture
def installed(monkeypatch):
    """Let a cache compare its images with the programs of `DIGESTS`, whatever is installed."""
    monkeypatch.setattr(kernels, "programs_here", lambda: DIGESTS)


class TestNames:
    @pytest.mark.parametrize("word", ["6", "x", "6.", "six.one", "6.1 6.2", "6.1;reboot"])
    def test_what_is_no_version_is_one_line(self, word):
        with pytest.raises(InputError, match="is not a version of Linux"):
            kernels.parse_kernels(word)

    def test_no_version_is_one_line(self):
        with pytest.raises(InputError, match="no kernel is given"):
            kernels.parse_kernels(" , ")

    def test_packages_of_other_flavours_are_no_kernels(self):
        names = [
            "linux-image-6.1.0-50-amd64",
            f"linux-image-{OLD}",
            f"linux-image-{OLD}-dbg",
            "linux-image-cloud-amd64",
        ]
        assert kernels.releases(names) == [OLD]

    def test_numbers_order_releases(self):
        known = [f"6.12.{n}+deb12-cloud-amd64" for n in (9, 90, 57)] + ["6.12.90+deb12.1-cloud-amd64"]
        assert kernels.newest("6.12", known) == "6.12.90+deb12.1-cloud-amd64"
        assert kernels.newest("6.12.9", known) == "6.12.9+deb12-cloud-amd64"
        assert kernels.newest("6.1", known) is None


@pytest.mark.usefixtures("installed")
class TestImages:
    def test_those_in_the_cache_need_no_apt(self, tmp_path, monkeypatch):
        monkeypatch.setattr(suites.Suites, "update", lambda self: pytest.fail("apt was asked"))
        old, new = kept_image(tmp_path, OLD), kept_image(tmp_path, NEW)
        assert kernels.images("6.12,6.1", tmp_path) == [new, old]

    @pytest.mark.parametrize("changed", [{"asked": []}, {"programs": {}}])
    def test_those_of_other_programs_are_built_again(self, tmp_path, changed):
        kept_image(tmp_path, OLD, **changed)
        assert kernels.in_cache(tmp_path / kernels.FOLDER) == []

    def test_what_apt_does_not_serve_names_what_it_does(self, tmp_path, monkeypatch):
        monkeypatch.setattr(suites.Suites, "update", lambda self: None)
        monkeypatch.setattr(
            suites.Suites, "names", lambda self, beginning: [f"linux-image-{OLD}", f"linux-image-{NEW}"]
        )
        with pytest.raises(InputError, match=r"^--kernels: apt serves no kernel 9\.9 \(it serves 6\.1, 6\.12\)$"):
            kernels.images("6.1,9.9", tmp_path)

    def test_without_a_network_the_message_names_what_the_cache_has(self, tmp_path, monkeypatch):
        def fail(self):
            raise InputError("apt-get update: E: no route")

        monkeypatch.setattr(suites.Suites, "update", fail)
        kept_image(tmp_path, OLD)
        with pytest.raises(
            InputError, match=r"7\.3 cannot be fetched \(in the cache: 6\.1\): apt-get update: E: no route"
        ):
            kernels.images("7.3", tmp_path)

    def test_one_kernel_twice_is_an_error(self, tmp_path):
        kept_image(tmp_path, OLD)
        with pytest.raises(InputError, match="is named twice"):
            kernels.images("6.1,6.1.0", tmp_path)

    def test_parts_of_a_kernel_are_fetched_together(self, tmp_path, monkeypatch):
        asked = []

        @contextmanager
        def fetched(self, names):
            asked.extend(names)
            yield [packed({f"boot/vmlinuz-{NEW}": boot_image(b"kernel")})], ["linux-image 1"]

        depends = [f"linux-base-{NEW}", "kmod", f"linux-modules-{NEW}", "initramfs-tools"]
        monkeypatch.setattr(suites.Suites, "depends", lambda self, name: depends)
        monkeypatch.setattr(suites.Suites, "packages", fetched)
        monkeypatch.setattr(kernels, "keep", lambda kernel, versions, kept, tell: kernel.release)
        found = kernels.fetch(NEW, suites.Suites(tmp_path), tmp_path, tell=lambda line: None)
        assert found == NEW
        assert asked == [f"linux-image-{NEW}", f"linux-base-{NEW}", f"linux-modules-{NEW}"]


class TestSuites:
    def test_apt_gets_a_configuration_of_its_own(self, tmp_path, monkeypatch):
        done = []

        def said(command, *, folder=None, environment=None):
            done.append((command, environment))
            return 'Dir "/";\nAcquire::http::Proxy "http://proxy";\n' if command[0] == "apt-config" else ""

        monkeypatch.setattr(suites, "said", said)
        monkeypatch.setattr(suites, "KEYS", tmp_path)
        monkeypatch.setattr(suites.Path, "is_file", lambda self: True)
        suites.Suites(tmp_path).update()
        text = (tmp_path / "apt.conf").read_text()
        assert 'Acquire::http::Proxy "http://proxy";' in text
        assert f'Dir::State "{tmp_path}/state";' in text
        assert 'Dir "/";' not in text
        assert (tmp_path / "apt.conf").stat().st_mode & 0o077 == 0
        assert f"URIs: {suites.MIRROR}\n" in (tmp_path / "sources/kernels.sources").read_text()
        assert done[-1] == (["apt-get", "update"], {"APT_CONFIG": str(tmp_path / "apt.conf")})

    def test_the_users_mirror_of_debian_is_taken(self, monkeypatch):
        lines = (
            "http://one/x/ Debian Debian-Security\nhttp://two/x/ Ubuntu Ubuntu\nhttp://three/debian/ Debian Debian\n"
        )
        monkeypatch.setattr(suites, "said", lambda command: lines)
        assert suites.mirror() == "http://three/debian"

    def test_dependencies_are_names(self, monkeypatch):
        text = "linux-image-x\n  Depends: kmod\n |Depends: dracut\n  Depends: <virtual>\n  Depends: linux-base-x\n"
        monkeypatch.setattr(suites, "said", lambda command, environment: text)
        assert suites.Suites(Path("/nowhere")).depends("linux-image-x") == ["kmod", "dracut", "linux-base-x"]

    def test_without_keys_the_message_has_their_package(self, tmp_path, monkeypatch):
        monkeypatch.setattr(suites, "KEYS", tmp_path / "none")
        with pytest.raises(InputError, match="apt-get install debian-archive-keyring"):
            suites.Suites(tmp_path).update()


class TestKernel:
    def test_a_kernel_may_be_in_several_packages(self):
        program = packed({f"usr/lib/modules/{NEW}/vmlinuz": boot_image(b"kernel")})
        base = packed({f"usr/lib/modules/{NEW}/modules.builtin": b"kernel/net/sched/sch_fq_codel.ko\n"})
        module = lzma.compress(b"\0depends=\0")
        modules = packed({f"usr/lib/modules/{NEW}/kernel/net/sched/sch_red.ko.xz": module})
        found = packages.kernel_of([program, base, modules], ["sch_red", "sch_fq_codel", "sch_cake"])
        assert found.release == NEW
        assert found.modules == (("sch_red", b"\0depends=\0"),)
        assert found.builtin == ("sch_fq_codel",)

    def test_packages_without_a_kernel_are_one_line(self):
        with pytest.raises(InputError, match="hold no vmlinuz"):
            packages.kernel_of([packed({"usr/share/doc": b""})], [])

    @pytest.mark.parametrize("length", [5, packages.LZ4_BLOCK, packages.LZ4_BLOCK + 7])
    def test_kernels_packed_with_lz4_are_unpacked(self, length):
        whole = bytes(range(251)) * (length // 251 + 1)
        whole = whole[:length]
        blocks = [whole[at : at + packages.LZ4_BLOCK] for at in range(0, length, packages.LZ4_BLOCK)]
        packed_blocks = [pa.compress(block, codec="lz4_raw", asbytes=True) for block in blocks]
        payload = b"\x02\x21\x4c\x18" + b"".join(struct.pack("<I", len(block)) + block for block in packed_blocks)
        assert packages.unpacked(boot_image(payload + struct.pack("<I", length))) == whole

    def test_kernels_packed_with_zstd_are_unpacked(self):
        whole = b"a kernel " * 1000
        payload = pa.compress(whole, codec="zstd", asbytes=True) + struct.pack("<I", len(whole))
        assert packages.unpacked(boot_image(payload)) == whole


def run(delay=0.010, digest="a", **options):
    measured = {(Measure.GOODPUT, "tcp"): 9.9e6, (Measure.MEAN_DELAY, "bottleneck"): delay}
    return KernelRun(measured, digest, {"target": 4999, **options}, ("drops",))


def check(before, after):
    plan = Scenario.load(DATA / "red-tcp.toml")
    images = tuple(
        Image(Path(release), {"kernel": release, "packages": [], "sha256": {"kernel": "0"}}) for release in (OLD, NEW)
    )
    runs = {
        (release, "codel", seed): one for release, side in ((OLD, before), (NEW, after)) for seed, one in side.items()
    }
    return checking.KernelCheck(plan, list(before), 1.0, images, ("codel",), runs, "7.2", ())


class TestComparison:
    def test_runs_of_a_seed_are_pairs(self):
        # Delays differ by far more between seeds than between kernels: only pairs show the kernels' difference.
        before = {seed: run(0.010 * seed) for seed in (1, 2, 3)}
        after = {seed: run(0.010 * seed + 0.003 + 1e-5 * seed, digest="b") for seed in (1, 2, 3)}
        (change,) = check(before, after).changes()
        assert [line.measure for line in change.changed] == [Measure.MEAN_DELAY]
        words = in_words(change)
        assert words.startswith("6.12.95 against 6.1.0-50: changed. mean queueing delay differs by +15 % (")
        assert "the same: goodput of tcp" in words

    def test_equal_reports_are_the_same_to_the_byte(self):
        (change,) = check({1: run()}, {1: run()}).changes()
        assert in_words(change) == "6.12.95 against 6.1.0-50: nothing changed, all reports are the same to the byte."

    def test_a_single_seed_decides_no_difference(self):
        (change,) = check({1: run()}, {1: run(0.011, digest="b")}).changes()
        assert "no change found" in in_words(change)
        assert "undecided: mean queueing delay" in in_words(change)

    def test_settings_that_changed_are_named(self):
        after = KernelRun(run().measured, "b", {"target": 5000, "ecn": True}, ("drops", "ecn_mark"))
        assert settings_changed(run(), after) == [
            "ecn: none before, True now",
            "target: 4999 before, 5000 now",
            "statistic ecn_mark is new",
        ]

    def test_a_kernel_without_the_discipline_is_not_compared(self):
        found = check({1: run()}, {})
        assert found.changes() == []
        assert list(measures(found, "codel")) == ["measure", "at", "6.1.0-50"]

    def test_everything_is_there_for_other_programs_and_on_the_page(self):
        found = check({1: run()}, {1: run(0.011, digest="beef")})
        data = json.loads(json.dumps(found.data()))
        assert data["changes"][0]["lines"][1]["ours"] == 0.010
        assert data["runs"][1]["sha256"] == "beef"
        page = page_of(found).html()
        assert "beef" in page
        assert "6.12.95 against 6.1.0-50" in page


@pytest.mark.usefixtures("installed")
class TestDisciplines:
    def test_the_scenarios_own_comes_first_and_once(self):
        plan = Scenario.load(DATA / "red-tcp.toml")
        chosen, notes = choose_qdiscs(plan, ())
        assert [name.partition(" ")[0] for name in chosen] == ["red", "codel", "fq_codel", "pie", "cake"]
        assert not notes
        pie = {"queue.bottleneck": "{ aqm = 'pie' }"}
        chosen, _ = choose_qdiscs(Scenario.load(DATA / "red-tcp.toml", overrides=pie), ())
        assert [name.partition(" ")[0] for name in chosen] == ["pie", "codel", "fq_codel", "cake"]

    def test_one_that_linux_lacks_is_left_out_with_a_note(self):
        plan = Scenario.load(DATA / "red-tcp.toml", overrides={"queue.bottleneck": "{ aqm = 'exred' }"})
        chosen, notes = choose_qdiscs(plan, ())
        assert list(chosen) == list(checking.QDISCS)
        assert "the scenario's own discipline is not run" in notes[0]

    def test_one_that_a_kernel_lacks_is_not_run_there(self, tmp_path, monkeypatch):
        kept_image(tmp_path, OLD)
        monkeypatch.setattr(checking, "version", lambda: "7.2")
        found = cross_check_kernels(
            DATA / "red-tcp.toml", kernels="6.1", qdiscs=["cake"], out=tmp_path, cache=tmp_path, progress=False
        )
        assert found.notes == (f"{OLD} has no cake",)
        assert not found.runs


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernels", "6"], '--kernels: "6" is not a version of Linux (for example: 6.1 or 6.12.57)'),
        (["--kernels", "6.1", "--with", "tc"], "--kernels: is in place of --with"),
        (["--qdisc", "pie"], "--qdisc: is for --kernels"),
        (["--kernels", "6.1", "--qdisc", "a;b"], '"a;b" is not a discipline in the words of tc'),
        (["--kernels", "6.1", "--margin", "0"], "margin: 0 is not a factor above 0"),
        (
            ["--kernels", "6.1", "--set", "dumbbell.bottleneck.rate=100Mbps"],
            "link bottleneck has 100 Mbit/s; above 30 Mbit/s the emulated processor is the bottleneck",
        ),
    ],
)
def test_bad_words_are_one_line(words, message, capsys):
    assert main(["crosscheck", str(DATA / "red-tcp.toml"), *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_kernel_that_stops_by_a_fault_is_one_line(tmp_path, monkeypatch):
    def run(words):
        folder = Path(words[words.index("-initrd") + 1]).parent
        (folder / "console").write_text(
            "[ 1.0] Kernel panic - not syncing: Fatal exception\n[ 1.1] Kernel Offset: disabled\n"
        )
        (folder / "results").write_text("{}\n")

    monkeypatch.setattr(machine, "version", lambda: "7.2")
    monkeypatch.setattr(machine, "_run", run)
    with pytest.raises(InputError, match=r"stopped: Kernel panic - not syncing: Fatal exception$"):
        machine.boot(kept_image(tmp_path, OLD), "true\n", seed=5)


@needs(*EMULATOR)
class TestRuns:
    def test_two_runs_in_a_kernel_are_equal_to_the_byte(self, tmp_path):
        there = kernels.in_cache(kernels.cache() / kernels.FOLDER)
        if not there:
            # Kernels are downloaded when a user asks for them, not by a test.
            pytest.skip("no kernel is in the cache (aqmlab crosscheck FILE --kernels 6.1 fetches one)")
        asked = {"kernels": there[0].release, "qdiscs": ["fq_codel"], "seeds": 1, "overrides": SHORT, "progress": False}
        one, two = (cross_check_kernels(DATA / "red-tcp.toml", out=tmp_path / name, **asked) for name in "ab")
        key = (there[0].release, "fq_codel", 1)
        assert one.runs[key] == two.runs[key]
        assert one.runs[key].measured[Measure.UTILIZATION, "bottleneck"] == pytest.approx(1, abs=0.05)
