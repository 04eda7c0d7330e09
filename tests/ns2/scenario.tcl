# Runs one drop-tail scenario in ns-2 2.35 and writes what happened at its links.
#
#     ns scenario.tcl SPEC OUT
#
# SPEC is a Tcl file of the commands defined below (written by goldens/driver.py). OUT gets
#   OUT.nam     events of the traced links in ns-2's NAM format: unlike the plain trace, times are not rounded
#   OUT.tcp     time-outs and fast retransmits ("E ..." lines of ns-2's event trace)
#   OUT.var.N   changes of the back-off multiplier of flow N's sender
#   OUT.count   one line per flow at the end: flow, time-outs, data packets sent, retransmissions, clock offset

if {$argc != 2} {
    puts stderr "usage: ns scenario.tcl SPEC OUT"
    exit 2
}
lassign $argv spec_file out

set ns [new Simulator]
set event_file [open $out.tcp w]
$ns eventtrace-all $event_file
set nam_file [open $out.nam w]
array set node {}
array set sender {}
array set offset {}

# Chooses the event list: "Calendar" (ns-2's default) or "List" (a sorted list, ties in order of insertion).
proc scheduler {kind} {
    global ns
    $ns use-scheduler $kind
}

proc node_named {name} {
    global ns node
    if {![info exists node($name)]} {
        set node($name) [$ns node]
    }
    return $node($name)
}

# A one-way link: bit/s, seconds, drop-tail limit_ in packets.
proc link {from to rate delay limit traced} {
    global ns nam_file
    set a [node_named $from]
    set b [node_named $to]
    $ns simplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $limit
    if {$traced} {
        $ns namtrace-queue $a $b $nam_file
    }
    global link_names
    lappend link_names [$a id] [$b id] $from $to
}

proc sender_class {variant} {
    switch $variant {
        tahoe   { return Agent/TCP }
        reno    { return Agent/TCP/Reno }
        newreno { return Agent/TCP/Newreno }
        sack    { return Agent/TCP/Sack1 }
    }
    error "unknown variant $variant"
}

proc sink_class {variant delayed} {
    set class Agent/TCPSink
    if {$variant eq "sack"} {
        append class /Sack1
    }
    if {$delayed} {
        append class /DelAck
    }
    return $class
}

# A TCP flow. `options` is a list of names and values:
#   variant from to start window payload header ack_size initial_window syn delayed_ack limited_transmit
#   min_rto max_rto initial_rto tick max_burst size (packets, -1: greedy) seed clock_offset (-1: as drawn)
proc tcp {flow options} {
    global ns sender out
    array set o $options
    set t [new [sender_class $o(variant)]]
    set k [new [sink_class $o(variant) [expr {$o(delayed_ack) > 0}]]]
    $ns attach-agent [node_named $o(from)] $t
    $ns attach-agent [node_named $o(to)] $k
    $ns connect $t $k
    $t set fid_ $flow
    $t set window_ $o(window)
    $t set packetSize_ $o(payload)
    $t set tcpip_base_hdr_size_ $o(header)
    $t set windowInit_ $o(initial_window)
    $t set syn_ $o(syn)
    $t set singledup_ $o(limited_transmit)
    $t set minrto_ $o(min_rto)
    $t set maxrto_ $o(max_rto)
    $t set rtxcur_init_ $o(initial_rto)
    $t set tcpTick_ $o(tick)
    $t set maxburst_ $o(max_burst)
    $k set packetSize_ $o(ack_size)
    if {$o(delayed_ack) > 0} {
        $k set interval_ $o(delayed_ack)
    }
    $t attach [open $out.var.$flow w]
    $t trace backoff_
    set sender($flow) $t
    $ns at 0.0 [list set_clock $flow $o(seed) $o(tick) $o(clock_offset)]
    set ftp [new Application/FTP]
    $ftp attach-agent $t
    if {$o(size) < 0} {
        $ns at $o(start) "$ftp start"
    } else {
        $ns at $o(start) "$ftp send [expr {$o(size) * $o(payload)}]"
    }
}

# A sender draws the phase of its coarse clock, uniform in [0, tick), once per reset. Seeding the generator
# just before makes the draw known; a wanted phase is had by scaling the tick for the moment of the reset.
proc set_clock {flow seed tick wanted} {
    global sender offset defaultRNG
    set t $sender($flow)
    $defaultRNG seed $seed
    set u [$defaultRNG uniform 0 1]
    $defaultRNG seed $seed
    if {$wanted >= 0} {
        $t set tcpTick_ [expr {$wanted / $u}]
        $t reset
        $t set tcpTick_ $tick
        set offset($flow) $wanted
    } else {
        $t reset
        set offset($flow) [format %.17g [expr {$tick * $u}]]
    }
}

# A constant bit rate flow over UDP: bit/s, bytes, seconds.
proc cbr {flow from to start stop rate bytes} {
    global ns
    set u [new Agent/UDP]
    set k [new Agent/Null]
    $ns attach-agent [node_named $from] $u
    $ns attach-agent [node_named $to] $k
    $ns connect $u $k
    $u set fid_ $flow
    $u set packetSize_ $bytes
    set app [new Application/Traffic/CBR]
    $app set packetSize_ $bytes
    $app set rate_ $rate
    $app attach-agent $u
    $ns at $start "$app start"
    $ns at $stop "$app stop"
}

proc finish {} {
    global out sender offset link_names
    set f [open $out.count w]
    foreach {a b from to} $link_names {
        puts $f "link $a $b $from $to"
    }
    foreach flow [lsort -integer [array names sender]] {
        set t $sender($flow)
        puts $f "flow $flow [$t set nrexmit_] [$t set ndatapack_] [$t set nrexmitpack_] $offset($flow)"
    }
    close $f
    exit 0
}

proc stop_at {t} {
    global ns
    $ns at $t finish
}

source $spec_file
$ns run
