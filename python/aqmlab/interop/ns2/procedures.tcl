# ---------------------------------------------------------------------------------------------------------------------
# Procedures; the scenario stands below them.

# Run `seed` has substream `seed` of two generators: ns-2's own (RED's draws, the phases of the senders' clocks), and one
# for all that the scenario leaves to chance.
set ns [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
$defaultRNG seed 20020
set rng [new RNG]
for {set i 0} {$i < $seed} {incr i} {
    $defaultRNG next-substream
    $rng next-substream
}

# A number of a distribution: uniform LOW HIGH, exponential MEAN, pareto MEAN SHAPE, or the number itself.
proc draw {distribution} {
    global rng
    set u [$rng uniform 0 1]
    lassign $distribution kind a b
    switch $kind {
        uniform     { return [expr {$a + $u * ($b - $a)}] }
        exponential { return [expr {-$a * log(1 - $u)}] }
        pareto      { return [expr {$a * ($b - 1) / $b * pow(1 - $u, -1.0 / $b)}] }
        default     { return $kind }
    }
}

# Whole packets of a number of bytes that is drawn, at least one.
proc packets {payload distribution} {
    set n [expr {int(ceil([draw $distribution] / double($payload)))}]
    return [expr {$n > 1 ? $n : 1}]
}

proc node_named {name} {
    global ns node
    if {![info exists node($name)]} {
        set node($name) [$ns node]
    }
    return $node($name)
}

# Sets variables of a class (Queue/RED) or an object.
proc configure {what settings} {
    foreach {variable value} $settings {
        $what set $variable $value
    }
}

# A one-way link (bit/s, s) with a queue that is described in the array `queue`: class, limit_, variables.
proc link {name from to rate delay kind} {
    global ns queue ends
    lassign $queue($kind) discipline limit settings
    configure Queue/$discipline $settings
    set ends($name) [list [node_named $from] [node_named $to]]
    $ns simplex-link {*}$ends($name) $rate $delay $discipline
    $ns queue-limit {*}$ends($name) $limit
}

# The way of a flow, and of its answers, where ns-2 would not find these by itself.
proc route {nodes} {
    global ns
    set last [node_named [lindex $nodes end]]
    for {set i 0} {$i + 1 < [llength $nodes]} {incr i} {
        set here [node_named [lindex $nodes $i]]
        set next [node_named [lindex $nodes [expr {$i + 1}]]]
        $here add-route [$last id] [[$ns link $here $next] head]
    }
}

# A TCP flow. `kind` is an entry of `sender` and `receiver`: class, variables. `size` is in packets, -1 without end; data
# ends at `stop` (-1: never), and `again` lists further times of begin and end.
proc tcp {name group kind from to start size stop {again {}}} {
    global ns sender receiver flows agent
    set t [new [lindex $sender($kind) 0]]
    set k [new [lindex $receiver($kind) 0]]
    configure $t [lindex $sender($kind) 1]
    configure $k [lindex $receiver($kind) 1]
    $ns attach-agent [node_named $from] $t
    $ns attach-agent [node_named $to] $k
    $ns connect $t $k
    set agent($name) $t
    lappend flows($group) $k
    $t set fid_ [llength [array names agent]]
    set ftp [new Application/FTP]
    $ftp attach-agent $t
    if {$size < 0} {
        $ns at $start "$ftp start"
    } else {
        $ns at $start "$ftp send [expr {$size * [$t set packetSize_]}]"
    }
    if {$stop >= 0} {
        $ns at $stop "$ftp stop"
    }
    foreach {begin end} $again {
        $ns at $begin "$ftp start"
        $ns at $end "$ftp stop"
    }
}

# The phase of a sender's coarse clock (s) and its first ssthresh (packets; -1: its window), which ns-2 sets when the
# simulation begins. The phase is drawn on [0, tick) at a reset: a wanted one is had by scaling the tick for a moment.
proc at_reset {name phase ssthresh} {
    global ns
    $ns at 0.0 [list set_up $name $phase $ssthresh]
}
proc set_up {name phase ssthresh} {
    global agent defaultRNG seed
    set t $agent($name)
    if {$phase >= 0} {
        set tick [$t set tcpTick_]
        $defaultRNG seed [expr {$seed + 1}]
        set u [$defaultRNG uniform 0 1]
        $defaultRNG seed [expr {$seed + 1}]
        $t set tcpTick_ [expr {$phase / $u}]
        $t reset
        $t set tcpTick_ $tick
    }
    if {$ssthresh >= 0} {
        $t set ssthresh_ $ssthresh
    }
}

# A UDP flow: bit/s, bytes of a packet (or a distribution and its mean), pattern, times of begin and end (-1: never).
proc udp {name group from to rate bytes mean pattern periods} {
    global ns flows
    set u [new Agent/UDP]
    set k [new Agent/LossMonitor]
    $u set packetSize_ 65000
    $ns attach-agent [node_named $from] $u
    $ns attach-agent [node_named $to] $k
    $ns connect $u $k
    lappend flows($group) $k
    if {$pattern eq "constant" && [llength $bytes] == 1} {
        set app [new Application/Traffic/CBR]
        $app set packetSize_ $bytes
        $app set rate_ $rate
        $app attach-agent $u
        start_and_stop $app $periods
        return
    }
    set interval [expr {$mean * 8.0 / $rate}]
    if {$pattern eq "poisson" && [llength $bytes] == 1} {
        # Bursts of one packet, which take no time, and silences.
        set app [new Application/Traffic/Exponential]
        configure $app [list packetSize_ $bytes rate_ 1e12 burst_time_ 0 idle_time_ $interval]
        $app attach-agent $u
        start_and_stop $app $periods
        return
    }
    foreach {begin end} $periods {
        $ns at $begin [concat begin_$pattern [list $u $bytes $interval $end]]
    }
}

proc start_and_stop {app periods} {
    global ns
    foreach {begin end} $periods {
        $ns at $begin "$app start"
        if {$end >= 0} {
            $ns at $end "$app stop"
        }
    }
}

# Constant rate with packets of drawn lengths.
proc begin_constant {u bytes interval end} {
    send_packet begin_constant $u $bytes $interval $end $interval
}
# Poisson: the gap before the first packet is drawn too.
proc begin_poisson {u bytes interval end} {
    global ns
    $ns at [expr {[$ns now] + [draw [list exponential $interval]]}] [list go_on_poisson $u $bytes $interval $end]
}
proc go_on_poisson {u bytes interval end} {
    send_packet go_on_poisson $u $bytes $interval $end [draw [list exponential $interval]]
}
proc send_packet {next u bytes interval end gap} {
    global ns
    if {$end >= 0 && [$ns now] >= $end} {
        return
    }
    $u send [expr {int([draw $bytes] + 0.5)}]
    $ns at [expr {[$ns now] + $gap}] [concat $next [list $u $bytes $interval $end]]
}
# Bursts: a burst of `on` seconds is that many packets at the bit rate, the next one begins an interval and `off` later.
proc begin_bursts {on off u bytes interval end} {
    set n [expr {int([draw $on] / $interval + 0.5)}]
    burst $on $off [expr {$n > 1 ? $n : 1}] $u $bytes $interval $end
}
proc burst {on off left u bytes interval end} {
    global ns
    if {$left > 1} {
        send_packet [list burst $on $off [expr {$left - 1}]] $u $bytes $interval $end $interval
    } else {
        send_packet [list begin_bursts $on $off] $u $bytes $interval $end [expr {$interval + [draw $off]}]
    }
}

# From now on a link has another rate (bit/s) or delay (s); -1 leaves it.
proc change {at name rate delay} {
    global ns
    $ns at $at [list set_link $name $rate $delay]
}
proc set_link {name rate delay} {
    global ns ends busy
    if {[info exists busy($name)]} {
        account $name
    }
    set l [[$ns link {*}$ends($name)] link]
    if {$rate >= 0} {
        $l set bandwidth_ $rate
    }
    if {$delay >= 0} {
        $l set delay_ $delay
    }
}

# Measures a link and all flows from `warmup` on; prints at the end.
proc measure {names} {
    global ns ends monitor warmup duration
    foreach name $names {
        set monitor($name) [$ns monitor-queue {*}$ends($name) ""]
        $monitor($name) set-delay-samples [new Samples]
    }
    $ns at $warmup begin_measuring
    $ns at $duration finish
}
# Seconds that the link has been sending what it took from the queue since the last time.
proc account {name} {
    global ns ends monitor busy sent
    set bytes [$monitor($name) set bdepartures_]
    set rate [[[$ns link {*}$ends($name)] link] set bandwidth_]
    set busy($name) [expr {$busy($name) + ($bytes - $sent($name)) * 8.0 / $rate}]
    set sent($name) $bytes
}
# Packets offered, dropped, marked; packets waiting, summed over time.
proc counters {name} {
    global ns monitor
    set m $monitor($name)
    set area [$m get-pkts-integrator]
    $area newpoint [$ns now] [$m set pkts_]
    return [list [$m set parrivals_] [$m set pdrops_] [$m set pmarks_] [$area set sum_]]
}
proc begin_measuring {} {
    global monitor flows before sent busy
    foreach name [array names monitor] {
        set before($name) [counters $name]
        [$monitor($name) get-delay-samples] reset
        set sent($name) [$monitor($name) set bdepartures_]
        set busy($name) 0.0
    }
    foreach group [array names flows] {
        foreach sink $flows($group) {
            set before($sink) [$sink set bytes_]
        }
    }
}
proc share {part whole} {
    if {$whole == 0} {
        return nan
    }
    return [expr {$part / double($whole)}]
}
proc finish {} {
    global monitor flows before busy warmup duration
    set seconds [expr {$duration - $warmup}]
    foreach group [lsort [array names flows]] {
        set bytes 0
        foreach sink $flows($group) {
            # The counter has 32 bits.
            set more [expr {[$sink set bytes_] - $before($sink)}]
            set bytes [expr {$bytes + ($more < 0 ? $more + 4294967296 : $more)}]
        }
        puts "goodput_bps $group [format %.12g [expr {$bytes * 8.0 / $seconds}]]"
    }
    foreach name [lsort [array names monitor]] {
        account $name
        lassign $before($name) arrivals drops marks area
        lassign [counters $name] arrivals2 drops2 marks2 area2
        puts "utilization $name [format %.12g [expr {$busy($name) / $seconds}]]"
        puts "loss $name [share [expr {$drops2 - $drops}] [expr {$arrivals2 - $arrivals}]]"
        puts "marks $name [share [expr {$marks2 - $marks}] [expr {$arrivals2 - $arrivals}]]"
        puts "mean_queue $name [format %.12g [expr {($area2 - $area) / $seconds}]]"
        set delays [$monitor($name) get-delay-samples]
        if {[$delays cnt] > 0} {
            puts "mean_delay_s $name [$delays mean]"
        }
    }
    exit 0
}
# ---------------------------------------------------------------------------------------------------------------------
