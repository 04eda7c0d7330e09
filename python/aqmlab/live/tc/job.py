"""The job of a run as one shell script: namespaces, devices, qdiscs, traffic, and measurements.

The same text is run by the guest of the emulator and, in namespaces of its own, on this machine's kernel. Results are
JSON lines on file descriptor 3, each with a ``kind``:

| kind | what |
|---|---|
| qdisc | ``tc -s`` of the bottleneck at a time in ms since the start, every second and at the end |
| client | iperf3's report on a client's flows, both ends |
| ended | time in ms since the start at which a client, given by its number, was done |
| backlog | a part of ``tc -s`` of the bottleneck, ten times a second after the time in ms, packed by gzip, in base64 |
| ping | number and round trip in ms of an echo: pings are a sparse flow, which flow queueing serves first |
| link | a line of the user-space bottleneck |
| start | time of the start in ms since the kernel's |
| decisions | a part of the log of a module's decisions, packed by gzip, in base64 |
| lost | number of a module's decisions that found no room in its log |
| slept | time in ms that the machine has slept since its kernel's start (added by the backend tc) |
| error | the message |

Two networks can be built. With tc as bottleneck:

    aql-s [sa] --- [ra] aql-r [rb] --- [db] aql-d       rb: tbf and the discipline; ra: netem, the round trip's delay

With the bottleneck in user space its two TUN devices are ``sa`` and ``db`` and there is no router.

iperf3's control connections go aside, over a third pair (``sc``, ``dc``): a bottleneck that drops much would else delay
the flows' start, and their reports. So does the greeting of a UDP flow, which is sent only once, where tc is the
bottleneck. Neighbours are known from the start, since questions for them (ARP) are packets that a bottleneck may drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aqmlab.interop.tc.queues import ETHERNET_HEADER, HANDLE, ONE_PACKET, shaper_of
from aqmlab.live.tc.setting import IP_AND_UDP, Client, Group, Setting

PORT = 5201
DATA_PORT = 10_001
"""First of the senders' ports for data, one a flow; they are below those that the kernel chooses itself."""
CHOSEN_PORTS = (32_768, 60_999)
"""Ports that the kernel chooses itself: iperf3's connections that carry no data have them."""
GATEWAYS = ("10.76.0.1", "10.76.0.2")
"""Addresses of the router."""
MACS = {name: f"02:00:00:00:00:0{at}" for at, name in enumerate(("sa", "ra", "rb", "db", "sc", "dc"), start=1)}
"""Of the devices."""
FULL_FRAME, ETHERNET = 1514, ETHERNET_HEADER
"""Bytes of a packet of 1500 with Ethernet's header, and of that header."""
WAITING = 10_000
"""Packets that devices and netem hold, so that they lose nothing."""
GREETING = 32
"""Bytes of the IP packet with which iperf3's client makes a UDP flow known; those with data are longer."""
PACING_US = 1000
"""How often iperf3 looks whether the next datagram is due."""
PATIENCE_S = 150
"""A client that is not done so long after its flows' end is given up: the first packets of a connection may be lost
until the kernel gives up itself (``tcp_syn_retries``, 127 s)."""
GIVEN_UP = '{\\"error\\":\\"it was not done in time\\"}'
"""The report of a client that was given up, between double quotes of the shell."""
USUAL_TTL = 64
"""Linux's time to live."""
GRACE_S = 3
"""Between the start of the servers and that of the run."""
LOGGED = 65536
"""Records of a module's log between two looks at the queue."""


@dataclass(frozen=True)
class Options:
    """Options for experiments on the set-up itself.

    Attributes
    ----------
    sample_interval_s
        Time between two samples of tc's backlog; 0: none but those of each second.
    ping_interval_s
        Echo requests are sent that often; 0: none.
    in_userspace
        The bottleneck is ``aqmlab-link`` in place of tc.
    settings
        Further kernel settings (sysctl) of both ends, e.g. ``("net.ipv4.tcp_limit_output_bytes=4194304",)``.
    burst
        Of the token bucket, in bytes.
    gso
        Whether a sender may hand segments to its device that the kernel cuts later.
    module
        Name of the kernel module that has the bottleneck's discipline; its log of decisions is part of the report.
        None: a discipline of Linux's own.
    loads_module
        Whether the job loads the module, from ``NAME.ko`` beside it, and removes it; else it is loaded already.
    records
        Records of the module's log between two looks at the queue.
    children
        Modules that the job loads after the module, from ``NAME.ko`` beside it, in place of the kernel's own.
    parameters
        Further parameters of the module, e.g. ``("headers=1",)``.
    """

    sample_interval_s: float = 0.1
    ping_interval_s: float = 0.1
    in_userspace: bool = False
    settings: tuple[str, ...] = ()
    burst: int = ONE_PACKET
    gso: bool = False
    module: str | None = None
    loads_module: bool = True
    records: int = LOGGED
    children: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


