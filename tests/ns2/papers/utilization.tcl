# Adaptive-RIO, Figure 2: greedy best-effort flows alone, over plain RED at the core.
#
#     sources --100 Mb/s 5 ms-- E1 --100 Mb/s 5 ms-- C1 ==10 Mb/s 5 ms== E2 --100 Mb/s 5 ms-- receiver
#
# `starts`: a file of one column, the starts of the flows in seconds. Reno, classic RED in packets with wait, min_th a
# third of max_th.

source [file join [file dirname [info script]] common.tcl]
parameters {seed 1 starts "" max_th 30 seconds 100 warmup 20 limit 400 payload 1000 window 1000 variant Reno}
simulator $p(seed)
foreach {name value} [list thresh_ [expr {$p(max_th) / 3.0}] maxthresh_ $p(max_th) linterm_ 10 q_weight_ 0.002 \
    mean_pktsize_ 1000 bytes_ false queue_in_bytes_ false gentle_ false wait_ true] {
    Queue/RED set $name $value
}

foreach name {e1 c1 e2 receiver} {
    set $name [$ns node]
}
one_way $c1 $e2 10Mb 5ms RED $p(limit)
one_way $e2 $c1 10Mb 5ms DropTail 1000
foreach {a b} [list $e1 $c1 $c1 $e1 $e2 $receiver $receiver $e2] {
    one_way $a $b 100Mb 5ms DropTail 1000
}
foreach row [rows $p(starts)] {
    set source [$ns node]
    one_way $source $e1 100Mb 5ms DropTail 1000
    one_way $e1 $source 100Mb 5ms DropTail 1000
    transfer $p(variant) $source $receiver [lindex $row 0] -1 $p(payload) $p(window)
}
set monitor [$ns monitor-queue $c1 $e2 ""]
$ns at $p(warmup) {set before [counters $monitor]}
$ns at $p(seconds) {
    print_between $before [counters $monitor] [expr {$p(seconds) - $p(warmup)}]
    exit 0
}
$ns run
