"""Lines of tc with cake: read as tc reads them, and written so that they are read back as they are."""

from __future__ import annotations

import random
import subprocess

import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.interop.importing.tc_words import read_tc
from aqmlab.interop.tc.cake import ALONE, FRAMINGS
from aqmlab.interop.tc.queues import qdisc_of, queue_differences
from programs import require

UNUSUAL = {"ecn": True, "overhead": 14}
"""Parameters of every line that differ from the defaults of a scenario: tc counts Ethernet's header."""
VALID = {
    "": {},
    "bandwidth 20mbit": {"rate": "20Mbps"},
    "bandwidth 2500kbps": {"rate": "20Mbps"},
    "bandwidth 10mbit unlimited": {"rate": "unlimited"},
    "bandwidth 0": {"rate": "unlimited"},
    "bandwidth 10mbit autorate-ingress": {"rate": "10Mbps", "autorate_ingress": True},
    "autorate-ingress bandwidth 10mbit": {"rate": "10Mbps"},
    "rtt 25ms": {"rtt": "25ms"},
    "rtt 500": {"rtt": "500us"},
    "metro": {"rtt": "10ms"},
    "interplanetary": {"rtt": "1000s"},
    "rtt 25ms oceanic": {"rtt": "300ms"},
    "besteffort": {"diffserv": "besteffort"},
    "diffserv": {"diffserv": "diffserv4"},
    "diffserv8 precedence": {"diffserv": "precedence"},
    "flows": {"isolation": "flows"},
    "dual-srchost nat": {"isolation": "dual-srchost", "nat": True},
    "nat nonat": {"nat": False},
    "wash ingress": {"wash": True, "ingress": True},
    "ack-filter-aggressive": {"ack_filter": "aggressive"},
    "split-gso memlimit 32Mb": {"split_gso": True, "memlimit": "33554432B"},
    "memlimit 0": {},
    "overhead 0": {"overhead": 0},
    "overhead -14 mpu 64": {"overhead": -14, "mpu": 64},
    "raw": {"linklayer": "ethernet"},
    "raw overhead 10": {"overhead": 24, "linklayer": "ethernet"},
    "docsis": {"overhead": 18, "mpu": 64, "linklayer": "ethernet"},
    "docsis raw": {"mpu": 64, "linklayer": "ethernet"},
    "conservative": {"overhead": 48, "linklayer": "atm"},
    "pppoe-ptm ether-vlan": {"overhead": 34, "linklayer": "ptm"},
    "pppoa-vcmux noatm": {"overhead": 10, "linklayer": "ethernet"},
    "ethernet ether-vlan ether-vlan": {"overhead": 46, "mpu": 84},
    "via-ethernet atm": {"linklayer": "atm"},
}
INVALID = {
    "bandwidth": '"bandwidth" has no value',
    "bandwidth 10foo": '"10foo" is not a rate of tc',
    "rtt 10y": '"10y" is not a time of tc',
    "memlimit much": '"much" is not a size of tc',
    "helo": 'unknown word of cake "helo"',
    "diffserv5": "did you mean diffserv",
    "flows 1024": 'unknown word of cake "1024"',
    "limit 1000": 'unknown word of cake "limit"',
    "overhead 257": "cake overhead 257: out of range (allowed: a whole number from -64 to 256)",
    "overhead 0x10": "cake overhead 0x10: out of range",
    "mpu 300": "cake mpu 300: out of range (allowed: a whole number from 0 to 256)",
    "lan metro": "cake lan, metro: a second name of a round-trip time (allowed: one)",
    "fwmark green": "cake fwmark green: is not a mask",
    "mpu": '"mpu" has no value',
}


def read(words, kind="cake"):
    """Read the words of a line."""
    found = read_tc(f"tc qdisc replace dev eth0 root {kind} {words}\n", "f")
    return found.queue, found.notes


def tc_accepts(lines):
    """Return which lines the tc of this machine parses: a kernel without the discipline rejects it only then."""
    require("tc", "ip", "unshare")
    calls = "".join(f"tc qdisc replace dev lo root cake {line} 2>&1 | head -n 1; echo @\n" for line in lines)
    script = f"ip link set lo up\n{calls}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "sh"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr:
        # Not every machine lets a user make network namespaces.
        pytest.skip(f"needs a network namespace ({' '.join(done.stderr.splitlines()[:1])})")
    answers = done.stdout.split("@\n")[:-1]
    assert len(answers) == len(lines)
    return [not said.strip() or "qdisc kind is unknown" in said for said in answers]