def script(setting: Setting, options: Options = Options()) -> str:
    """Write the job of a run."""
    parts = [
        HEAD.format(end=round(setting.duration_s * 1000), queue=QUEUE),
        *_module(options),
        *(LINK.splitlines() if options.in_userspace else _router(setting, options)),
        *_aside(setting),
        *_greetings(setting, options),
        *_markers(setting),
        *_ends(setting, options),
        *_traffic(setting, options),
        *([LINK_TAIL] if options.in_userspace else [*_samples(options), TAIL]),
    ]
    return "\n".join(part for part in parts if part) + "\n"


QUEUE = """report qdisc "$($R tc -j -s qdisc show dev rb | tr -d '\\n')\""""

HEAD = """\
# A run of {end} ms; results go to file descriptor 3.
END={end}
JOB=$(dirname "$0") WORK=$(mktemp -d)
IP=${{IP:-ip}}
S="$IP netns exec aql-s" R="$IP netns exec aql-r" D="$IP netns exec aql-d"
fail() {{ echo "{{\\"kind\\":\\"error\\",\\"what\\":\\"$*\\"}}" >&3; exit 1; }}
must() {{ "$@" 2> "$WORK/said" || fail "$(echo "$@: $(head -n 1 "$WORK/said")" | tr -d '"\\\\')"; }}
clock() {{ read -r up rest < /proc/uptime; up=${{up%.*}}${{up#*.}}0; }}
now() {{ clock; echo $((up - T0)); }}
until_ms() {{ left=$(( $1 - $(now) )); [ $left -le 0 ] || sleep $((left / 1000)).$(printf %03d $((left % 1000))); }}
report() {{ echo "{{\\"kind\\":\\"$1\\",\\"ms\\":$(now),\\"data\\":$2}}" >&3; }}
queue() {{ {queue}; }}
for n in s r d; do must $IP netns add aql-$n; $IP -n aql-$n link set lo up; done"""

LINK = """\
mkfifo "$WORK/link"
aqmlab-link "$JOB/link.json" < "$WORK/link" > "$WORK/link.out" 2> "$WORK/link.err" &
LINK=$!
exec 4> "$WORK/link"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -q ready "$WORK/link.out" && break; sleep 0.1; done
grep -q ready "$WORK/link.out" || fail "aqmlab-link: $(head -n 1 "$WORK/link.err" | tr -d '"\\\\')"
$IP -n aql-s link set sa up
$IP -n aql-d link set db up"""

TAIL = """\
second=1000
clock
T0=$up
queue
sample &
while [ $second -lt $END ]; do until_ms $second; queue; second=$((second + 1000)); done
until_ms $END
queue
wait $CLIENTS
wait $!
finish"""

LINK_TAIL = """\
clock
T0=$up
echo start >&4
until_ms $END
wait $CLIENTS
echo stop >&4
exec 4>&-
wait $LINK
while read -r line; do report link "$line"; done < "$WORK/link.out"
finish"""


def _samples(options: Options) -> list[str]:
    """Write how tc's backlog is sampled; a line has the time in ms and what tc reports.

    A process for each sample and one for the pause are all that it starts: each takes a millisecond of the emulated
    processor. A shell of busybox takes its own `tc` for any that it is not given the whole path of.
    """
    if options.sample_interval_s <= 0:
        return ["sample() { :; }"]
    return [
        "for TC in /usr/sbin/tc /sbin/tc tc; do [ -x $TC ] && break; done",
        "sample() {",
        "  clock; due=$up",
        "  while [ $((up - T0)) -le $END ]; do",
        "    echo \"$((up - T0)) $($TC -n aql-r -j -s qdisc show dev rb | tr -d '\\n')\"",
        f"    due=$((due + {options.sample_interval_s * 1000:.0f})); clock",
        "    [ $due -le $up ] || { left=$((due - up + 100000)); sleep $((left / 1000 - 100)).${left#???}; }",
        "    clock",
        '  done > "$WORK/backlog"',
        "}",
    ]


