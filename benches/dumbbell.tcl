# The benchmark dumbbells for ns-2: NewReno over one RED bottleneck, no traces.
#   ns dumbbell.tcl FLOWS BOTTLENECK_BPS ACCESS_BPS SECONDS MIN_TH MAX_TH LIMIT [count]
# Prints set-up and run time in seconds; with `count` also the packets that all links carried.
lassign $argv flows bottleneck access seconds min_th max_th limit count
set began [clock microseconds]
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
foreach {name value} [list thresh_ $min_th maxthresh_ $max_th q_weight_ 0.002 linterm_ 10 gentle_ true \
                          bytes_ false queue_in_bytes_ false mean_pktsize_ 1000] {
    Queue/RED set $name $value
}
foreach {name value} {packetSize_ 1000 window_ 20000 windowInit_ 10 minrto_ 0.2} { Agent/TCP set $name $value }

proc connect {a b rate delay queue limit} {
    global ns links
    $ns simplex-link $a $b $rate $delay $queue
    $ns queue-limit $a $b $limit
    lappend links $a $b
}
set left [$ns node]
set right [$ns node]
connect $left $right $bottleneck 10ms RED $limit
connect $right $left $bottleneck 10ms DropTail 100000
for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    set delay [expr {2.0 + 10.0 * $i / $flows}]ms
    connect $source $left $access $delay DropTail 100000
    connect $left $source $access $delay DropTail 100000
    connect $right $sink $access 2ms DropTail 100000
    connect $sink $right $access 2ms DropTail 100000
    set tcp [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink]
    $tcp set fid_ $i
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $receiver
    $ns connect $tcp $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {1.0 * $i / $flows}] "$ftp start"
}
set monitors {}
if {$count ne ""} { foreach {a b} $links { lappend monitors [$ns monitor-queue $a $b ""] } }
$ns at 0.0 {set running [clock microseconds]}
$ns at $seconds {
    set ended [clock microseconds]
    puts -nonewline "setup_s=[expr {($running - $began) / 1e6}] run_s=[expr {($ended - $running) / 1e6}]"
    set hops 0
    foreach monitor $monitors { incr hops [$monitor set pdepartures_] }
    puts [expr {$hops > 0 ? " packet_hops=$hops" : ""}]
    exit 0
}
$ns run
