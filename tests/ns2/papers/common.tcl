# What the scripts of this folder share. Every script takes key=value arguments and prints one "name value" a line.

# Arguments into the array `p`; `defaults` names every key that is allowed.
proc parameters {defaults} {
    global p argv
    array set p $defaults
    foreach argument $argv {
        set parts [split $argument =]
        if {[llength $parts] != 2 || ![info exists p([lindex $parts 0])]} {
            puts stderr "not a parameter: $argument (known: [lsort [array names p]])"
            exit 2
        }
        set p([lindex $parts 0]) [lindex $parts 1]
    }
}

# The simulator. Run `seed` has substream `seed` of the default generator: RED's draws and the phases of the senders'
# clocks. Everything else that is drawn comes from the lists.
proc simulator {seed} {
    global ns defaultRNG
    set ns [new Simulator]
    remove-all-packet-headers
    add-packet-header IP TCP Flags
    $defaultRNG seed 20020
    for {set i 0} {$i < $seed} {incr i} {
        $defaultRNG next-substream
    }
}

# `kind` is DropTail or RED, `limit` is limit_.
proc one_way {from to rate delay kind limit} {
    global ns
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
}

# An endless (packets = -1) or finite transfer; returns sender and sink.
proc transfer {variant from to start packets payload window} {
    global ns
    set sender [new Agent/TCP/$variant]
    set sink [new Agent/TCPSink]
    $sender set packetSize_ $payload
    $sender set window_ $window
    $ns attach-agent $from $sender
    $ns attach-agent $to $sink
    $ns connect $sender $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    if {$packets < 0} {
        $ns at $start "$ftp start"
    } else {
        $ns at $start "$ftp send [expr {$packets * $payload}]"
    }
    return [list $sender $sink]
}

# The rows of a comma-separated file as lists, without its header.
proc rows {path} {
    set file [open $path]
    set lines [split [string trim [read $file]] \n]
    close $file
    set found {}
    foreach line [lrange $lines 1 end] {
        lappend found [split $line ,]
    }
    return $found
}

# The numbers of a queue monitor that statistics need.
proc counters {monitor} {
    global ns
    set area [$monitor get-pkts-integrator]
    $area newpoint [$ns now] [$monitor set pkts_]
    return [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set bdepartures_] [$area set sum_]]
}

# Prints throughput (bit/s, departed), loss and mean queue (packets, the one in transmission not counted) of the time
# between two readings of a monitor, `seconds` apart.
proc print_between {before after seconds} {
    lassign $before arrivals drops bytes area
    lassign $after arrivals2 drops2 bytes2 area2
    puts "throughput_bps [format %.9g [expr {($bytes2 - $bytes) * 8.0 / $seconds}]]"
    puts "loss [format %.9g [expr {double($drops2 - $drops) / ($arrivals2 - $arrivals)}]]"
    puts "mean_queue [format %.9g [expr {($area2 - $area) / $seconds}]]"
}
