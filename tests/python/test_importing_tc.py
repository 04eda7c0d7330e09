"""Lines of tc become a queue with every word, or with a note that names the word; and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import aqmlab
import import_tc
from aqmlab.errors import InputError
from aqmlab.interop.importing.bottleneck import Bottleneck, text_of
from aqmlab.interop.importing.tc_words import read_tc
from aqmlab.interop.tc.netem import netem_words
from aqmlab.interop.tc.queues import qdisc_of, shaper_of
from aqmlab.scenario.parts import Link
from tc_cases import ABSENT, ASSUMED, CHANGED, CLASSES, NAMED, PRINTED, REJECTED, SCHEDULERS, TOO_STRICT, WHOLE

DUMBBELL = """format = 1
run = {{ duration = "5s" }}
queue.b = {{ aqm = "codel" }}
flow = [{{ name = "tcp", transport = "newreno" }}]
[dumbbell]
bottleneck = {{ rate = {server}, delay = "10ms", queue = "b"{keys} }}
left = {{ rate = "100Mbps", delay = "1ms" }}
right = {{ rate = "100Mbps", delay = "1ms" }}
"""


def found_in(*lines: str) -> Bottleneck:
    return read_tc("\n".join(lines) + "\n", "lines.txt")


def add(line: str) -> str:
    return f"tc qdisc add dev eth0 handle 1: root {line}"


def scenario(found: Bottleneck) -> aqmlab.Scenario:
    return aqmlab.Scenario.from_text(text_of(found, name="tc", description="From tc."), filename="tc.toml")


def link(found: Bottleneck) -> Link:
    return scenario(found).link("bottleneck")


def unread(found: Bottleneck) -> list[str]:
    return [note for note in found.notes if not any(part in note for part in ASSUMED)]


@pytest.mark.parametrize("line", WHOLE)
def test_a_line_comes_in_whole(line: str) -> None:
    assert unread(found_in(add(line))) == []


@pytest.mark.parametrize("line", [*WHOLE, *NAMED])
def test_what_a_line_makes_comes_back_from_its_export(line: str) -> None:
    found = found_in(add(line))
    plan = scenario(found)
    again = found_in(f"tc qdisc add dev eth0 root {qdisc_of(plan, plan.link('bottleneck')).text}")
    same(link(again).parameters, link(found).parameters)
    assert link(again).aqm == link(found).aqm


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare parameters; steps of SFB are written with nine digits."""
    rounded = {"increment": 1e-6, "decrement": 1e-6}
    for key, value in expected.items():
        assert found[key] == (pytest.approx(value, rel=rounded[key]) if key in rounded else value), key


@pytest.mark.parametrize(("line", "note"), NAMED.items())
def test_a_word_that_is_not_carried_over_is_named_with_its_line(line: str, note: str) -> None:
    notes = unread(found_in("# A comment.", add(line)))
    assert notes == [f"line 2: {note}"]


@pytest.mark.parametrize(("words", "note"), CLASSES.items())
def test_a_class_of_htb_is_the_link_and_its_other_words_are_named(words: str, note: str) -> None:
    found = found_in(add("htb"), f"tc class add dev eth0 parent 1: classid 1:1 htb {words}")
    assert (found.rate_bps, found.queue) == (20_000, {"aqm": "drop-tail", "limit": "1000p"})
    assert unread(found) == ([f"line 2: {note}"] if note else [])


def test_the_page_of_lines_is_up_to_date() -> None:
    assert import_tc.PAGE.read_text(encoding="utf-8") == import_tc.page()


@pytest.mark.parametrize(("line", "kind"), ABSENT.items())
def test_a_discipline_that_is_not_read_is_named(line: str, kind: str) -> None:
    with pytest.raises(InputError, match=rf'^lines\.txt:1: unknown discipline "{kind}" \(allowed: red, choke, '):
        found_in(add(line))


