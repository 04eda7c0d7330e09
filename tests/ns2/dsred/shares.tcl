# One run of a coupled queue (RIO-C) behind a marking edge in ns-2 2.35's DiffServ module; prints counters of the queue.
#
#     ns shares.tcl KIND SEED
#
#     sources --100 Mb/s 5 ms-- E1 --100 Mb/s 5 ms-- C1 ==10 Mb/s 5 ms== E2 --100 Mb/s 5 ms-- receiver
#
# E1 marks each assured flow by a token bucket: "in" (10) inside its profile, "out" (11) outside and for best effort.
#   poisson: 60 s; two assured flows of 3.5 Mb/s (3 Mb/s and 10,000 B in profile) and two best-effort flows of 2 Mb/s,
#            Poisson packets of 1000 B
#   tcp:     100 s; one assured Reno flow (4 Mb/s and 25,000 B in profile) and four best-effort ones, all greedy, starts
#            uniform in [0, 1 s)
# Run SEED uses substream SEED of two streams: the default one (the queue's draws, phases of the senders' clocks), and one
# for the traffic.
# Output: in: arrivals forced early, out: the same (forced: with overflow); bytes whose transmission began

lassign $argv kind seed
set ns [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags
$defaultRNG seed 20020
set traffic_rng [new RNG]
for {set i 0} {$i < $seed} {incr i} {
    $defaultRNG next-substream
    $traffic_rng next-substream
}
if {$kind eq "poisson"} {
    set seconds 60.0
    set assured {3.5e6 3.5e6}
    set others {2e6 2e6}
    set profile {3e6 10000}
    set classes {{6 30 0.1 0.02} {5 20 0.3 0.02}}
    set limit 100
} else {
    set seconds 100.0
    set assured {greedy}
    set others {greedy greedy greedy greedy}
    set profile {4e6 25000}
    set classes {{30 60 0.02 0.002} {10 30 0.1 0.002}}
    set limit 200
}

foreach name {e1 c1 e2 receiver} {
    set $name [$ns node]
}
Queue set limit_ 1000
$ns simplex-link $e1 $c1 100Mb 5ms dsRED/edge
$ns simplex-link $c1 $e2 10Mb 5ms dsRED/core
$ns queue-limit $c1 $e2 $limit
$ns simplex-link $c1 $e1 100Mb 5ms DropTail
$ns simplex-link $e2 $c1 10Mb 5ms DropTail
$ns duplex-link $e2 $receiver 100Mb 5ms DropTail

set edge [[$ns link $e1 $c1] queue]
set core [[$ns link $c1 $e2] queue]
foreach queue [list $edge $core] {
    $queue set numQueues_ 1
    $queue setNumPrec 2
    $queue meanPktSize 1000
    $queue setMREDMode RIO-C
    $queue addPHBEntry 10 0 0
    $queue addPHBEntry 11 0 1
}
foreach class {0 1} {
    eval [list $edge configQ 0 $class] 900 950 1 0.0001
    eval [list $core configQ 0 $class] [lindex $classes $class]
}
$edge addPolicerEntry TokenBucket 10 11
$edge addPolicerEntry Null 11

proc flow {traffic policy} {
    global ns e1 receiver edge traffic_rng
    set source [$ns node]
    $ns duplex-link $source $e1 100Mb 5ms DropTail
    eval [list $edge addPolicyEntry [$source id] [$receiver id]] $policy
    if {$traffic eq "greedy"} {
        set sender [new Agent/TCP/Reno]
        set sink [new Agent/TCPSink]
        $sender set window_ 1000
        set app [new Application/FTP]
        set start [$traffic_rng uniform 0 1]
    } else {
        set sender [new Agent/UDP]
        set sink [new Agent/Null]
        set app [new Application/Traffic/Exponential]
        $app set packetSize_ 1000
        $app set rate_ 1e12
        $app set burst_time_ 0
        $app set idle_time_ [expr {8000 / $traffic}]
        $app use-rng $traffic_rng
        set start 0
    }
    $sender set packetSize_ 1000
    $ns attach-agent $source $sender
    $ns attach-agent $receiver $sink
    $ns connect $sender $sink
    $app attach-agent $sender
    $ns at $start "$app start"
}
foreach traffic $assured {
    flow $traffic [concat TokenBucket 10 $profile]
}
foreach traffic $others {
    flow $traffic {Null 11}
}

set monitor [$ns monitor-queue $c1 $e2 ""]
$ns at $seconds {
    set numbers {}
    foreach cp {10 11} {
        foreach what {pkts drops edrops} {
            lappend numbers [expr {int([$core getStat $what $cp])}]
        }
    }
    puts "$numbers [$monitor set bdepartures_]"
    exit 0
}
$ns run