@pytest.mark.parametrize(("words", "expected"), VALID.items(), ids=[words or "none" for words in VALID])
def test_words_become_parameters(words, expected):
    found, _ = read(words)
    assert found == {"aqm": "cake", **UNUSUAL, **expected}


@pytest.mark.parametrize(("words", "message"), INVALID.items(), ids=list(INVALID))
def test_rejected_words_are_one_line(words, message):
    with pytest.raises(InputError) as error:
        read(words)
    assert message in str(error.value)
    assert str(error.value).startswith("f:1: ")
    assert "\n" not in str(error.value)


def test_tc_accepts_and_rejects_the_same_lines():
    lines = [*VALID, *INVALID]
    assert tc_accepts(lines) == [True] * len(VALID) + [False] * len(INVALID)


def test_random_lines_are_accepted_where_tc_accepts_them():
    draw = random.Random(45)
    # tc also takes negative and hexadecimal rates and times for numbers; such words are errors here.
    numbers = ["0", "10", "256", "257", "1.5", "10mbit", "12ms", "4m", "1e3kbit", "200kbps", "", "atm", "70000"]
    numbers += ["2s", "4Mb", "10kibit"]
    alone = [
        *ALONE,
        *FRAMINGS,
        "raw",
        "conservative",
        "via-ethernet",
        "unlimited",
        "autorate-ingress",
        "diffserv",
        "gso",
    ]
    valued = ["bandwidth", "rtt", "memlimit", "overhead", "mpu", "fwmark"]
    lines = []
    for _ in range(400):
        words = draw.choices(alone, k=draw.randrange(4))
        words += [word for one in draw.choices(valued, k=draw.randrange(3)) for word in (one, draw.choice(numbers))]
        lines.append(" ".join(words).strip())

    def accepted(line):
        try:
            read(line)
        except InputError:
            return False
        return True

    ours = [accepted(line) for line in lines]
    theirs = tc_accepts(lines)
    assert [one for one in zip(lines, ours, theirs, strict=True) if one[1] != one[2]] == []
    assert 100 < sum(ours) < 350


SCENARIO = """\
format = 1
[run]
duration = "1s"
[dumbbell]
bottleneck = {{ rate = "50Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "1ms" }}
right = {{ rate = "1Gbps", delay = "1ms" }}
[queue.bottleneck]
aqm = "cake"
{keys}
[[flow]]
name = "f"
transport = "tcp"
"""


def queue_of(keys):
    """Return a scenario with a queue of these keys, and its link."""
    text = "\n".join(f"{key} = {value}" for key, value in keys.items())
    plan = aqmlab.Scenario.from_text(SCENARIO.format(keys=text))
    return plan, plan.link("bottleneck")


def parameters(plan, link):
    """Return the effective parameters of a link's queue."""
    return {key: value for key, value in plan.link(link).parameters.items() if key != "hash_key"}


def test_written_lines_are_read_back_as_they_are():
    draw = random.Random(7)
    choices = {
        "rate": ['"unlimited"', '"9.5Mbps"', '"20Mbps"', '"123456bps"'],
        "diffserv": ['"besteffort"', '"diffserv3"', '"diffserv4"', '"diffserv8"', '"precedence"'],
        "isolation": ['"flowblind"', '"flows"', '"hosts"', '"dual-srchost"', '"dual-dsthost"', '"triple-isolate"'],
        "rtt": ['"lan"', '"metro"', '"100ms"', '"33ms"', '"1500us"', '"interplanetary"'],
        "overhead": ["0", "14", "18", "-4", "48"],
        "mpu": ["0", "64", "84"],
        "linklayer": ['"ethernet"', '"atm"', '"ptm"'],
        "nat": ["true", "false"],
        "wash": ["true", "false"],
        "ingress": ["true", "false"],
        "ack_filter": ['"off"', '"on"', '"aggressive"'],
        "split_gso": ["true", "false"],
        "memlimit": ['"auto"', '"4194304B"', '"100000B"'],
        "autorate_ingress": ["true", "false"],
    }
    lines = []
    for _ in range(150):
        keys = {key: draw.choice(values) for key, values in choices.items() if draw.random() < 0.6}
        plan, link = queue_of(keys)
        line = qdisc_of(plan, link).text
        lines.append(line.removeprefix("cake").strip())
        found, notes = read(lines[-1])
        again = aqmlab.Scenario.from_text(
            SCENARIO.format(keys="\n".join(f"{k} = {aqmlab_inline(v)}" for k, v in found.items() if k != "aqm"))
        )
        assert parameters(again, "bottleneck") == parameters(plan, "bottleneck"), line
        assert all("no-split-gso" in note or note.startswith(("no ", "line 1: the rate of the link")) for note in notes)
    assert all(tc_accepts(lines))


