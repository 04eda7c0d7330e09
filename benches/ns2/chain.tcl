# CHAIN: a row of routers with RED in both directions of every link; 20 NewReno flows from end to end, 5 over each link.

source [file join [file dirname [info script]] common.tcl]
parameters {hops 9 seconds 20 long 20 short 5 count 0}
simulator
defaults Queue/RED {thresh_ 50 maxthresh_ 150 q_weight_ 0.002 linterm_ 10 gentle_ true bytes_ false
    queue_in_bytes_ false mean_pktsize_ 1000}
defaults Agent/TCP {packetSize_ 1000 window_ 20000 windowInit_ 10 minrto_ 0.2}

proc both_ways {a b rate delay kind limit} {
    one_way $a $b $rate $delay $kind $limit
    one_way $b $a $rate $delay $kind $limit
}

set routers [list [$ns node]]
for {set i 1} {$i <= $p(hops)} {incr i} {
    lappend routers [$ns node]
    both_ways [lindex $routers end-1] [lindex $routers end] 100e6 2ms RED 400
}

set flows 0
proc flow {first last delay} {
    global ns routers flows
    set source [$ns node]
    set sink [$ns node]
    both_ways $source [lindex $routers $first] 1e9 ${delay}ms DropTail 100000
    both_ways [lindex $routers $last] $sink 1e9 1ms DropTail 100000
    transfer Newreno $source $sink [expr {0.01 * $flows}] -1
    incr flows
}
for {set i 0} {$i < $p(long)} {incr i} { flow 0 $p(hops) [expr {1.0 + 0.25 * $i}] }
for {set link 0} {$link < $p(hops)} {incr link} {
    for {set i 0} {$i < $p(short)} {incr i} { flow $link [expr {$link + 1}] [expr {2.0 + $i}] }
}
measure $p(seconds) $p(count)