@pytest.mark.parametrize(("line", "printed"), PRINTED.items())
def test_output_of_tc_makes_the_queue_of_the_command(line: str, printed: str) -> None:
    command, output = found_in(add(line)), found_in(f"qdisc {printed}")
    assert output.rate_bps == command.rate_bps or line.startswith("choke")
    assert output.classes == command.classes
    for name, table in command.queues.items():
        same(output.queues[name], {key: value for key, value in table.items() if key != "max_p"})


@pytest.mark.parametrize("line", REJECTED)
def test_a_line_that_tc_rejects_is_an_error_with_its_place(line: str) -> None:
    with pytest.raises(InputError, match=r"^lines\.txt:1: ") as error:
        found_in(add(line))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("line", TOO_STRICT)
def test_a_target_that_codel_rejects_is_an_error_of_the_scenario(line: str) -> None:
    with pytest.raises(aqmlab.ScenarioError, match="is not less than interval"):
        link(found_in(add(line)))


@pytest.mark.parametrize(("lines", "expected"), CHANGED.items())
def test_a_later_line_for_the_same_handle_changes_the_queue(lines: tuple[str, str], expected: dict[str, Any]) -> None:
    commands = [
        f"tc qdisc {verb} dev eth0 handle 1: root {rest}" for verb, _, rest in (one.partition(" ") for one in lines)
    ]
    own = link(found_in(*commands)).parameters
    assert {key: own[key] for key in expected} == expected


@pytest.mark.parametrize("line", SCHEDULERS)
def test_bands_become_classes(line: str) -> None:
    found = found_in(add(line))
    own = link(found)
    assert own.aqm in ("priority", "wfq")
    points = [point for one in own.classes for point in one["dscp"]]
    assert len(points) == len(set(points))
    assert any(one["default"] for one in own.classes)


@pytest.mark.parametrize("line", SCHEDULERS)
def test_bands_come_back_from_their_export(line: str) -> None:
    found = found_in(add(line))
    plan = scenario(found)
    made = qdisc_of(plan, plan.link("bottleneck"))
    commands = [f"tc qdisc add dev eth0 root handle 10: {made.text}"]
    again = found_in(*commands, *(f"tc {one}".replace("DEV", "eth0") for one in made.below))
    assert bands(again) == bands(found)


def bands(found: Bottleneck) -> list[tuple[bool, tuple[int, ...] | None, float, object]]:
    """Return the bands that packets reach: strict or not, code points, relative weight, limit."""
    classes = [one for name in ("bottleneck", "bottleneck-shared") for one in found.classes.get(name, ()) if one.queue]
    least = min((one.weight for one in classes if one.weight), default=1.0)
    return [
        (
            one.weight is None,
            one.code_points,
            round((one.weight or least) / least, 2),
            found.queues[one.queue].get("limit"),
        )
        for one in classes
        if one.name != "shared"
    ]


def test_a_scheduler_is_exported_with_its_classes() -> None:
    file = Path(__file__).resolve().parents[2] / "examples" / "schedulers.toml"
    plan = aqmlab.Scenario.load(file)
    made = qdisc_of(plan, plan.link("bottleneck"))
    assert made.text.startswith("ets bands 3 strict 1 quanta 4542 1514 priomap 2 2")
    assert made.below[0] == "qdisc add dev DEV parent 10:1 handle 20: pfifo limit 50"
    assert made.below[1].startswith("qdisc add dev DEV parent 10:2 handle 21: red limit ")
    assert made.below[2] == "qdisc add dev DEV parent 10:3 handle 22: pfifo limit 100"
    assert [one.rpartition(" dsfield ")[2] for one in made.below[3:]] == [
        "0x28 0xfc flowid 10:2",
        "0x48 0xfc flowid 10:2",
        "0xb8 0xfc flowid 10:1",
    ]