def _packed(kind: str) -> str:
    """Write that the file of this name is reported in parts, packed by gzip, in base64."""
    return f'gzip -c < "$WORK/{kind}" | base64 -w 4000 | sed \'s/.*/{{"kind":"{kind}","data":"&"}}/\' >&3'


def _module(options: Options) -> list[str]:
    """Write that the bottleneck's module is loaded, and that its log is emptied whenever the queue is looked at."""
    if options.module is None:
        return []
    folder = f"/sys/kernel/debug/{options.module}"
    if options.loads_module:
        words = " ".join((f"log={options.records}", *options.parameters))
        load = [
            f'must insmod "$JOB/{options.module}.ko" {words}',
            # A module that is part of the kernel itself is not there.
            *(f'! grep -q "^{child} " /proc/modules || must rmmod {child}' for child in reversed(options.children)),
            *(f'must insmod "$JOB/{child}.ko"' for child in options.children),
        ]
        remove = [f"  must rmmod {name}" for name in (*reversed(options.children), options.module)]
    else:
        load, remove = [f'[ -r {folder}/decisions ] || fail "{folder} cannot be read (debugfs)"'], []
    return [
        "mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null",
        *load,
        f'queue() {{ {QUEUE}; cat {folder}/decisions >> "$WORK/decisions"; }}',
        "remove_module() {",
        '  echo "{\\"kind\\":\\"start\\",\\"data\\":$T0}" >&3',
        f'  must $R tc qdisc del dev rb root; cat {folder}/decisions >> "$WORK/decisions"',
        f'  echo "{{\\"kind\\":\\"lost\\",\\"data\\":$(cat {folder}/lost)}}" >&3',
        *remove,
        f"  {_packed('decisions')}",
        "}",
    ]


def _router(setting: Setting, options: Options) -> list[str]:
    """Write the two veth pairs, the router between them, its qdiscs."""
    lines = [
        f"must $IP link add {a} address {MACS[a]} numtxqueues 1 txqueuelen {WAITING} netns aql-{x} "
        f"type veth peer name {b} address {MACS[b]} netns aql-{y}"
        for a, x, b, y in (("sa", "s", "ra", "r"), ("rb", "r", "db", "d"))
    ]
    lines += [f"$IP -n aql-{n} link set {dev} up" for n, dev in (("s", "sa"), ("r", "ra"), ("r", "rb"), ("d", "db"))]
    lines.append("$R sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'")
    for end, mine, theirs, gateway in (("s", "ra", "sa", GATEWAYS[0]), ("d", "rb", "db", GATEWAYS[1])):
        lines.append(f"$IP -n aql-r addr add {gateway}/32 dev {mine}")
        lines.append(f"$IP -n aql-{end} route add {gateway}/32 dev {theirs}")
        lines.append(_neighbour(end, gateway, theirs, mine))
    for group in setting.groups:
        for host, mine, theirs in ((1, "ra", "sa"), (2, "rb", "db")):
            address = f"10.77.{group.number}.{host}"
            lines.append(f"$IP -n aql-r route add {address}/32 dev {mine}")
            lines.append(_neighbour("r", address, mine, theirs))
    link = replace(setting.plan.scenario.link(setting.plan.link), rate_bps=setting.rate_bps)
    lines.append(f"must $R tc qdisc add dev rb root handle 1: {shaper_of(link, burst=options.burst)}")
    lines.append(f"must $R tc qdisc add dev rb parent 1:1 handle {HANDLE} {setting.qdisc.text}")
    lines += [f"must $R tc {one.replace(' dev DEV ', ' dev rb ', 1)}" for one in setting.qdisc.below]
    return lines + _delays(setting.groups)


def _neighbour(end: str, address: str, dev: str, peer: str) -> str:
    """Write the permanent neighbour entry of an address at the other end of a device."""
    return f"must $IP -n aql-{end} neigh add {address} lladdr {MACS[peer]} dev {dev} nud permanent"


