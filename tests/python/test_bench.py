"""The speed measurement: what it reads, computes and writes. Nothing here measures."""

import sys
import tomllib

import pytest

import instructions
from aqmlab import _core
from aqmlab.papers.common import PaperFiles
from speed import chart, cores, growth, lists, pairs, peers, table
from speed.__main__ import PAGE, USERS_PAGE, arguments, texts
from speed.cases import CASES, named
from speed.chain import LINKS, chain
from speed.process import SCENARIOS, LimitError, Limits, ProcessError, Run, measure, parse


def run(process_s: float, run_s: float = 1.0, hops: int = 0, engine: str = "", peak_kib: int = 2048) -> Run:
    return Run(process_s, 0.5, run_s, peak_kib, hops, engine)


def test_output_of_a_process():
    line = "packet_hops=12 engine=windows events=0 setup_s=0.25 run_s=1.5 peak_kib=4096\n"
    assert parse(line, 2.0) == Run(2.0, 0.25, 1.5, 4096, 12, "windows")
    assert parse("setup_s=0.25 run_s=1e-3 peak_kib=10", 2.0) == Run(2.0, 0.25, 0.001, 10, 0, "")
    with pytest.raises(ProcessError, match="run_s"):
        parse("setup_s=0.25", 2.0)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_process_is_measured():
    done = measure(python("print('setup_s=1 run_s=2 peak_kib=3')"))
    assert (done.setup_s, done.run_s, done.peak_kib) == (1.0, 2.0, 3)
    assert done.process_s > 0


def test_a_process_that_fails_has_an_error_of_one_line():
    with pytest.raises(ProcessError, match=r"ValueError: so it is$"):
        measure(python("raise ValueError('so it is')"))


def test_a_process_is_stopped_at_its_limits():
    with pytest.raises(LimitError, match="stopped after 0 s"):
        measure(python("import time; time.sleep(60)"), Limits(seconds=0.1, gib=8.0))
    with pytest.raises(LimitError, match="GiB in memory"):
        measure(python("import time; time.sleep(60)"), Limits(seconds=60.0, gib=1e-6))


def test_ratios_are_taken_of_each_pair():
    # 2 M hops in 1, 2 and 4 s against 1 M in 8 s.
    three = [(run(s, hops=2_000_000, engine="windows"), run(8.0)) for s in (1.0, 4.0, 2.0)]
    found = pairs.Comparison("d1g", 2_000_000, 1_000_000, three)
    assert found.ratios(pairs.process_s) == [16.0, 4.0, 8.0]
    assert found.rate(pairs.process_s) == 1e6
    row = dict(zip(pairs.HEADER, found.row(), strict=True))
    assert row["ratio (range of the pairs)"] == "8.0 (4.0 to 16.0)"
    assert row["ratio without set-up"] == "2.0"
    assert row["difference"] == "+100.00 %"
    assert row["engine"] == "windows"
    assert row["peak MiB"] == "2.0"


def test_a_case_that_ns2_cannot_run_has_no_ratio():
    found = pairs.Comparison("flows", 2_000_000, 0, [(run(1.0, hops=2_000_000, engine="events"), None)])
    assert found.row()[2:10] == ["2,000,000", "-", "-", "2.0", "-", "500.0", "-", "-"]


def test_gains_of_two_cores_are_taken_of_each_pair():
    found = [(run(one, hops=2_000_000), run(two, peak_kib=4096)) for one, two in ((3.0, 2.0), (4.0, 2.0), (2.0, 2.0))]
    cells = dict(zip(cores.HEADER, cores.row("CHAIN", found), strict=True))
    assert cells["gain (range of the pairs)"] == "1.50 (1.00 to 2.00)"
    assert (cells["s, windows"], cells["s, parallel"]) == ("3.00", "2.00")
    assert (cells["peak MiB, windows"], cells["peak MiB, parallel"]) == ("2.0", "4.0")


