set ns [new Simulator]
set duration 20
foreach name {s1 s2 r1 r2 d1} { set $name [$ns node] }
$ns duplex-link $s1 $r1 100Mb 2ms DropTail
$ns duplex-link $s2 $r1 100Mb 3ms DropTail
Queue/RED set thresh_ 15
Queue/RED set maxthresh_ 45
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 50
Queue/RED set gentle_ true
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set setbit_ true
Agent/TCP set ecn_ 1
$ns duplex-link $r1 $r2 10Mb 20ms RED
$ns queue-limit $r1 $r2 100
$ns duplex-link $r2 $d1 100Mb 4ms DropTail
foreach source "$s1 $s2" {
    set tcp [new Agent/TCP/Sack1]
    $tcp set packetSize_ 1460
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $source $tcp
    $ns attach-agent $d1 $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0.0 "$ftp start"
}
$ns at $duration "$ns halt"
$ns run