def test_a_priomap_sends_code_points_as_linux_does() -> None:
    """Expedited forwarding (46) has the type of service "interactive bulk", priority 4; AF11 (10) has "bulk", 2."""
    found = found_in(add("prio"))
    where = {point: one.name for one in found.classes["bottleneck"] for point in one.code_points or (0,)}
    assert (where[0], where[10], where[12]) == ("band-2", "band-3", "band-1")
    assert 46 not in where  # priority 4 is in band 2, as best effort


def test_strict_bands_stand_before_those_that_share() -> None:
    found = found_in(
        add("ets bands 3 strict 1 quanta 3000 1500 priomap 2 2 1 2 0 2 0"),
        "tc qdisc add dev eth0 parent 1:2 handle 20: codel target 7ms",
    )
    assert [one.name for one in found.classes["bottleneck"]] == ["band-1", "shared"]
    assert [(one.name, one.weight) for one in found.classes["bottleneck-shared"]] == [
        ("band-2", 3000),
        ("band-3", 1500),
    ]
    assert found.queues["bottleneck-2"]["target"] == "7ms"
    assert scenario(found).link("bottleneck").aqm == "priority"


HTB = """
TC="sudo tc"; DEV=eth0
RATE=20mbit
export FAST=${FAST:-5mbit}
$TC qdisc del dev $DEV root 2> /dev/null || true
$TC qdisc add dev $DEV root handle 1: htb default 30
$TC class add dev $DEV parent 1: classid 1:1 htb rate ${RATE} burst 15k
$TC class add dev $DEV parent 1:1 classid 1:10 htb rate $FAST ceil $RATE
$TC class add dev $DEV parent 1:1 classid 1:30 htb rate 15mbit \\
    ceil $RATE
$TC qdisc add dev $DEV parent 1:10 handle 10: pfifo limit 50 && $TC qdisc add dev $DEV parent 1:30 handle 30: \\
    fq_codel limit 600
$TC filter add dev $DEV parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:10
$TC filter add dev $DEV parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:10
"""


def test_a_script_with_variables_classes_and_filters() -> None:
    found = read_tc(HTB, "shape.sh")
    assert found.rate_bps == 20e6
    classes = {one.name: one for one in found.classes["bottleneck"]}
    assert classes["class-10"].code_points == (46,)
    assert (classes["class-10"].weight, classes["class-30"].weight) == (5000, 15000)
    assert found.queues["bottleneck-10"]["limit"] == "50p"
    assert (found.queues["bottleneck-30"]["aqm"], found.queues["bottleneck-30"]["limit"]) == ("fq-codel", "600p")
    assert scenario(found).link("bottleneck").aqm == "wfq"
    assert any(note.startswith("line 7: htb burst 15k") for note in found.notes)
    assert any(note.startswith("line 14: filter") and "dport 80" in note for note in found.notes)


def test_one_class_of_htb_is_the_link() -> None:
    lines = HTB.splitlines()[:-2]
    found = read_tc("\n".join(lines), "shape.sh")
    assert (found.rate_bps, found.queue["aqm"]) == (20e6, "fq-codel")
    assert any("line 8: class 1:10 of htb: nothing reaches it" in note for note in found.notes)


def test_what_htb_prints_is_read() -> None:
    found = found_in(
        "qdisc noqueue 0: dev lo root refcnt 2 ",
        "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000",
        "qdisc codel 10: dev eth0 parent 1:10 limit 1000p target 5ms interval 100ms ",
        "class htb 1:1 root rate 8Mbit ceil 8Mbit burst 1600b cburst 1600b ",
        "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 2Mbit ceil 8Mbit burst 1600b cburst 1600b ",
    )
    # The output of "tc class show" has no device; the disciplines' one is meant.
    assert (found.rate_bps, found.queue["aqm"]) == (8e6, "codel")


