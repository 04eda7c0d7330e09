# Runs one RED queue of ns-2 2.35 with packets that may be ECN-capable.
#
#     ns switches.tcl SPEC OUT
#
# SPEC is a Tcl file of the commands `seed`, `red`, `tcp`, `on_off`, `stop_at` (below). OUT.nam and OUT.tr are traces of the
# link router -> receiver with the same lines: OUT.nam has the times, OUT.tr the flags.
#
#     host of each flow --access--> router ==queue==> receiver

lassign $argv spec_file out
set ns [new Simulator]
set nam [open $out.nam w]
set trace [open $out.tr w]
set router [$ns node]
set receiver [$ns node]
set flows 0

# The default generator serves the queue alone: the traffic has its own, and what the set-up draws is undone at the start.
proc seed {n} {
    global ns defaultRNG traffic_rng
    $ns at 0 "$defaultRNG seed $n"
    set traffic_rng [new RNG]
    $traffic_rng seed [expr {$n + 1000000}]
}

# bit/s, packets, and variables of Queue/RED with their values
proc red {rate limit settings} {
    global ns router receiver nam trace
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set adaptive_ 0
    foreach {variable value} $settings {
        Queue/RED set $variable $value
    }
    $ns simplex-link $router $receiver $rate 3.1ms RED
    $ns simplex-link $receiver $router 100Mb 3.1ms DropTail
    $ns queue-limit $router $receiver $limit
    $ns namtrace-queue $router $receiver $nam
    $ns trace-queue $router $receiver $trace
}

proc host {rate delay} {
    global ns router flows
    set node [$ns node]
    $ns simplex-link $node $router $rate $delay DropTail
    $ns simplex-link $router $node 100Mb $delay DropTail
    incr flows
    return $node
}

proc tcp {ecn bytes rate delay start} {
    global ns receiver flows
    set node [host $rate $delay]
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $tcp set ecn_ $ecn
    $tcp set packetSize_ $bytes
    $tcp set window_ 1000
    $tcp set fid_ $flows
    $ns attach-agent $node $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
}

# Exponential times on and off (means, in seconds); `rate` (bit/s) while on.
proc on_off {rate bytes on off start} {
    global ns receiver flows traffic_rng
    set node [host 91.3Mb 1.7ms]
    set udp [new Agent/UDP]
    set sink [new Agent/Null]
    $udp set packetSize_ $bytes
    $udp set fid_ $flows
    $ns attach-agent $node $udp
    $ns attach-agent $receiver $sink
    $ns connect $udp $sink
    set app [new Application/Traffic/Exponential]
    $app set packetSize_ $bytes
    $app set rate_ $rate
    $app set burst_time_ $on
    $app set idle_time_ $off
    $app use-rng $traffic_rng
    $app attach-agent $udp
    $ns at $start "$app start"
}

# Bursts on the way of the acknowledgements, so that few packets arrive at the end of a transmission.
proc jitter {} {
    global ns router receiver traffic_rng
    set udp [new Agent/UDP]
    set sink [new Agent/Null]
    $udp set packetSize_ 1500
    $ns attach-agent $receiver $udp
    $ns attach-agent $router $sink
    $ns connect $udp $sink
    set app [new Application/Traffic/Exponential]
    $app set packetSize_ 1500
    $app set rate_ 99e6
    $app set burst_time_ 0.001
    $app set idle_time_ 0.0003
    $app use-rng $traffic_rng
    $app attach-agent $udp
    $ns at 0 "$app start"
}

proc stop_at {t} {
    global ns
    jitter
    $ns at $t finish
}

proc finish {} {
    global ns nam trace
    $ns flush-trace
    close $nam
    close $trace
    exit 0
}

source $spec_file
$ns run