def test_costs_are_medians():
    cost = growth.Cost.of([run(1, run_s=s, engine="events", peak_kib=k) for s, k in ((1, 9), (5, 2), (2, 3))], 10**9)
    assert (cost.engine, cost.ns_a_hop, cost.setup_s, cost.peak_kib) == ("events", 2.0, 0.5, 3)
    # The windowed engine was asked for and events ran: its columns are empty.
    assert growth.cells([cost, cost], None) == ["-", "2.0", "-", "-", "0.500", "-", "-", "0.0", "-"]
    assert len(growth.header("flows", costs_of=growth.ENGINES)) == 1 + 9


@pytest.mark.parametrize("flows", growth.FLOW_COUNTS)
def test_any_number_of_flows(flows):
    overrides = [tuple(text.split("=", 1)) for text in growth.flow_overrides(flows)]
    assert sum(int(value) for key, value in overrides if key.endswith(".count")) == flows
    groups = tomllib.loads((SCENARIOS / "flows.toml").read_text())["flow"]
    assert [group["name"] for group in groups] == list(growth.GROUPS)


@pytest.mark.parametrize("links", [1, LINKS, 50])
def test_a_chain_of_any_length(links):
    _core.Scenario(chain(links), "chain.toml")
    assert sum(group["count"] for group in tomllib.loads(chain(links))["flow"]) == 20 + 5 * links


def test_the_case_chain_is_what_is_generated():
    assert (SCENARIOS / "chain.toml").read_text() == chain(LINKS)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_scenarios_are_valid(path):
    smaller = {"flows": growth.flow_overrides(100), "grid": growth.grid_overrides(10)}
    overrides = [tuple(text.split("=", 1)) for text in smaller.get(path.stem, [])]
    _core.Scenario(path.read_text(), path.name, overrides)


@pytest.mark.parametrize(("paper", "file", "ours"), [("ddred", "flower", "flower"), ("pc-red", "network2", "torus")])
def test_papers_networks_are_the_papers(paper, file, ours):
    theirs = PaperFiles(paper).toml(f"{file}.toml")
    mine = tomllib.loads((SCENARIOS / f"{ours}.toml").read_text())
    mine["queue"]["router"]["aqm"] = theirs["queue"]["router"]["aqm"]
    assert all(mine[key] == theirs[key] for key in (ours, "queue", "flow"))
    # Default probes.
    assert "probe" not in mine


def test_lists_for_ns2(tmp_path):
    arguments = lists.write(SCENARIOS / "torus.toml", tmp_path)
    assert arguments == [f"links={tmp_path}/links.csv", f"transfers={tmp_path}/transfers.csv"]
    header, first, *rest = (tmp_path / "links.csv").read_text().splitlines()
    assert (header, first) == ("from,to,rate,delay,queue,limit", "r1,r2,500000.0,100ms,RED,50")
    assert len(rest) + 1 == 48 + 2 * 480
    assert rest[-1].split(",")[2:] == ["10000000.0", "1ms", "DropTail", "1000"]
    transfers = (tmp_path / "transfers.csv").read_text().splitlines()[1:]
    assert len(transfers) == 480
    assert all(0 <= float(line.split(",")[3]) <= 5 for line in transfers)
    assert {line.split(",")[2] for line in transfers} == {"-1"}


def test_named_cases():
    assert [case.name for case in named("D1G, chain")] == ["d1g", "chain"]
    with pytest.raises(ValueError, match=r"no case 'x' \(allowed: d10m"):
        named("d1g,x")
    assert all(case.scenario.exists() for case in CASES)


def test_a_table_in_a_page():
    begin, end = table.marks("pairs")
    page = f"# Speed\n\n{begin}old\n{end}after\n"
    new = table.replaced(page, "pairs", "new\n")
    assert new == f"# Speed\n\n{begin}\nnew\n\n{end}after\n"
    assert table.replaced(new, "pairs", "new\n") == new
    with pytest.raises(ValueError, match="no lines"):
        table.replaced(page, "growth", "new\n")


