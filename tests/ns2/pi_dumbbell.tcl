# One run of the MRED paper's network with PI in ns-2 2.35; prints one line of counters.
#
#     ns pi_dumbbell.tcl FLOWS SEED
#
# FLOWS NewReno senders with delayed-ACK receivers over one 10 Mb/s link of 10 ms with PI in both directions, every
# host on its own 20 Mb/s link of 10 ms (left) or 15 ms (right). TCP starts are uniform in [0, 10 ms). Run SEED uses substream
# SEED of two streams: the default one (PI's draws, phases of the senders' clocks), and one for the starts. PI's gains are ten
# times those of ns-2's defaults, so that it has settled before half of the run.
# Output: arrivals drops departed_bytes mean_queue

if {$argc != 2} {
    puts stderr "usage: ns pi_dumbbell.tcl FLOWS SEED"
    exit 2
}
lassign $argv flows seed
set duration 50.0

set ns [new Simulator]
$defaultRNG seed 20020
set start_rng [new RNG]
for {set i 0} {$i < $seed} {incr i} {
    $defaultRNG next-substream
    $start_rng next-substream
}

Queue/PI set bytes_ false
Queue/PI set queue_in_bytes_ false
Queue/PI set a_ 0.0001822
Queue/PI set b_ 0.0001816
Queue/PI set w_ 170
Queue/PI set qref_ 30
Queue/PI set mean_pktsize_ 1000
Queue/PI set setbit_ false
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 10000

proc one_way {from to rate delay kind limit} {
    global ns
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
}

proc both_ways {a b rate delay kind limit} {
    one_way $a $b $rate $delay $kind $limit
    one_way $b $a $rate $delay $kind $limit
}

set r1 [$ns node]
set r2 [$ns node]
both_ways $r1 $r2 10Mb 10ms PI 100
set monitor [$ns monitor-queue $r1 $r2 ""]

for {set i 0} {$i < $flows} {incr i} {
    set left($i) [$ns node]
    set right($i) [$ns node]
    both_ways $left($i) $r1 20Mb 10ms DropTail 50
    both_ways $r2 $right($i) 20Mb 15ms DropTail 50
}

for {set i 0} {$i < $flows} {incr i} {
    set sender [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink/DelAck]
    $ns attach-agent $left($i) $sender
    $ns attach-agent $right($i) $receiver
    $ns connect $sender $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at [$start_rng uniform 0 0.01] "$ftp start"
}

proc finish {} {
    global monitor duration
    set area [$monitor get-pkts-integrator]
    $area newpoint $duration [$monitor set pkts_]
    puts [join [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set bdepartures_] \
        [format %.9g [expr {[$area set sum_] / $duration}]]]]
    exit 0
}
$ns at $duration finish
$ns run
