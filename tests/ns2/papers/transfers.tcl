# DDRED, bus and flower, RED: finite transfers between the workstations of a network of routers.
#
# `links`: a file with the columns from, to, queue (RED or DropTail); every link has 10 Mb/s and 10 ms. Names of nodes that
# begin with "h" are workstations.
# `routes`: at, to, next: the next node from `at` on the way to `to`. (Of several shortest paths ns-2 would choose by the
# order in which nodes were made.)
# `transfers`: from, to, packets, start (seconds).
# RED is as ns-2 comes: automatic thresholds and weight, bytes, gentle, wait. The run ends with the last transfer.
# Prints the number of unfinished transfers and the sum of their times from the first SYN to the last ACK; then for every
# distance d the packets lost, data and ACKs ("lost.d"). The distance is the number of routers that the packet had
# entered; 0 is the workstation's own queue.

source [file join [file dirname [info script]] common.tcl]
parameters {seed 1 links "" routes "" transfers "" seconds 3000 payload 1000 window 20 limit 50 drops ""}
simulator $p(seed)

foreach row [rows $p(links)] {
    lassign $row from to queue
    foreach name [list $from $to] {
        if {![info exists node($name)]} {
            set node($name) [$ns node]
            set name_of([$node($name) id]) $name
        }
    }
    one_way $node($from) $node($to) 10Mb 10ms $queue $p(limit)
}

$ns rtproto Manual
foreach row [rows $p(routes)] {
    lassign $row at to next
    $node($at) add-route [$node($to) id] [[$ns link $node($at) $node($next)] head]
    set next_of($at,$to) $next
}

# Every queue's drops, one line each, in one file.
set drop_file [open $p(drops) w]
foreach row [rows $p(links)] {
    lassign $row from to
    set trace [$ns create-trace Drop $drop_file $node($from) $node($to)]
    $trace target [$ns set nullAgent_]
    [[$ns link $node($from) $node($to)] set drophead_] target $trace
}

set unfinished 0
set total 0.0
Agent/TCP instproc done {} {
    global ns unfinished total start_of
    set total [expr {$total + [$ns now] - $start_of($self)}]
    incr unfinished -1
    if {$unfinished == 0} {
        finish
    }
}
foreach row [rows $p(transfers)] {
    lassign $row from to packets start
    lassign [transfer Newreno $node($from) $node($to) $start $packets $p(payload) $p(window)] sender sink
    set start_of($sender) $start
    incr unfinished
}

# Routers entered on the way from workstation `from` to `to` when the packet is lost at `at`.
proc distance {from to at} {
    global next_of
    for {set d 0} {$from ne $at} {incr d} {
        set from $next_of($from,$to)
    }
    return $d
}

proc finish {} {
    global ns p unfinished total drop_file name_of
    puts "unfinished $unfinished"
    puts "transfer_s [format %.12g $total]"
    close $drop_file
    set file [open $p(drops)]
    while {[gets $file line] >= 0} {
        lassign $line kind time at to type size flags flow source target
        set ends [list $name_of([lindex [split $source .] 0]) $name_of([lindex [split $target .] 0])]
        set key "$ends $name_of($at)"
        if {![info exists distance_of($key)]} {
            set distance_of($key) [eval distance $key]
        }
        set d $distance_of($key)
        if {![info exists lost($d)]} {
            set lost($d) 0
        }
        incr lost($d)
    }
    foreach d [lsort -integer [array names lost]] {
        puts "lost.$d $lost($d)"
    }
    exit 0
}
$ns at $p(seconds) finish
$ns run