def test_a_device_without_a_queue_ends_nothing() -> None:
    printed = PRINTED["codel"].replace("1: root", "0: dev eth0 parent :1")
    found = found_in("qdisc noqueue 0: dev lo root refcnt 2 ", "qdisc mq 0: dev eth0 root ", f"qdisc {printed}")
    assert found.queue["aqm"] == "codel"
    assert unread(found) == []


def test_a_delay_before_or_behind_the_queue_is_the_links() -> None:
    found = found_in(
        "tc qdisc add dev eth0 root handle 1: netem delay 20ms 5ms distribution normal loss 1%",
        "tc qdisc add dev eth0 parent 1:1 handle 2: tbf rate 10mbit burst 5k latency 50ms",
        "tc qdisc add dev eth0 parent 2:1 handle 3: pie target 10ms",
        "tc qdisc add dev eth1 root fq",
    )
    assert (found.rate_bps, found.delay_s, found.queue["target"]) == (10e6, 0.02, "10ms")
    assert found.channel == {"loss": "1%", "jitter": {"deviation": "5ms", "distribution": "normal"}}
    assert found.notes == [
        "line 2: tbf latency 50ms (the link has no queue above this one)",
        "line 4: fq on eth1: the queue of one device, eth0, is read",
    ]


@pytest.mark.parametrize(
    "words",
    [
        "netem delay 20ms loss random 1%",
        "netem delay 20ms loss random 1.5% 25%",
        "netem delay 20ms loss gemodel 1% 25% 90% 0.1%",
        "netem delay 20ms 2ms",
        "netem delay 20ms 2ms distribution pareto",
        "netem delay 20ms 5ms distribution paretonormal loss random 0.1% duplicate 1% reorder 25% 50% gap 5",
        "netem delay 1.5ms duplicate 2% reorder 100% gap 4",
        "netem delay 1.5ms loss random 1% 25% duplicate 2% 10%",
    ],
)
def test_words_of_netem_come_back(words: str) -> None:
    found = found_in(f"tc qdisc add dev eth0 root handle 1: {words}", "tc qdisc add dev eth0 parent 1: pfifo limit 30")
    forth, back = (own for own in scenario(found).links if own.name.startswith("bottleneck"))
    assert netem_words(forth.delay_s, forth.channel, forth.rate_bps) == words
    assert not any(back.channel.values())


def test_netem_with_a_rate_keeps_the_order_of_delayed_packets_alone() -> None:
    found = found_in("tc qdisc add dev eth0 root netem rate 10mbit delay 20ms 5ms reorder 25% 50%")
    reorder = {"probability": "25%", "correlation": "50%"}
    assert found.channel == {"jitter": {"deviation": "5ms", "order": "kept"}, "reorder": reorder}
    assert unread(found) == ["line 1: netem rate: packets that skip the delay skip the rate too in Linux, not here"]
    forth = next(own for own in scenario(found).links if own.name == "bottleneck")
    assert forth.channel["jitter"]["order"] == "kept"