def _aside(setting: Setting) -> list[str]:
    """Write the pair of devices that iperf3's connections without data go over, known by the ports of their ends."""
    servers = f"{PORT}-{PORT + len(setting.clients) - 1}"
    chosen = "{}-{}".format(*CHOSEN_PORTS)
    lines = [
        f"must $IP link add sc address {MACS['sc']} netns aql-s type veth peer name dc address {MACS['dc']} netns aql-d"
    ]
    for end, host, dev, other, ports in (
        ("s", 2, "sc", "dc", f"sport {chosen} dport {servers}"),
        ("d", 1, "dc", "sc", f"sport {servers} dport {chosen}"),
    ):
        # Answers to these come from where the main table would not send.
        settings = {"conf/all/rp_filter": "0", f"conf/{dev}/rp_filter": "0"}
        settings["ip_local_port_range"] = "{} {}".format(*CHOSEN_PORTS)
        for name, value in settings.items():
            lines.append(f"must $IP netns exec aql-{end} sh -c 'echo {value} > /proc/sys/net/ipv4/{name}'")
        lines.append(f"$IP -n aql-{end} link set {dev} up")
        lines += [_neighbour(end, f"10.77.{group.number}.{host}", dev, other) for group in setting.groups]
        lines.append(f"must $IP -n aql-{end} route add default dev {dev} table 100")
        lines.append(f"must $IP -n aql-{end} rule add ipproto 6 {ports} lookup 100")
    return lines


def _greetings(setting: Setting, options: Options) -> list[str]:
    """Write that the greetings of UDP flows go aside too; ports do not tell them from data, their length does.

    A kernel without these modules sends them through the bottleneck.
    """
    if options.in_userspace or not any(group.is_udp for group in setting.groups):
        return []
    greets = f"protocol ip u32 match ip protocol 17 0xff match u16 {GREETING} 0xffff at 2"
    redirects = f"action skbmod set dmac {MACS['dc']} pipe action mirred egress redirect dev sc"
    return [
        "$S tc qdisc add dev sa clsact 2> /dev/null &&",
        f"  $S tc filter add dev sa egress {greets} {redirects} 2> /dev/null",
    ]


