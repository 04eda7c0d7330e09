"""Results as other programs read them: pandas, xarray, flent, ns-2's trace, tcpdump's captures."""

from __future__ import annotations

import csv
import getpass
import gzip
import io
import json
import lzma
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.results.frames import OVER
from aqmlab.results.result import TABLES
from conftest import DUMBBELL
from programs import needs

pytestmark = pytest.mark.slow

DATA = Path(__file__).resolve().parents[1] / "data" / "ns2"
FLOWS = """
[[flow]]
name = "marked"
count = 2
transport = "newreno"
start = "0s"
dscp = "AF11"
[flow.tcp]
ecn = true

[[flow]]
name = "voice"
transport = "udp"
start = "0.1s"
rate = "200kbps"
packet_size = "200B"
dscp = "EF"

[[change]]
link = "bottleneck"
at = "2s"
rate = "1Mbps"
delay = "5ms"

[probe]"""
PROBES = 'cwnd_interval = "100ms"\nflow_interval = "50ms"\ndelay_histogram = true\nevents = true\n'
TEXT = DUMBBELL.replace("\n[probe]", FLOWS).replace("max_p = 0.1", "max_p = 0.1\necn = true") + PROBES
TEXT = TEXT.replace('links = ["bottleneck"]', 'links = ["bottleneck", "bottleneck.reverse"]')
PCAP_HEADER, RECORD_HEADER = 24, 16


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    home = tmp_path_factory.mktemp("exports")
    (home / "small.toml").write_text(TEXT)
    return aqmlab.run(home / "small.toml", seeds=2, workers=1, progress=False, out=home / "results")


def lines_of(result, tmp_path, **choice):
    path = aqmlab.export(result, to="ns2", out=tmp_path / "out.tr", **choice)
    return [line.split() for line in path.read_text().splitlines()]


def events_of(result, seed=1):
    return result.events[(result.events["seed"] == seed) & (result.events["link"] == "bottleneck")]


# Tables


def test_pandas_indexes_every_table(result):
    for table in ("metrics", *result.tables):
        frame = result.to_pandas(table)
        if table in OVER:
            assert tuple(frame.index.names) == OVER[table]
            assert frame.index.is_unique, table
    assert result.to_pandas().loc[1, "loss"] == result.metrics()["loss"][0]
    assert set(OVER) <= {"metrics", *TABLES}


def test_xarray_has_dimensions_units_and_provenance(result):
    pytest.importorskip("xarray")
    samples = result.to_xarray("queue_samples")
    assert dict(samples.sizes) == {"seed": 2, "link": 2, "t_s": 61}
    rows = result.queue_samples
    rows = rows[(rows["seed"] == 2) & (rows["link"] == "bottleneck")]
    assert samples["average"].sel(seed=2, link="bottleneck").values.tolist() == rows["average"].tolist()
    means = result.to_xarray()
    assert means["mean_delay_ms"].attrs == {"units": "ms", "long_name": "Mean queueing delay"}
    assert means.attrs == {"scenario": "small", "hash": result.hash, "version": aqmlab.__version__}
    for table in result.tables:
        assert len(result.to_xarray(table).data_vars) > 0


def test_csv_and_parquet_hold_the_table(result, tmp_path):
    text = aqmlab.export(result, to="csv", out=tmp_path / "links.csv", table="links")
    parquet = aqmlab.export(result, to="parquet", out=tmp_path / "links.parquet", table="links")
    for frame in (pd.read_csv(text), pd.read_parquet(parquet)):
        pd.testing.assert_frame_equal(frame, result.links.reset_index(drop=True), check_dtype=False)
    one = aqmlab.export(result, to="csv", out=tmp_path / "one.csv", seed=2)
    assert pd.read_csv(one)["seed"].tolist() == [2]


# ns-2's trace


def test_trace_is_the_event_log(result, tmp_path):
    lines = lines_of(result, tmp_path, seed=2)
    events = events_of(result, seed=2)
    assert Counter(line[0] for line in lines if line[0] != "r") == Counter(events["kind"][events["kind"] != "m"])
    times = [float(line[1]) for line in lines]
    assert times == sorted(times)
    assert {len(line) for line in lines} == {12}


def test_every_packet_comes_once_and_leaves_once(result, tmp_path):
    lines = lines_of(result, tmp_path)
    by_packet: dict[str, str] = {}
    for line in lines:
        by_packet[line[11]] = by_packet.get(line[11], "") + line[0]
    waiting = result.to_pandas("links").loc[(1, "bottleneck"), "packets_at_end"]
    shapes = Counter(by_packet.values())
    assert set(shapes) <= {"+-r", "+d", "+-", "+"}
    assert shapes["+"] == waiting
    assert shapes["+-"] <= 3, "on the wire at the end"


