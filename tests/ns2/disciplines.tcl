# A queue of ns-2 under listed arrivals: ns disciplines.tcl SETTINGS ARRIVALS OUT
#
# SETTINGS sets `kind` (Vq, REM, SFQ, DRR), `rate` (bit/s), `flows`, `seconds`, `options` (of the queue) and `sample` (0: never).
# ARRIVALS has a line a packet: seconds, flow, bytes. OUT gets a line for each packet queued (+), dropped (d) or sent (-) with
# the number of the packet, and for each sample (p) with the probability.
foreach {settings arrivals out} $argv break
source $settings

set ns [new Simulator]
set trace [open $out.trace w]
set router [$ns node]
set sink [$ns node]
foreach {name value} $options { Queue/$kind set $name $value }
# A discipline of this name is made by the link, so that it knows the link's rate.
$ns simplex-link $router $sink $rate 1ms $kind
set queue [[$ns link $router $sink] queue]
if {[info exists limit]} { $queue set limit_ $limit }
$ns trace-queue $router $sink $trace

for {set i 0} {$i < $flows} {incr i} {
    set host($i) [$ns node]
    # So fast that a packet arrives when it is sent.
    $ns simplex-link $host($i) $router 1e18 0 DropTail
    set udp($i) [new Agent/UDP]
    $udp($i) set packetSize_ 65535
    $ns attach-agent $host($i) $udp($i)
    set null($i) [new Agent/Null]
    $ns attach-agent $sink $null($i)
    $ns connect $udp($i) $null($i)
}
set hosts [open $out.hosts w]
for {set i 0} {$i < $flows} {incr i} { puts $hosts "[$host($i) node-addr] [$sink node-addr]" }
close $hosts

set file [open $arrivals]
while {[gets $file line] >= 0} {
    foreach {at flow bytes} $line break
    $ns at $at "$udp($flow) send $bytes"
}
close $file

set samples [open $out.samples w]
proc sample {} {
    global ns queue samples sample
    puts $samples [format "%.9f %.17g" [$ns now] [$queue set prob_]]
    $ns at [expr {[$ns now] + $sample}] sample
}
if {$sample > 0} { $ns at [expr {$sample / 2.0}] sample }
$ns at $seconds { close $trace; close $samples; exit 0 }
$ns run
