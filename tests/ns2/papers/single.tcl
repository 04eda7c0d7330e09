# PC-RED, experiment 1, row RED: greedy flows over one bottleneck of 125 packets of 540 B a second.
#
# `starts`: a file of one column, the starts of the flows in seconds. Reno, classic RED in packets with wait. Prints mean
# and standard deviation of RED's average, sampled every 0.1 s, and the mean over the flows of a flow's greatest arrivals
# (1000 B a second with headers) in bins of 10 s.

source [file join [file dirname [info script]] common.tcl]
parameters {seed 1 starts "" seconds 3000 warmup 100 bin 10 rate 0.54Mb delay 100ms payload 500 window 20 w_q 0.004
    variant Reno gentle false wait true}
simulator $p(seed)
foreach {name value} [list thresh_ 10 maxthresh_ 35 linterm_ 10 q_weight_ $p(w_q) mean_pktsize_ 500 bytes_ false \
    queue_in_bytes_ false gentle_ $p(gentle) wait_ $p(wait)] {
    Queue/RED set $name $value
}

set r1 [$ns node]
set r2 [$ns node]
one_way $r1 $r2 $p(rate) $p(delay) RED 50
one_way $r2 $r1 $p(rate) $p(delay) DropTail 1000
set flows 0
foreach row [rows $p(starts)] {
    set source [$ns node]
    set sink($flows) [$ns node]
    foreach {a b} [list $source $r1 $r1 $source $r2 $sink($flows) $sink($flows) $r2] {
        one_way $a $b 10Mb 1ms DropTail 1000
    }
    transfer $p(variant) $source $sink($flows) [lindex $row 0] -1 $p(payload) $p(window)
    set arriving($flows) [$ns monitor-queue $r2 $sink($flows) ""]
    incr flows
}
set monitor [$ns monitor-queue $r1 $r2 ""]
set red [[$ns link $r1 $r2] queue]

set samples 0
set sum 0.0
set squares 0.0
proc sample {} {
    global ns red samples sum squares
    set average [$red set ave_]
    incr samples
    set sum [expr {$sum + $average}]
    set squares [expr {$squares + $average * $average}]
    $ns at [expr {[$ns now] + 0.1}] sample
}
$ns at $p(warmup) sample

# Bins are moved by the time from the start of a transmission to its arrival.
set on_the_way [expr {0.001 + ($p(payload) + 40) * 8 / 10e6}]
proc bin {} {
    global ns p flows arriving last bins
    for {set i 0} {$i < $flows} {incr i} {
        set bytes [$arriving($i) set bdepartures_]
        if {[info exists last($i)]} {
            lappend bins($i) [expr {($bytes - $last($i)) / 1000.0 / $p(bin)}]
        }
        set last($i) $bytes
    }
    $ns at [expr {[$ns now] + $p(bin)}] bin
}
$ns at [expr {$p(warmup) - $on_the_way}] bin

proc finish {} {
    global p flows bins samples sum squares monitor before
    set mean [expr {$sum / $samples}]
    puts "mean_average [format %.9g $mean]"
    puts "sd_average [format %.9g [expr {sqrt($squares / $samples - $mean * $mean)}]]"
    set total 0.0
    for {set i 0} {$i < $flows} {incr i} {
        set total [expr {$total + [lindex [lsort -real $bins($i)] end]}]
    }
    puts "greatest_KBps [format %.9g [expr {$total / $flows}]]"
    print_between $before [counters $monitor] [expr {$p(seconds) - $p(warmup)}]
    exit 0
}
$ns at $p(warmup) {set before [counters $monitor]}
$ns at $p(seconds) finish
$ns run