def test_receptions_follow_rate_and_delay_as_they_change(result, tmp_path):
    lines = lines_of(result, tmp_path)
    sent = {line[11]: line for line in lines if line[0] == "-"}
    seen = set()
    for line in lines:
        if line[0] == "r":
            start, size = float(sent[line[11]][1]), int(line[5])
            rate, delay = (2e6, 0.010) if start < 2 else (1e6, 0.005)
            seen.add(rate)
            assert float(line[1]) == pytest.approx(start + 8 * size / rate + delay, abs=2e-6)
    assert seen == {2e6, 1e6}


def test_flags_tell_of_ecn_and_marks(result, tmp_path):
    lines = lines_of(result, tmp_path)
    events = events_of(result)
    leaves = events[events["kind"] == "-"]
    flags = Counter(line[6] for line in lines if line[0] == "-")
    assert flags["----E-N"] == (leaves["ecn"] == 3).sum() > 0
    assert flags["------N"] == (leaves["ecn"] == 2).sum() > 0
    assert flags["-------"] == (leaves["ecn"] == 0).sum() > 0
    assert (events["kind"] == "m").sum() >= flags["----E-N"]


@pytest.mark.parametrize("name", ["reno-2-udp", "newreno-hops"])
def test_trace_equals_the_reference_of_ns2(name, tmp_path):
    """The events that ns-2 2.35 wrote, kept with the tests: the same lines at the same times."""
    path = DATA / "exact" / f"{name}.toml"
    have = [line for line in lines_of(aqmlab.run(path, workers=1, progress=False), tmp_path) if line[0] != "r"]
    rows = csv.DictReader(io.StringIO(lzma.decompress(path.with_suffix(".events.csv.xz").read_bytes()).decode()))
    want = [(int(row["t_ps"]), row["kind"], row["flow"], row["seq"], row["bytes"]) for row in rows]
    assert [(line[0], line[7], line[10], line[5]) for line in have] == [row[1:] for row in want]
    assert max(abs(float(line[1]) - row[0] * 1e-12) for line, row in zip(have, want, strict=True)) < 0.51e-6


