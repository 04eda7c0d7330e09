# Runs one queue of ns-2 2.35's DiffServ module with coupled averages (RIO-C) under UDP traffic.
#
#     ns queue.tcl SPEC OUT
#
# SPEC is a Tcl file of the commands `seed`, `core`, `mode`, `class`, `on_off`, `stop_at` (below). Traffic of a class comes from a
# host of its own and gets its code point at the edge. OUT is a NAM trace of the link core -> receiver: `+` arrival, `-`
# transmission starts, `d` dropped; `-c` is the class. Prints the module's counters at the end, one line a class:
# class arrivals drops early-drops.
#
#     host of class i --97.3 Mb/s-- edge --1 Gb/s-- core ==queue== receiver

lassign $argv spec_file out
set ns [new Simulator]
set trace [open $out w]
set edge [$ns node]
set core [$ns node]
set receiver [$ns node]

# The default generator serves the queue alone: the traffic has its own.
proc seed {n} {
    global defaultRNG traffic_rng
    $defaultRNG seed $n
    set traffic_rng [new RNG]
    $traffic_rng seed [expr {$n + 1000000}]
}

# bit/s, packets, bytes, number of classes
proc core {rate limit mean_packet classes} {
    global ns edge core receiver trace marked queue host number
    Queue set limit_ 100000
    $ns simplex-link $edge $core 1000Mb 1ms dsRED/edge
    $ns simplex-link $core $receiver $rate 1ms dsRED/core
    $ns queue-limit $core $receiver $limit
    $ns namtrace-queue $core $receiver $trace
    set marked [[$ns link $edge $core] queue]
    set queue [[$ns link $core $receiver] queue]
    foreach q [list $marked $queue] {
        $q set numQueues_ 1
        $q setNumPrec $classes
        $q meanPktSize $mean_packet
        $q setMREDMode RIO-C
    }
    $marked addPolicerEntry Null 10
    $marked addPolicerEntry Null 11
    $marked addPolicerEntry Null 12
    set number $classes
    for {set i 0} {$i < $classes} {incr i} {
        set host($i) [$ns node]
        $ns simplex-link $host($i) $edge 97.3Mb 1ms DropTail
        $marked configQ 0 $i 90000 95000 1 0.0001
        foreach q [list $marked $queue] {
            $q addPHBEntry [expr {10 + $i}] 0 $i
        }
        $marked addPolicyEntry [$host($i) id] [$receiver id] Null [expr {10 + $i}]
    }
}

# What the average measures: RIO-C, RIO-D, WRED.
proc mode {word} {
    global queue
    $queue setMREDMode $word
}

proc class {i min_th max_th max_p w_q} {
    global queue
    $queue configQ 0 $i $min_th $max_th $max_p $w_q
}

# Exponential times on and off (means, in seconds) of class i; `rate` (bit/s) while on.
proc on_off {i rate bytes on off start} {
    global ns host receiver traffic_rng
    set udp [new Agent/UDP]
    set sink [new Agent/Null]
    $udp set packetSize_ $bytes
    $udp set fid_ $i
    $ns attach-agent $host($i) $udp
    $ns attach-agent $receiver $sink
    $ns connect $udp $sink
    set app [new Application/Traffic/Exponential]
    $app set packetSize_ $bytes
    $app set rate_ $rate
    $app set burst_time_ $on
    $app set idle_time_ $off
    $app use-rng $traffic_rng
    $app attach-agent $udp
    $ns at $start "$app start"
}

proc stop_at {t} {
    global ns
    $ns at $t finish
}

proc finish {} {
    global ns trace queue number
    for {set i 0} {$i < $number} {incr i} {
        set cp [expr {10 + $i}]
        puts "$i [$queue getStat pkts $cp] [$queue getStat drops $cp] [$queue getStat edrops $cp]"
    }
    $ns flush-trace
    close $trace
    exit 0
}

source $spec_file
$ns run