def _markers(setting: Setting) -> list[str]:
    """Write the policers: packets are sent with the code point of what conforms, and those that exceed lose it.

    A policer counts Ethernet's header too, so that its rate is as much higher for full packets.
    """
    lines = [] if not setting.policers else ["$S tc qdisc add dev sa clsact 2> /dev/null"]
    for one in setting.policers:
        rate, burst = (value * FULL_FRAME // (FULL_FRAME - ETHERNET) for value in (int(one.rate_bps), one.burst_bytes))
        lines.append(
            f"must $S tc filter add dev sa egress protocol ip prio 60000 u32 match ip src 10.77.{one.group}.1/32 "
            f"action police rate {rate}bit burst {burst} conform-exceed "
            + ("drop/ok" if one.red is None else f"pipe/ok {_rewrite(one.red)}")
        )
    return lines


def _rewrite(code_point: int) -> str:
    """Write the actions that give a packet a code point."""
    return f"action pedit ex munge ip dsfield set {code_point << 2:#x} retain 0xfc pipe action csum ip4h"


def _netem(delay_s: float) -> str:
    return f"netem delay {delay_s * 1e6:.0f}us limit {WAITING}"


def _delays(groups: Sequence[Group]) -> list[str]:
    """Write the way back: one delay, or one for each group."""
    if all(group.delay_s == 0 for group in groups):
        return []
    if len({group.delay_s for group in groups}) == 1:
        return [f"must $R tc qdisc add dev ra root handle 2: {_netem(groups[0].delay_s)}"]
    lines = ["must $R tc qdisc add dev ra root handle 2: htb default 1"]
    for group in groups:
        own = group.number
        lines.append(f"must $R tc class add dev ra parent 2: classid 2:{own:x} htb rate 10gbit quantum 60000")
        lines.append(f"must $R tc qdisc add dev ra parent 2:{own:x} {_netem(group.delay_s)}")
        lines.append(
            f"must $R tc filter add dev ra parent 2: protocol ip u32 match ip dst 10.77.{own}.1/32 flowid 2:{own:x}"
        )
    return lines


def _ends(setting: Setting, options: Options) -> list[str]:
    """Write addresses and routes: a group is known by its addresses, and its routes carry its own settings."""
    lines = []
    for n, dev in (("s", "sa"), ("d", "db")):
        if not options.gso:
            lines.append(f"must $IP -n aql-{n} link set {dev} gso_max_segs 1")
        lines += [f"must $IP netns exec aql-{n} sysctl -q -w {one}" for one in options.settings]
    for group in setting.groups:
        mine, peer = f"10.77.{group.number}.1", f"10.77.{group.number}.2"
        kind = "" if group.transport == "udp" else f" congctl {group.transport}"
        kind += " features ecn" if group.ecn else ""
        kind += f" advmss {group.advmss}" if group.advmss else ""
        kind += f" hoplimit {group.ttl}" if group.ttl != USUAL_TTL else ""
        lines.append(f"$IP -n aql-s addr add {mine}/32 dev sa")
        lines.append(f"$IP -n aql-d addr add {peer}/32 dev db")
        there, back = ("", "") if options.in_userspace else (f" via {GATEWAYS[0]}", f" via {GATEWAYS[1]}")
        lines.append(f"must $IP -n aql-s route add {peer}/32{there} dev sa src {mine}{kind}")
        lines.append(f"must $IP -n aql-d route add {mine}/32{back} dev db src {peer}{kind}")
    return lines


def _traffic(setting: Setting, options: Options) -> list[str]:
    """Write servers, clients and echoes; each client waits for its start and reports what both ends counted."""
    lines = [f"$D iperf3 -s -1 -J -p {PORT + at} > /dev/null 2>&1 &" for at in range(len(setting.clients))]
    port = DATA_PORT
    for at, client in enumerate(setting.clients):
        lines.append(_client(at, client, setting, port))
        port += len(client.names)
    if options.ping_interval_s > 0:
        first = setting.groups[0].number
        count = int(setting.duration_s / options.ping_interval_s)
        lines.append(
            f"(sleep {GRACE_S}; $S ping -c {count} -i {options.ping_interval_s:g} -I 10.77.{first}.1 10.77.{first}.2 "
            '> "$WORK/ping" 2>&1) &'
        )
    finish = ["finish() {"]
    for at in range(len(setting.clients)):
        finish.append(f'  report ended "{{\\"client\\":{at},\\"ms\\":$(($(cat "$WORK/ended{at}") - T0))}}"')
        finish.append(f'  report client "$(tr -d "\\n\\t" < "$WORK/client{at}")"')
    if options.ping_interval_s > 0:
        finish.append(
            '  sed -n \'s/.*seq=\\([0-9]*\\).*time=\\([0-9.]*\\).*/{"kind":"ping","seq":\\1,"rtt_ms":\\2}/p\' '
            '"$WORK/ping" >&3'
        )
    if options.sample_interval_s > 0 and not options.in_userspace:
        finish.append(f"  {_packed('backlog')}")
    if options.module is not None:
        finish.append("  remove_module")
    finish.append('  rm -rf "$WORK"')
    return [*lines, *finish, "}", f"sleep {GRACE_S}"]


def _client(at: int, client: Client, setting: Setting, port: int) -> str:
    group = next(group for group in setting.groups if group.number == client.group)
    words = [
        f"iperf3 -c 10.77.{group.number}.2 -B 10.77.{group.number}.1 -p {PORT + at} --cport {port}",
        f"-t {client.length_s} -i 1 -J --get-server-output -P {len(client.names)}",
    ]
    if group.is_udp:
        payload_bps = group.rate_bps * group.payload / (group.payload + IP_AND_UDP)
        words.append(f"-u -b {payload_bps:.0f} -l {group.payload} --pacing-timer {PACING_US}")
    else:
        words.append(f"-C {group.transport}")
    if group.dscp:
        words.append(f"--dscp {group.dscp}")
    command = f"timeout {client.length_s + PATIENCE_S} $S {' '.join(words)}"
    wait = f"sleep {GRACE_S + client.start_s:.3f}"
    ended = f'clock; echo $up > "$WORK/ended{at}"; [ -s "$WORK/client{at}" ] || echo "{GIVEN_UP}" > "$WORK/client{at}"'
    return f'({wait}; {command} > "$WORK/client{at}" 2> /dev/null; {ended}) &\nCLIENTS="$CLIENTS $!"'