@pytest.mark.parametrize(
    ("words", "channel", "note"),
    [
        (
            "delay 20ms 5ms 25%",
            {"jitter": {"deviation": "5ms"}},
            "delay correlation 25%: delays are nearly independent in Linux, and here",
        ),
        (
            "duplicate 2% 10%",
            {"duplicate": "2%"},
            "duplicate correlation 10%: tc sends it only with a correlation of delay or loss",
        ),
        (
            "loss gemodel 1% 10% duplicate 2% 10%",
            {"loss": {"p": "1%", "r": "10%"}, "duplicate": "2%"},
            "duplicate correlation 10%: tc sends it only with a correlation of delay or loss",
        ),
        (
            "loss random 5% 25% duplicate 2% 10%",
            {
                "loss": {"probability": "5%", "correlation": "25%"},
                "duplicate": {"probability": "2%", "correlation": "10%"},
            },
            None,
        ),
    ],
)
def test_correlations_without_effect_in_linux_are_left_out(
    words: str, channel: dict[str, object], note: str | None
) -> None:
    found = found_in(f"tc qdisc add dev eth0 root netem {words}")
    assert found.channel == channel
    notes = [one for one in found.notes if "correlation" in one]
    assert notes == ([] if note is None else [f"line 1: netem {note}"])


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (
            {"jitter": {"deviation_s": 0.002, "distribution": "normal", "correlation": 0.25, "order": "free"}},
            "no correlated jitter",
        ),
        (
            {"duplicate": {"probability": 0.1, "correlation": 0.25}},
            "a correlation of duplicates only with one of losses",
        ),
    ],
)
def test_correlations_without_effect_in_linux_are_not_written(
    channel: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        netem_words(0.02, channel, 1e7)


def test_netem_with_a_rate_keeps_the_order_of_packets() -> None:
    found = found_in("tc qdisc add dev eth0 root netem rate 10mbit delay 20ms 5ms")
    assert found.channel == {"jitter": {"deviation": "5ms", "order": "kept"}}
    forth = next(own for own in scenario(found).links if own.name == "bottleneck")
    assert netem_words(forth.delay_s, forth.channel, forth.rate_bps) == "netem delay 20ms 5ms rate 10000000bit"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("delay 10ms loss 5% 25% 30%", 'loss: "30%" is one value too many'),
        ("delay 10ms loss gemodel 1% 10% 70% 0.1% 5%", 'loss: "5%" is one value too many'),
        ("delay 10ms duplicate 3% 50% 20%", 'duplicate: "20%" is one value too many'),
        ("delay 10ms 5ms 25% 3", 'delay: "3" is one value too many'),
        ("delay 10ms gap 5", "gap needs reorder"),
        ("delay 10ms reorder 5% gap -1", "is negative"),
        ("reorder 25% 50%", "reorder needs a delay"),
        ("delay 10ms distribution normal", "distribution needs a jitter"),
        ("delay 10ms 0ms distribution pareto", "distribution needs a jitter"),
    ],
)
def test_words_of_netem_that_tc_rejects(words: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        found_in(f"tc qdisc add dev eth0 root netem {words}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("loss 120%", '"120%" is not a percentage from 0% to 100%'),
        ("loss gemodel", "loss gemodel needs a probability"),
        ("delay 10ms 1ms distribution gauss", 'unknown distribution "gauss" (allowed: uniform, normal'),
        ("duplicate much", '"much" is not a number for tc'),
    ],
)
def test_wrong_words_of_netem_are_named(words: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        found_in(f"tc qdisc add dev eth0 root netem {words}")


def test_ewma_is_the_weight() -> None:
    found = found_in(
        "qdisc red 1: root refcnt 2 limit 1Mb min 100Kb max 300Kb ecn ewma 6 probability 0.1 Scell_log 13 "
    )
    assert found.queue["w_q"] == 2.0**-6
    assert link(found).parameters["max_p"] == pytest.approx(0.1, rel=1e-4)
    assert unread(found) == []


def test_a_guessed_weight_is_named() -> None:
    notes = found_in("qdisc red 1: root refcnt 2 limit 1Mb min 100Kb max 300Kb ").notes
    assert any("w_q is not shown (tc -d qdisc show prints it as ewma)" in note for note in notes)
    assert any("avpkt is not given: 1000 B is assumed" in note for note in notes)
    assert any("probability is not given" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{add('codel')}\n{add('pie')}\n", "lines.txt:2: a second discipline, pie"),
        (
            "$TC qdisc add dev $DEV root tbf rate $RATE burst 5k latency 10ms\n",
            "lines.txt:1: the value of $RATE is not in the file",
        ),
        (
            "tc qdisc add dev e root handle 1: htb default 2\n"
            "tc class add dev e parent 1: classid 1:3 htb rate 1mbit\n"
            "tc class add dev e parent 1: classid 1:4 htb rate 1mbit\n",
            "lines.txt:1: htb's default class 1:2 is not among its classes",
        ),
        (add("netem rate 0"), "a rate is above 0"),
        (add("red limit 10k avpkt 0"), "avpkt of at least 1"),
        (add("codel target 99999999999999s"), ""),
        (add("cbq default 1"), 'unknown discipline "cbq"'),
        (
            add("hfsc default 1"),
            "lines.txt:1: the classes of hfsc are not in the file; append what `tc class show dev eth0`",
        ),
        (
            "\n".join(f"tc qdisc add dev e parent {n}:1 handle {n + 1}: tbf rate 1mbit limit 9k" for n in range(1, 40)),
            "nested",
        ),
        ("tc qdisc add dev e root " + "x" * 200_000, "characters is too long"),
        (
            "A=xx\n" + "A=$A$A$A$A$A$A$A$A$A$A\n" * 30 + "tc qdisc add dev e root red limit $A",
            "lines.txt:4: A has more than 1000 characters",
        ),
    ],
)
def test_hostile_lines_are_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text(text)
    with pytest.raises((InputError, aqmlab.ScenarioError), match=r"lines|scenario") as error:
        aqmlab.import_scenario(tmp_path / "lines.txt")
    assert message in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_line_that_takes_the_place_of_another_is_named() -> None:
    found = found_in("tc qdisc replace dev e root codel target 5ms", "tc qdisc replace dev e root pie limit 100")
    assert "line 1: codel: line 2 replaces it by pie" in found.notes
    again = found_in("tc qdisc add dev e root codel target 5ms", "tc qdisc change dev e root codel target 9ms")
    assert not any("replaces" in note for note in again.notes)