@pytest.mark.ns2
@needs("ns")
def test_trace_equals_ns2s_own(tmp_path):
    """ns-2 runs the same scenario and writes its trace: all fields agree, and the same packets have the same number."""
    from goldens import cases_exact, driver

    case = next(one for one in cases_exact.candidates() if one.name == "reno-2-udp")
    seconds, link = 6, case.bottleneck
    scenario = DATA / "exact" / "reno-2-udp.toml"
    offsets = {i: text.split('"')[0] for i, text in enumerate(scenario.read_text().split('clock_offset = "')[1:])}
    offsets = {i: text.removesuffix("s") for i, text in offsets.items()}
    spec = [
        "scheduler Calendar",
        *driver._links(case, False),
        *driver._flows(case, driver.Decimal(0), offsets),
        f"set ::plain [open {tmp_path / 'ns.tr'} w]",
        f"$::ns trace-queue [node_named {link.source}] [node_named {link.target}] $::plain",
        f"stop_at {seconds}.0001",
    ]
    (tmp_path / "spec.tcl").write_text("\n".join(spec) + "\n")
    command = ["ns", driver.SCRIPT, tmp_path / "spec.tcl", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    want = [line.split() for line in (tmp_path / "ns.tr").read_text().splitlines()]
    result = aqmlab.run(scenario, workers=1, progress=False, overrides={"run.duration": f"{seconds}.0001s"})
    have = lines_of(result, tmp_path)

    def field(line):
        kind = "udp" if line[4] == "cbr" else line[4]
        flags = line[6].replace("A", "-")  # a sender that halved its window; no link sees that
        return (line[1], line[0], kind, line[5], flags, line[7], line[10])

    have, want = sorted(have, key=field), sorted(want, key=field)
    assert len(want) > 3000
    assert {line[0] for line in want} == set("+-rd")
    assert [field(line) for line in have] == [field(line) for line in want]
    pairs = {(a[11], b[11]) for a, b in zip(have, want, strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


# Captures


def test_capture_read_back_by_scapy(result, tmp_path):
    scapy = pytest.importorskip("scapy.all")
    packets = scapy.rdpcap(str(aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap")))
    events = events_of(result)
    sent = events[events["kind"] == "-"]
    assert len(packets) == len(sent)
    flows = result.flows[result.flows["seed"] == 1].reset_index(drop=True)
    for packet, row in zip(packets, sent.itertuples(), strict=True):
        assert int(packet.time * 10**9) == row.t_ps // 1000
        assert (packet.tos & 3, packet.tos >> 2, packet.ttl) == (row.ecn, row.dscp, row.ttl)
        assert packet.wirelen == max(row.bytes, 28) == packet.len
        assert packet.proto == (17 if flows["transport"][row.flow] == "udp" else 6)
        assert packet.sport == 1024 + row.flow
    assert {packet.tos >> 2 for packet in packets} == {0, 10, 46}
    assert {packet.tos & 3 for packet in packets} == {0, 2, 3}


def test_check_sums_are_those_that_scapy_computes(result, tmp_path):
    scapy = pytest.importorskip("scapy.all")
    packets = scapy.rdpcap(str(aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap")))
    kinds = set()
    for packet in packets[:300]:
        whole = bytes(packet) + bytes(packet.len - len(packet))
        fresh = scapy.IP(whole)
        written = fresh.chksum, fresh.payload.chksum
        del fresh.chksum, fresh.payload.chksum
        again = scapy.IP(bytes(fresh))
        assert written == (again.chksum, again.payload.chksum)
        kinds.add(packet.proto)
    assert kinds == {6, 17}


def test_tcp_numbers_count_bytes(result, tmp_path):
    scapy = pytest.importorskip("scapy.all")
    packets = scapy.rdpcap(str(aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap")))
    first = [packet for packet in packets if packet.proto == 6 and packet.sport == 1024]
    assert str(first[0].payload.flags) == "S"
    assert (first[1].payload.seq, first[2].payload.seq) == (1, 1001)
    back = scapy.rdpcap(str(aqmlab.export(result, to="pcap", out=tmp_path / "back.pcap", link="bottleneck.reverse")))
    acks = [packet.payload.ack for packet in back if packet.dport == 1024]
    assert acks[:3] == [1, 1001, 2001]
    assert acks == sorted(acks)


@needs("tcpdump")
def test_capture_read_back_by_tcpdump(result, tmp_path):
    path = aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap")
    command = ["tcpdump", "-Z", getpass.getuser(), "-nvr", path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("ttl 63") == (events_of(result)["kind"] == "-").sum()
    assert "bad cksum" not in done.stdout


def test_capture_by_the_layout_of_the_format(result, tmp_path):
    data = aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap").read_bytes()
    assert struct.unpack("<IHHiIII", data[:PCAP_HEADER]) == (0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
    at, lengths = PCAP_HEADER, []
    while at < len(data):
        kept, length = struct.unpack("<II", data[at + 8 : at + RECORD_HEADER])
        assert kept in (28, 40)
        lengths.append(length)
        at += RECORD_HEADER + kept
    assert at == len(data)
    events = events_of(result)
    assert lengths == events.loc[events["kind"] == "-", "bytes"].tolist()


# flent


def test_flent_loads_its_file(result, tmp_path):
    resultset = pytest.importorskip("flent.resultset")
    path = aqmlab.export(result, to="flent", out=tmp_path / "small.flent.gz")
    found = resultset.load(str(path))
    assert found.meta("NAME") == "tcp_nup"
    assert set(found.series_names) >= {"TCP upload::1", "TCP upload::5", "TCP upload sum", "Ping (ms) ICMP"}
    flows = result.flows[(result.flows["seed"] == 1) & (result.flows["transport"] != "udp")]
    total = sum(value * 0.05e6 / 8 for value in found.series("TCP upload sum"))
    assert total == pytest.approx(flows["goodput_bytes"].sum())
    pings = found.raw_values["Ping (ms) ICMP"]
    backlog = result.queue_samples[(result.queue_samples["seed"] == 1) & (result.queue_samples["link"] == "bottleneck")]
    rate = np.where(backlog["t_s"] < 2, 2e6, 1e6)
    base = np.where(backlog["t_s"] < 2, 28.0, 18.0)
    want = base + backlog["queue_bytes"] * 8e3 / rate
    assert [entry["val"] for entry in pings] == pytest.approx(want.tolist())


def test_flents_own_program_reads_it(result, tmp_path):
    pytest.importorskip("flent")
    path = aqmlab.export(result, to="flent", out=tmp_path / "small.flent.gz")
    command = [sys.executable, "-m", "flent", "--input", str(path), "--format", "csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    rows = list(csv.DictReader(line for line in io.StringIO(done.stdout) if "," in line))
    assert len(rows) == 60
    assert "Ping (ms) ICMP" in rows[0]


def test_flent_file_has_the_fields_of_the_format(result, tmp_path):
    path = aqmlab.export(result, to="flent", out=tmp_path / "small.flent.gz")
    data = json.loads(gzip.decompress(path.read_bytes()))
    assert set(data) == {"version", "x_values", "results", "raw_values", "metadata"}
    assert data["version"] == 4
    assert all(len(column) == len(data["x_values"]) for column in data["results"].values())
    assert all("t" in entry for series in data["raw_values"].values() for entry in series)
    assert {"backlog_bytes", "backlog_pkts", "delay"} <= set(data["raw_values"]["qdisc_stats_r1"][0])
    assert any("tcp_cwnd" in entry for entry in data["raw_values"]["TCP upload::1"])
    assert result.hash in data["metadata"]["NOTE"]


# All of them


def test_the_same_bytes_every_time(result, tmp_path):
    for to in ("csv", "parquet", "flent", "ns2", "pcap"):
        first = aqmlab.export(result, to=to, out=tmp_path / "a").read_bytes()
        again = aqmlab.export(aqmlab.Result.load(result.folder), to=to, out=tmp_path / "b").read_bytes()
        assert first == again, to


def test_command(result, shell):
    answer = shell("export", str(result.folder), "--to", "pcap", "--out", "x/out.pcap", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert told == {"file": "x/out.pcap", "format": "pcap", "bytes": (shell.folder / "x" / "out.pcap").stat().st_size}
    assert shell("export", str(result.folder), "--to", "csv", "--out", "m.csv").out == "Exported: m.csv\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "pdf"], 'unknown format "pdf" (allowed: csv, parquet, flent, ns2, pcap)'),
        (["--to", "pcap", "--seed", "9"], 'unknown seed "9" (allowed: 1, 2)'),
        (["--to", "pcap", "--link", "botleneck"], 'unknown link "botleneck" (allowed: '),
        (["--to", "pcap", "--link", "left.tcp.0"], "no event was recorded there: "),
        (["--to", "csv", "--table", "queues"], 'unknown table "queues" (allowed: metrics, links, flows, '),
        (["--to", "csv", "--table", "discipline_samples"], "small: discipline_samples was not recorded; set probe."),
    ],
)
def test_bad_input_is_an_error_of_one_line(result, shell, words, message):
    answer = shell("export", str(result.folder), "--out", "out", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith(f"aqmlab: {message}")
    assert answer.err.count("\n") == 1
    assert not (shell.folder / "out").exists()


def test_folders_that_are_not_of_one_scenario(result, shell):
    said = shell("export", str(result.folder.parent), "--to", "csv", "--out", "out").err
    assert said == f"aqmlab: {result.folder.parent}: holds several results; name one: {result.folder}\n"
    assert "no such results folder" in shell("export", "nowhere", "--to", "csv", "--out", "out").err
    assert "is a folder; name a file" in shell("export", str(result.folder), "--to", "csv", "--out", ".").err


def test_without_an_event_log_the_message_names_the_missing_key(small, tmp_path):
    bare = aqmlab.run(small, seeds=1, workers=1, progress=False)
    for to in ("pcap", "ns2"):
        with pytest.raises(aqmlab.InputError, match=r"events was not recorded; set probe\.events"):
            aqmlab.export(bare, to=to, out=tmp_path / "out")
    with pytest.raises(aqmlab.InputError, match=r"flow_samples was not recorded; set probe\.flow_interval"):
        aqmlab.export(bare, to="flent", out=tmp_path / "out")


def test_a_log_of_an_older_version_is_reported(result, tmp_path):
    old = aqmlab.Result.load(result.folder)
    old.tables["events"] = old.events.drop(columns=["ttl", "average"])
    with pytest.raises(aqmlab.InputError, match="is an older one, without ttl; run again"):
        aqmlab.export(old, to="pcap", out=tmp_path / "out")


def test_without_xarray_the_extra_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(aqmlab.InputError, match=r"pip install aqmlab\[xarray\]"):
        result.to_xarray()


def test_long_flows_wrap_around_as_tcp_does(result):
    """Sequence numbers are modulo 2^32, addresses and ports stay in their ranges."""
    from aqmlab.results.exporting.pcap import _ports

    source, target = _ports(np.array([0, 59_999, 60_000, 10**6]), np.zeros(4, dtype=bool))
    assert source.tolist() == [1024, 61_023, 1024, 41_024]
    assert target.tolist() == [5001, 5001, 5002, 5017]
