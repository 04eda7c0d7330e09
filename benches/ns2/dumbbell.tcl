# D10M, D1G and many flows: NewReno over one RED bottleneck, every flow between hosts of its own.
#
# The access links of the first router have `delays` different delays, from `first` on by `step` (ms); flow i has that
# of number i * delays / flows. Starts are `every` seconds apart, or drawn within the first second if that is 0.

source [file join [file dirname [info script]] common.tcl]
parameters {flows 50 rate 10e6 access 100e6 seconds 500 min_th 20 max_th 60 limit 240 window 20000
    delays 50 first 2.0 step 0.2 every 0.02 count 0}
simulator
defaults Queue/RED [list thresh_ $p(min_th) maxthresh_ $p(max_th) q_weight_ 0.002 linterm_ 10 gentle_ true \
                        bytes_ false queue_in_bytes_ false mean_pktsize_ 1000]
defaults Agent/TCP [list packetSize_ 1000 window_ $p(window) windowInit_ 10 minrto_ 0.2]

# Routes are set by hand: those that ns-2 computes need a table of all nodes for each node.
$ns rtproto Manual
set left [$ns node]
set right [$ns node]
one_way $left $right $p(rate) 10ms RED $p(limit)
one_way $right $left $p(rate) 10ms DropTail 100000
set onward [[$ns link $left $right] head]
set backward [[$ns link $right $left] head]

proc host {router delay} {
    global ns p
    set host [$ns node]
    one_way $host $router $p(access) $delay DropTail 100000
    one_way $router $host $p(access) $delay DropTail 100000
    $router add-route [$host id] [[$ns link $router $host] head]
    return $host
}

set starts [new RandomVariable/Uniform]
for {set i 0} {$i < $p(flows)} {incr i} {
    set delay [expr {$p(first) + $p(step) * ($i * $p(delays) / $p(flows))}]ms
    set source [host $left $delay]
    set sink [host $right 2ms]
    $source add-route [$sink id] [[$ns link $source $left] head]
    $left add-route [$sink id] $onward
    $sink add-route [$source id] [[$ns link $sink $right] head]
    $right add-route [$source id] $backward
    transfer Newreno $source $sink [expr {$p(every) > 0 ? $p(every) * $i : [$starts value]}] -1
}
measure $p(seconds) $p(count)
