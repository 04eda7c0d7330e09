# DDRED's flower and PC-RED's torus with plain RED: transfers between the hosts of a network of routers.
#
# `links`: a file with the columns from, to, rate (bit/s), delay (s), queue (DropTail or RED), limit (packets).
# `transfers`: from, to, packets (-1: endless), start (s).
# Without `red`, RED is as ns-2 comes; else a comma-separated list of names and values.

source [file join [file dirname [info script]] common.tcl]
parameters {links "" transfers "" seconds 1000 variant Newreno payload 1000 window 20 red "" count 0}
simulator
defaults Queue/RED [split $p(red) ,]
defaults Agent/TCP [list packetSize_ $p(payload) window_ $p(window)]

foreach row [rows $p(links)] {
    lassign $row from to rate delay queue limit
    foreach name [list $from $to] {
        if {![info exists node($name)]} { set node($name) [$ns node] }
    }
    one_way $node($from) $node($to) $rate $delay $queue $limit
}
foreach row [rows $p(transfers)] {
    lassign $row from to packets start
    transfer $p(variant) $node($from) $node($to) $start $packets
}
measure $p(seconds) $p(count)