PARENT = "tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit"


@pytest.mark.parametrize(
    ("parent", "words", "rate_bps"),
    [
        (PARENT, "rate 10mbit", 10e6),  # a class may send at its rate whatever its parent's is
        (PARENT, "rate 10mbit ceil 20mbit", 10e6),
        (PARENT, "rate 10mbit ceil 4mbit", 4e6),
        (PARENT, "rate 2mbit ceil 20mbit", 5e6),
        (f"{PARENT} ceil 3mbit", "rate 1mbit ceil 20mbit", 3e6),
    ],
)
def test_a_class_of_htb_has_the_rate_that_linux_gives_it(parent: str, words: str, rate_bps: float) -> None:
    lines = (add("htb default 10"), parent, f"tc class add dev eth0 parent 1:1 classid 1:10 htb {words}")
    assert found_in(*lines).rate_bps == rate_bps


def test_classes_of_htb_that_are_sure_of_more_than_their_parent_are_named() -> None:
    found = found_in(
        add("htb default 10"),
        PARENT,
        "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 4mbit",
        "tc class add dev eth0 parent 1:1 classid 1:20 htb rate 3mbit ceil 5mbit",
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:20",
    )
    note = "htb: the classes below 1:1 are sure of 7Mbps in all, and Linux sends that; the link has 5Mbps"
    assert any(note in one for one in found.notes)


def test_a_byte_order_mark_hides_no_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(f"\ufeff{add('tbf rate 5mbit burst 1600 limit 30000')}\n", encoding="utf-8")
    assert aqmlab.import_scenario(path).scenario.link("bottleneck").rate_bps == 5e6


def test_lines_after_the_end_of_a_script_are_not_read() -> None:
    found = found_in(
        "tc qdisc add dev eth0 root handle 1: tbf rate 5mbit burst 1600 limit 30000",
        "tc qdisc add dev eth0 parent 1:1 fq_codel || exit 1",
        'if [ "$1" = x ]; then',
        "  exit 1",
        "fi",
        '[ -n "$2" ] || exit 2',
        "exit 0",
        "tc qdisc replace dev eth0 parent 1:1 pie",
    )
    assert found.queue["aqm"] == "fq-codel"
    assert "the script ends in line 7: the lines 8 are not read" in unread(found)


