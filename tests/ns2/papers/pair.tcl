# DDRED, Table I, row RED: two greedy flows, one from two routers away and one from one.
#
# `starts`: a file of one column, the starts of the two flows in seconds.
#
#     PCs1 --latency-- R1 -- R2 -- PCd      10 Mb/s, 1 ms a link but PCs1 - R1; PCs2 is at R2
#
# Every queue of a router is RED as ns-2 comes: automatic thresholds and weight, bytes, gentle, wait. Senders' own queues
# are first in, first out. Prints the bytes that arrived at PCd from either source, in 1000 B a second with headers,
# and the loss in the queue to PCd.

source [file join [file dirname [info script]] common.tcl]
parameters {seed 1 starts "" latency 1ms seconds 10 variant Newreno window 10000 payload 1000 limit 50 mean 500 rate 10Mb uplink RED uplink_limit 50}
simulator $p(seed)
Queue/RED set mean_pktsize_ $p(mean)

foreach name {PCs1 PCs2 R1 R2 PCd} {
    set node($name) [$ns node]
}
foreach {a b delay} [list PCs1 R1 $p(latency) PCs2 R2 1ms] {
    one_way $node($a) $node($b) $p(rate) $delay $p(uplink) $p(uplink_limit)
    one_way $node($b) $node($a) $p(rate) $delay RED $p(limit)
}
one_way $node(R1) $node(R2) $p(rate) 1ms RED $p(limit)
one_way $node(R2) $node(R1) 10Mb 1ms RED $p(limit)
one_way $node(R2) $node(PCd) 10Mb 1ms RED $p(limit)
one_way $node(PCd) $node(R2) 10Mb 1ms DropTail 1000

foreach name {PCs1 PCs2} flow {1 2} row [rows $p(starts)] {
    lassign [transfer $p(variant) $node($name) $node(PCd) [lindex $row 0] -1 $p(payload) $p(window)] sender sink
    $sender set fid_ $flow
}
set by_flow [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $node(R2) $node(PCd)] $by_flow

# A packet whose transmission starts by then has arrived by the end.
set last_start [expr {$p(seconds) - 0.001 - ($p(payload) + 40) * 8 / 10e6}]
$ns at $last_start {
    foreach flow [$by_flow flows] {
        set name [lindex {- far near} [$flow set flowid_]]
        puts "${name}_KBps [format %.9g [expr {[$flow set bdepartures_] / 1000.0 / $p(seconds)}]]"
    }
}
$ns at $p(seconds) {
    puts "loss [format %.9g [expr {double([$by_flow set pdrops_]) / [$by_flow set parrivals_]}]]"
    exit 0
}
$ns run