def aqmlab_inline(value):
    """Write a value as TOML."""
    from aqmlab.scenario.toml_text import inline

    return inline(value)


def test_parameters_that_linux_fixes_are_named():
    plan, link = queue_of({"ecn": "false", "memory": '"length"', "max_packet": '"9000B"', "limit": '"100p"'})
    texts = " ".join(one.text for one in queue_differences(link, qdisc_of(plan, link)))
    for words in ("ecn = false", "memory = length", "max_packet", "limit = 100"):
        assert words in texts, words
    plan, link = queue_of({"hash_key": '"random"'})
    assert list(queue_differences(link, qdisc_of(plan, link))) == []


def test_words_without_effect_are_notes():
    _, notes = read("fwmark 0xff no-split-gso")
    assert "line 1: cake fwmark 0xff (marks of a firewall do not select tins here)" in notes
    assert "line 1: cake no-split-gso (packets are never joined here)" in notes
    assert not any("fwmark" in note for note in read("fwmark 0")[1])


def test_the_shaper_makes_the_rate_of_the_link():
    found = read_tc("tc qdisc add dev e root cake bandwidth 19mbit\n", "f")
    assert found.rate_bps == 20e6
    assert "20Mbps is assumed, of which the bandwidth of cake is 95%" in found.notes[0]
    below = read_tc(
        "tc qdisc add dev e root handle 1: tbf rate 50mbit burst 1600 limit 1m\n"
        "tc qdisc add dev e parent 1:1 cake bandwidth 19mbit\n",
        "f",
    )
    assert below.rate_bps == 50e6


def test_a_change_keeps_other_words():
    found = read_tc(
        "tc qdisc add dev e root cake bandwidth 19mbit docsis nat\ntc qdisc change dev e root cake bandwidth 10mbit\n",
        "f",
    )
    assert found.queue["rate"] == "10Mbps"
    assert found.queue["overhead"] == 18
    assert found.queue["nat"] is True


def test_output_of_tc_and_cake_mq_are_read():
    shown = (
        "qdisc cake 8005: root refcnt 2 bandwidth unlimited diffserv3 triple-isolate nonat nowash no-ack-filter "
        "split-gso rtt 100ms raw overhead 0\n"
        " Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n memory used: 0b of 4Mb\n"
    )
    assert read_tc(shown, "f").queue["overhead"] == 14
    queues = "qdisc cake_mq 1: dev e root bandwidth 100Mbit besteffort rtt 100ms noatm overhead 18\n"
    queues += "".join(
        f"qdisc cake 0: dev e parent 1:{n} bandwidth 100Mbit besteffort rtt 100ms overhead 18\n" for n in "12"
    )
    found = read_tc(queues, "f")
    assert (found.queue["rate"], found.queue["diffserv"]) == ("100Mbps", "besteffort")
    assert any("cake_mq has a queue for each transmit queue" in note for note in found.notes)
    assert not any("below cake_mq" in note for note in found.notes)


def test_a_class_has_no_shaper_of_its_own():
    classes = (
        "tc qdisc add dev e root handle 1: htb default 10\n"
        "tc class add dev e parent 1: classid 1:10 htb rate 20mbit\n"
        "tc class add dev e parent 1: classid 1:20 htb rate 5mbit\n"
        "tc filter add dev e parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:20\n"
    )
    assert read_tc(f"{classes}tc qdisc add dev e parent 1:10 cake\n", "f").queues["bottleneck-10"]["aqm"] == "cake"
    with pytest.raises(InputError, match="f:5: cake bandwidth 20mbit limits the packets of class 1:10 alone") as error:
        read_tc(f"{classes}tc qdisc add dev e parent 1:10 cake bandwidth 20mbit\n", "f")
    assert "(allowed: unlimited)" in str(error.value)