@pytest.mark.parametrize(
    ("server", "keys"),
    [
        ('{ tbf = "10Mbps", burst = "15000B" }', ""),
        (
            '{ tbf = "10Mbps", burst = "15000B", peakrate = "20Mbps", mtu = "3000B" }',
            'overhead = 38, linklayer = "atm"',
        ),
        ('"10Mbps"', "overhead = 44, mpu = 84"),
        ('"10Mbps"', "overhead = -3"),
    ],
)
def test_a_shaper_comes_back_from_its_export(server: str, keys: str) -> None:
    plan = aqmlab.Scenario.from_text(DUMBBELL.format(server=server, keys=f", {keys}" if keys else ""))
    before = plan.link("bottleneck")
    found = found_in(
        f"tc qdisc add dev eth0 root handle 1: {shaper_of(before)}", "tc qdisc add dev eth0 parent 1:1 codel"
    )
    after = link(found)
    assert (after.rate_bps, after.token_bucket, after.framing) == (before.rate_bps, before.token_bucket, before.framing)
    assert unread(found) == []


def test_a_size_table_is_the_links_framing() -> None:
    found = found_in("tc qdisc add dev eth0 root handle 1: stab overhead 30 linklayer adsl tbf rate 10mbit limit 30000")
    assert link(found).framing == {"overhead": 44, "mpu": 0, "linklayer": "atm"}
    assert "line 1: stab: Linux rounds lengths up to 4 B (tsize 512), here they are exact" in found.notes


def test_tc_has_no_ptm() -> None:
    plan = aqmlab.Scenario.from_text(DUMBBELL.format(server='"10Mbps"', keys=', linklayer = "ptm"'))
    with pytest.raises(InputError, match='no linklayer "ptm"'):
        shaper_of(plan.link("bottleneck"))


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("red limit 400000 min 30000 min 40000 max 90000 avpkt 1000 burst 55", "red min 30000, min 40000"),
        ("tbf rate 10mbit burst 10k buffer 20k limit 50k", "tbf burst 10k, buffer 20k"),
        ("codel ecn noecn target 5ms", "codel ecn, noecn"),
        ("cake bandwidth 20mbit unlimited", "cake bandwidth 20mbit, unlimited"),
        ("cake bandwidth 20mbit besteffort diffserv4", "cake besteffort, diffserv4"),
        ("netem rate 10mbit delay 10ms delay 20ms limit 50", "netem delay 10ms, delay 20ms"),
        ("prio bands 3 bands 4", "prio bands 3, bands 4"),
    ],
)
def test_an_option_given_twice_is_named(line: str, note: str) -> None:
    notes = found_in(add(line)).notes
    assert f"line 1: {note}: given twice; the last is read" in notes


def test_the_last_of_two_options_is_read() -> None:
    assert link(found_in(add("codel limit 90 limit 80"))).parameters["limit"] == 80


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("tc qdisc add dev eth0 dev eth1 root codel", "dev eth0, dev eth1"),
        ("tc qdisc add dev eth0 root handle 1: handle 2: codel", "handle 1:, handle 2:"),
        ("tc qdisc add dev eth0 root stab overhead 4 overhead 8 codel", "overhead 4, overhead 8"),
        ("tc qdisc add dev eth0 parent 1: root codel", "parent 1:, parent root"),
    ],
)
def test_a_place_given_twice_is_an_error(line: str, pair: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"lines.txt:1: {pair}: given twice (allowed: once)")):
        found_in(line)


def test_words_that_tc_prints_twice_are_no_notes() -> None:
    printed = "qdisc tbf 1: dev eth0 root refcnt 2 rate 10Mbit burst 10Kb mpu 0b mpu 0b lat 50ms"
    assert not [note for note in found_in(printed).notes if "given twice" in note]
