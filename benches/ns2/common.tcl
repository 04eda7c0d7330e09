# What the benchmarks for ns-2 share. Every script takes key=value arguments and prints name=value pairs in one line:
# set-up and run time in seconds, peak memory in KiB, and with count=1 the packets that all links carried.

set began [clock microseconds]

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

# The simulator, with the packet headers that TCP needs and no trace.
proc simulator {} {
    global ns
    remove-all-packet-headers
    add-packet-header IP TCP Flags
    set ns [new Simulator]
}

# Default values of a class, as a list of names and values.
proc defaults {class values} {
    foreach {name value} $values { $class set $name $value }
}

# A link in one direction.
proc one_way {from to rate delay kind limit} {
    global ns links
    $ns simplex-link $from $to $rate $delay $kind
    $ns queue-limit $from $to $limit
    lappend links $from $to
}

# A TCP sender and its receiver; of `packets` packets, or endless if that is -1.
proc transfer {variant from to start packets} {
    global ns
    set sender [new Agent/TCP/$variant]
    set receiver [new Agent/TCPSink]
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    $ns connect $sender $receiver
    set application [new Application/FTP]
    $application attach-agent $sender
    if {$packets < 0} {
        $ns at $start "$application start"
    } else {
        $ns at $start "$application send [expr {$packets * [$sender set packetSize_]}]"
    }
}

# The rows of a comma-separated file as lists, without its header.
proc rows {path} {
    set file [open $path]
    set lines [split [string trim [read $file]] \n]
    close $file
    set found {}
    foreach line [lrange $lines 1 end] { lappend found [split $line ,] }
    return $found
}

# The largest size that the process had in memory, in KiB.
proc peak_kib {} {
    set file [open /proc/self/status]
    regexp {VmHWM:\s+(\d+)} [read $file] all kib
    close $file
    return $kib
}

# Runs for `seconds` and prints what it cost.
proc measure {seconds count} {
    global ns links monitors
    set monitors {}
    if {$count} { foreach {a b} $links { lappend monitors [$ns monitor-queue $a $b ""] } }
    $ns at 0.0 {set running [clock microseconds]}
    $ns at $seconds {
        set ended [clock microseconds]
        set hops 0
        foreach monitor $monitors { incr hops [$monitor set pdepartures_] }
        puts -nonewline "setup_s=[expr {($running - $began) / 1e6}] run_s=[expr {($ended - $running) / 1e6}]"
        puts -nonewline " peak_kib=[peak_kib]"
        puts [expr {$hops > 0 ? " packet_hops=$hops" : ""}]
        exit 0
    }
    $ns run
}