def test_instructions_above_the_tolerance():
    reference = {"a": 1000, "b": 1000}
    assert instructions.exceeded({"a": 1029, "b": 500}, reference, 0.03) == []
    assert instructions.exceeded({"a": 1031}, reference, 0.03) == [
        "a: 1,031 instructions, 3.1 % above 1,000 (allowed: 3 %)"
    ]
    assert instructions.exceeded({"c": 1}, reference) == ["c: 1 instructions, but no number to compare with"]


def test_another_compiler_is_reported_not_judged():
    reference = instructions.Reference("rustc 1.0", {"a": 1000})
    assert instructions.Reference.read(reference.text()) == reference
    assert instructions.judge({"a": 1010}, "rustc 1.0", reference)[0] == 0
    assert instructions.judge({"a": 2000}, "rustc 1.0", reference)[0] == 1
    code, text = instructions.judge({"a": 2000}, "rustc 2.0", reference)
    assert code == 0
    assert "not judged" in text


def test_output_of_callgrind():
    assert instructions.collected("==1== Events    : Ir\n==1== Collected : 346144186\n") == 346144186
    with pytest.raises(ProcessError, match="valgrind: no such file"):
        instructions.collected("==1==\nno such file\n")


def test_the_chart_is_drawn_from_the_table_of_the_journal(tmp_path):
    begin, end = table.marks("pairs")
    journal = (SCENARIOS.parent / "JOURNAL.md").read_text().partition(begin)[2].partition(end)[0]
    found = chart.ratios(journal)
    assert [ratio.case for ratio in found] == ["D10M", "D1G", "CHAIN", "FLOWER", "TORUS"]
    assert all(ratio.low <= ratio.median <= ratio.high for ratio in found)
    chart.draw(found, tmp_path / "speed.svg")
    page = (SCENARIOS.parents[1] / "docs" / "performance.md").read_text()
    assert all(f"{ratio.median:.1f}" in page for ratio in found)
    assert all(f">{ratio.median:.1f}<" in (tmp_path / "speed.svg").read_text() for ratio in found)


class FakePeers:
    """Runs of fixed length in place of processes: by seconds a program, with packet-hops in proportion to time."""

    SECONDS = ((["parallel"], 0.5), (["simulate"], 1.0), (["ns"], 8.0), (["htsim"], 4.0), (["ns3"], 20.0))

    def __init__(self, too_slow: str = ""):
        self.too_slow, self.commands = too_slow, []

    def __call__(self, command: list[str], limits: Limits | None = None) -> Run:
        self.commands.append(command)
        names = {word.rsplit("/", 1)[-1] for word in command}
        if limits is not None and self.too_slow in names:
            raise LimitError("stopped")
        simulated = {"seconds=5": 5, "run.duration=5s": 5}
        hops = 1_000_000 * next((simulated[word] for word in command if word in simulated), 10)
        seconds = next(s for marks, s in self.SECONDS if names & set(marks))
        ours = {"simulate", "parallel"} & names
        return run(seconds, hops=hops if ours or "count=1" in command else 0)


D1G = next(case for case in CASES if case.name == "d1g")


def programs(folder, *names: str):
    for name in names:
        (folder / name).touch()
    return peers.built(folder)


def test_peers_without_a_program_are_named(tmp_path):
    found, missing = programs(tmp_path, "htsim")
    assert ([peer.program for peer in found], missing) == (["htsim"], ["ns3", "unison"])


