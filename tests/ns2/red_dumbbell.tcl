# One run of the MRED paper's network with RED in ns-2 2.35; prints one line of counters.
#
#     ns red_dumbbell.tcl FLOWS GENTLE UDP SEED
#
# FLOWS NewReno senders with delayed-ACK receivers over one 10 Mb/s link of 10 ms with RED in both directions, every
# host on its own 20 Mb/s link of 10 ms (left) or 15 ms (right); GENTLE, UDP: 0 or 1. UDP adds 10 Mb/s from 3 to
# 10 s and 1 Mb/s from 6 to 40 s. TCP starts are uniform in [0, 10 ms). Run SEED uses substream SEED of two streams:
# the default one (RED's draws, phases of the senders' clocks), and one for the starts.
# Output: arrivals drops departed_bytes mean_queue enqueue_events

if {$argc != 4} {
    puts stderr "usage: ns red_dumbbell.tcl FLOWS GENTLE UDP SEED"
    exit 2
}
lassign $argv flows gentle udp seed
set duration 50.0

set ns [new Simulator]
$defaultRNG seed 20020
set start_rng [new RNG]
for {set i 0} {$i < $seed} {incr i} {
    $defaultRNG next-substream
    $start_rng next-substream
}

Queue/RED set thresh_ 10
Queue/RED set maxthresh_ 30
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002
Queue/RED set mean_pktsize_ 1000
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set wait_ true
Queue/RED set gentle_ $gentle
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 10000

# One monitor counts the arrivals at every queue of the network.
set everywhere [new QueueMonitor]

proc one_way {from to rate delay kind limit} {
    global ns everywhere
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
    [$ns link $from $to] attach-monitors [new SnoopQueue/In] [new SnoopQueue/Out] [new SnoopQueue/Drop] $everywhere
}

proc both_ways {a b rate delay kind limit} {
    one_way $a $b $rate $delay $kind $limit
    one_way $b $a $rate $delay $kind $limit
}

set r1 [$ns node]
set r2 [$ns node]
both_ways $r1 $r2 10Mb 10ms RED 100
set monitor [$ns monitor-queue $r1 $r2 ""]

for {set i 0} {$i < $flows + 2 * $udp} {incr i} {
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

proc constant_rate {i rate start stop} {
    global ns left right
    set sender [new Agent/UDP]
    set receiver [new Agent/Null]
    $sender set packetSize_ 1000
    $ns attach-agent $left($i) $sender
    $ns attach-agent $right($i) $receiver
    $ns connect $sender $receiver
    set app [new Application/Traffic/CBR]
    $app set packetSize_ 1000
    $app set rate_ $rate
    $app attach-agent $sender
    $ns at $start "$app start"
    $ns at $stop "$app stop"
}
if {$udp} {
    constant_rate $flows 10Mb 3.0 10.0
    constant_rate [expr {$flows + 1}] 1Mb 6.0 40.0
}

proc finish {} {
    global ns monitor everywhere duration
    set area [$monitor get-pkts-integrator]
    $area newpoint $duration [$monitor set pkts_]
    puts [join [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set bdepartures_] \
        [format %.9g [expr {[$area set sum_] / $duration}]] [$everywhere set parrivals_]]]
    exit 0
}
$ns at $duration finish
$ns run
