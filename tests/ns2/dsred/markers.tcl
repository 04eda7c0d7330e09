# Runs one DiffServ marker of ns-2 2.35 over UDP traffic; shows the colour of every packet.
#
#     ns markers.tcl SPEC OUT
#
# SPEC is a Tcl file of the commands `seed`, `policy`, `constant`, `on_off`, `stop_at` (below). OUT is a NAM trace, whose
# times are not rounded. ns-2 writes no code point anywhere; hence a sieve: behind the marked queue two links follow,
# the first of which drops all red packets and the second all yellow ones.
#
#     source --100 Mb/s-- edge ==marked queue== core ~~drops red~~ behind ~~drops yellow~~ receiver
#
# In OUT: `+` on edge -> core is the arrival at the marker, `d` on core -> behind means red, `d` on behind -> receiver
# yellow, any other packet is green. Two-colour markers have green and red.

lassign $argv spec_file out
set ns [new Simulator]
set trace [open $out w]

set source [$ns node]
set edge [$ns node]
set core [$ns node]
set behind [$ns node]
set receiver [$ns node]

Queue set limit_ 100000
$ns simplex-link $source $edge 100Mb 1ms DropTail
$ns simplex-link $edge $core 1000Mb 1ms dsRED/edge
$ns simplex-link $core $behind 1000Mb 1ms dsRED/core
$ns simplex-link $behind $receiver 1000Mb 1ms dsRED/core
foreach {a b} [list $edge $core $core $behind $behind $receiver] {
    $ns namtrace-queue $a $b $trace
}

# One physical queue of three classes; a class "passes" or has no room at all.
proc classes {from to red yellow green} {
    global ns
    set queue [[$ns link $from $to] queue]
    $queue set numQueues_ 1
    $queue setNumPrec 3
    $queue meanPktSize 1000
    $queue setMREDMode DROP
    foreach {class room} [list 0 $green 1 $yellow 2 $red] {
        $queue addPHBEntry [expr {10 + $class}] 0 $class
        $queue configQ 0 $class [expr {$room eq "passes" ? 100000 : 0}] 100000 1
    }
    return $queue
}
set marked [classes $edge $core passes passes passes]
classes $core $behind dropped passes passes
classes $behind $receiver dropped dropped passes

# The default generator serves the marker alone: the traffic has its own.
proc seed {n} {
    global defaultRNG traffic_rng
    $defaultRNG seed $n
    set traffic_rng [new RNG]
    $traffic_rng seed [expr {$n + 1000000}]
}

# As in `addPolicyEntry`: rates in bit/s, sizes in bytes. `colors`: 2 or 3.
proc policy {kind colors args} {
    global marked source receiver
    eval [list $marked addPolicyEntry [$source id] [$receiver id] $kind 10] $args
    if {$colors == 2} {
        $marked addPolicerEntry $kind 10 12
    } else {
        $marked addPolicerEntry $kind 10 11 12
    }
}

proc sender {bytes application start} {
    global ns source receiver
    set udp [new Agent/UDP]
    set sink [new Agent/Null]
    $udp set packetSize_ $bytes
    $ns attach-agent $source $udp
    $ns attach-agent $receiver $sink
    $ns connect $udp $sink
    $application set packetSize_ $bytes
    $application attach-agent $udp
    $ns at $start "$application start"
}

proc constant {rate bytes start} {
    set app [new Application/Traffic/CBR]
    $app set rate_ $rate
    sender $bytes $app $start
}

# Exponential times on and off (means, in seconds); `rate` while on.
proc on_off {rate bytes on off start} {
    global traffic_rng
    set app [new Application/Traffic/Exponential]
    $app set rate_ $rate
    $app set burst_time_ $on
    $app set idle_time_ $off
    $app use-rng $traffic_rng
    sender $bytes $app $start
}

proc stop_at {t} {
    global ns
    $ns at $t finish
}

proc finish {} {
    global ns trace
    $ns flush-trace
    close $trace
    exit 0
}

source $spec_file
$ns run