def test_peers_run_in_turn_on_as_many_cores(tmp_path):
    found, _ = programs(tmp_path, "htsim", "ns3")
    fake = FakePeers()
    rows, notes = peers.compare(D1G, tmp_path, found, 3, Limits(1.0, 1.0), fake)
    cells = [dict(zip(peers.HEADER, row, strict=True)) for row in rows]
    assert [(row["simulator"], row["cores"]) for row in cells] == [
        ("aqmlab", "1"),
        ("aqmlab", "2"),
        ("ns-2", "1"),
        ("htsim with RED added", "1"),
        ("ns-3", "1"),
    ]
    # 10 M hops in 1, 0.5, 8 and 4 s; ns-3 simulates 5 s: 5 M hops in 20 s.
    assert [row["M packet-hops/s (range)"].split(" ")[0] for row in cells] == ["10.00", "20.00", "1.25", "2.50", "0.25"]
    assert [row["ours to theirs (range)"].split(" ")[0] for row in cells] == ["-", "-", "8.0", "4.0", "40.0"]
    assert {row["to ours"] for row in cells[2:]} == {"+0.00 %"}
    assert (cells[4]["simulated s"], cells[4]["packet-hops"], cells[4]["ns a hop"]) == ("5", "5,000,000", "4,000.0")
    assert notes == ""
    # Each round has the same order, after one counted run of each.
    timed = fake.commands[5:20]
    assert timed[:5] == timed[5:10] == timed[10:]
    assert not any("count=1" in command for command in timed)


def test_a_peer_beyond_its_limits_is_left_out(tmp_path):
    found, _ = programs(tmp_path, "htsim", "ns3")
    rows, notes = peers.compare(D1G, tmp_path, found, 1, Limits(1.0, 1.0), FakePeers(too_slow="ns3"))
    assert [row[1] for row in rows] == ["aqmlab", "aqmlab", "ns-2", "htsim with RED added"]
    assert notes == "D1G: ns-3 is left out; stopped.\n"


def test_two_threads_of_a_peer_are_compared_with_two_of_ours():
    ours = peers.Timed("aqmlab", 2, 10.0, 8_000_000, 8_000_000, [run(1.0), run(2.0)])
    unison = peers.Timed("Unison", 2, 3.0, 1_000_000, 1_010_000, [run(4.0), run(4.0)])
    row = dict(zip(peers.HEADER, unison.row("d1g", ours), strict=True))
    assert row["ours to theirs (range)"] == "24.0 (16.0 to 32.0)"
    assert row["to ours"] == "-0.99 %"
    assert peers.PEERS[-1].command(SCENARIOS, "d1g")[1:] == ["case=d1g", "seconds=5", "threads=2"]


def test_summary_of_peers_has_a_row_for_each_simulator():
    runs = [run(2.0)]
    ours = peers.Timed("aqmlab", 1, 10.0, 4_000_000, 4_000_000, runs)
    ns2 = peers.Timed("ns-2", 1, 10.0, 1_000_000, 4_000_000, runs)
    rows = [ours.row("d10m", ours), ours.row("d1g", ours), ns2.row("d1g", ours)]
    assert peers.summary(table.table(peers.HEADER, rows)).splitlines()[2:] == [
        "| aqmlab | 1 | 2.00 | 2.00 |",
        "| ns-2 | 1 | - | 0.50 |",
    ]


@pytest.mark.parametrize("case", sorted(peers.FULL_S))
def test_full_durations_of_peers_are_the_scenarios(case):
    file = tomllib.loads((SCENARIOS / f"{case}.toml").read_text())
    assert file["run"]["duration"] == f"{peers.FULL_S[case]:g}s"


def test_pages_have_places_for_the_peers():
    for page in (PAGE, USERS_PAGE):
        assert table.replaced(page.read_text(), "peers", "new\n") != page.read_text()


def test_peers_need_a_folder(monkeypatch, capsys):
    monkeypatch.delenv("SPEED_PEERS", raising=False)
    with pytest.raises(SystemExit):
        arguments(["peers"])
    assert "--peers DIR, or SPEED_PEERS" in capsys.readouterr().err
    assert list(texts(arguments(["peers", "--peers", "built"]))) == ["peers"]
    assert "peers" not in texts(arguments([]))
