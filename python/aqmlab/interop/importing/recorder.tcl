# What a script of ns-2 calls, as procedures that write down what they are asked for: a study is read by running it.
#
# Objects are commands; `object(NAME)` is a dictionary: class, settings, and what else was said of it. Nothing simulates:
# events are scripts in order of time, which are run until one of them ends the simulation.

namespace eval recorder {
    variable quantile 0.5
    variable object
    variable settings
    variable events {}
    variable now 0.0
    variable ended 0
    variable number 0
    variable order 0
    variable links {}
    variable agents {}
    variable connections {}
    variable actions {}
    variable changes {}
    variable sent 0
    variable skipped {}
    variable seconds_of {s 1.0 ms 1e-3 us 1e-6 ns 1e-9 "" 1.0}
}

# A time of ns-2 (10ms, 0.01) in seconds, a rate (1.5Mb, 10e6) in bit/s: b are bits, B bytes.
proc recorder::seconds {text} {
    variable seconds_of
    if {![regexp {^\s*([-+0-9.eE]+?)\s*(s|ms|us|ns|)\s*$} $text -> value unit]} {
        error "\"$text\" is no time"
    }
    return [expr {double($value) * [dict get $seconds_of $unit]}]
}
proc recorder::bits {text} {
    if {![regexp {^\s*([-+0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([kKmMgG]?)(bps|b|B|bit|)(?:/s)?\s*$} $text -> value prefix unit]} {
        error "\"$text\" is no rate"
    }
    set factor [dict get {"" 1 k 1e3 m 1e6 g 1e9} [string tolower $prefix]]
    return [expr {double($value) * $factor * ($unit eq "B" ? 8 : 1)}]
}

proc recorder::skip {what} {
    variable skipped
    if {$what ni $skipped} {
        lappend skipped $what
    }
}

# Variables of classes as ns-2 2.35 has them (tcl/lib/ns-default.tcl), those that the import reads.
foreach {class values} {
    Queue {limit_ 50}
    Queue/DropTail {queue_in_bytes_ false mean_pktsize_ 500}
    Queue/RED {
        bytes_ true queue_in_bytes_ true mean_pktsize_ 500 thresh_ 0 maxthresh_ 0 linterm_ 10 q_weight_ -1 wait_ true
        gentle_ true setbit_ false use_mark_p_ true mark_p_ 0.1 adaptive_ 0 feng_adaptive_ 0 alpha_ 0.01 beta_ 0.9
        interval_ 0.5 top_ 0.5 bottom_ 0 drop_tail_ true drop_front_ false drop_rand_ false cautious_ 0 targetdelay_ 0.005
    }
    Agent {fid_ 0}
    Agent/TCP {
        window_ 20 windowInit_ 2 syn_ true packetSize_ 1000 tcpip_base_hdr_size_ 40 singledup_ 1 ecn_ 0 timestamps_ false
        minrto_ 0.2 maxrto_ 60 rtxcur_init_ 3.0 tcpTick_ 0.01 maxburst_ 0
    }
    Agent/TCPSink {packetSize_ 40}
    Agent/TCPSink/DelAck {interval_ 100ms}
    Agent/TCPSink/Sack1/DelAck {interval_ 100ms}
    Agent/UDP {packetSize_ 1000}
    Application/Traffic/CBR {rate_ 448Kb packetSize_ 210 random_ 0}
    Application/Traffic/Exponential {rate_ 64Kb packetSize_ 210 burst_time_ 0.5 idle_time_ 0.5}
    Application/Traffic/Pareto {rate_ 64Kb packetSize_ 210 burst_time_ 500ms idle_time_ 500ms shape_ 1.5}
} {
    foreach {variable value} $values {
        set recorder::settings($class,$variable) $value
    }
}
unset class values variable value

# The value of a variable of a class: its own, or that of the nearest class above it, else "".
proc recorder::default {class variable} {
    variable settings
    while {$class ne ""} {
        if {[info exists settings($class,$variable)]} {
            return $settings($class,$variable)
        }
        set class [join [lrange [split $class /] 0 end-1] /]
    }
    return ""
}

# All variables of a class, as an object of it has them when it is made.
proc recorder::variables {class} {
    variable settings
    set found {}
    set parts [split $class /]
    for {set i 0} {$i < [llength $parts]} {incr i} {
        set above [join [lrange $parts 0 $i] /]
        foreach key [array names settings $above,*] {
            dict set found [string range $key [string length $above]+1 end] $settings($key)
        }
    }
    return $found
}

proc recorder::create {class args} {
    variable object
    variable number
    set name _o[incr number]
    set object($name) [dict create class $class settings [variables $class]]
    interp alias {} $name {} recorder::call $name
    if {[string match Agent/* $class]} {
        variable agents
        lappend agents $name
    }
    return $name
}

# A method of an object.
proc recorder::call {name method args} {
    variable object
    set class [dict get $object($name) class]
    if {$method eq "set"} {
        return [set_variable $name {*}$args]
    }
    switch -glob $class {
        Simulator        { return [simulator $name $method {*}$args] }
        RNG              { return [rng $name $method {*}$args] }
        RandomVariable/* { return [random_variable $name $class $method {*}$args] }
        Agent/*          { return [agent $name $method {*}$args] }
        Application/* - Source/* - Traffic/* { return [application $name $method {*}$args] }
        Link             { return [link_object $name $method {*}$args] }
        Node             { return [node_object $name $method {*}$args] }
        default          { return [anything $name $class $method {*}$args] }
    }
}

proc recorder::set_variable {name variable args} {
    variable object
    variable now
    set class [dict get $object($name) class]
    if {[llength $args]} {
        if {$now > 0 && ([string match Agent/* $class] || [string match Queue/* $class])} {
            skip "$class set $variable [lindex $args 0] at $now s"
            return [lindex $args 0]
        }
        dict set object($name) settings $variable [lindex $args 0]
        if {$class eq "Delay"} {
            changed $name $variable [lindex $args 0]
        }
        return [lindex $args 0]
    }
    if {[dict exists $object($name) settings $variable]} {
        return [dict get $object($name) settings $variable]
    }
    return 0
}

proc recorder::simulator {name method args} {
    variable object
    variable now
    variable events
    variable order
    variable connections
    variable ended
    switch $method {
        node { return [create Node] }
        duplex-link {
            lassign $args a b rate delay kind
            make_link $a $b $rate $delay $kind
            make_link $b $a $rate $delay $kind
        }
        simplex-link { make_link {*}[lrange $args 0 4] }
        queue-limit {
            lassign $args a b limit
            dict set object([queue_of $a $b]) settings limit_ $limit
        }
        link { return [dict get $object([link_of [lindex $args 0] [lindex $args 1]]) self] }
        attach-agent { dict set object([lindex $args 1]) node [lindex $args 0] }
        connect {
            lappend connections $args
            return [lindex $args 0]
        }
        create-connection {
            lassign $args from_class a to_class b flow
            set from [create Agent/$from_class]
            set to [create Agent/$to_class]
            dict set object($from) node $a
            dict set object($to) node $b
            dict set object($from) settings fid_ $flow
            lappend connections [list $from $to]
            return $from
        }
        at {
            set at [seconds [lindex $args 0]]
            if {$at >= $now} {
                lappend events [list $at [incr order] [join [lrange $args 1 end]]]
            }
            return $order
        }
        now { return $now }
        halt - stop { set ended 1 }
        run { return }
        rtproto { return "" }
        monitor-queue - makeflowmon - create-trace { return [create Monitor] }
        get-ns-traceall - flush-trace - color - trace-all - namtrace-all - trace-queue - namtrace-queue - use-scheduler -
        duplex-link-op - simplex-link-op - attach-fmon - eventtrace-all - cancel - namtrace-config { return "" }
        default { return [anything $name Simulator $method {*}$args] }
    }
    return ""
}

proc recorder::make_link {a b rate delay kind args} {
    variable object
    variable links
    set link [create Link]
    set class Queue/[lindex $kind 0]
    set queue [create $class]
    set transmitter [create Delay]
    dict set object($transmitter) link $link
    dict set object($transmitter) settings [dict create bandwidth_ [bits $rate] delay_ [seconds $delay]]
    set object($link) [dict merge $object($link) \
        [dict create self $link from $a to $b rate [bits $rate] delay [seconds $delay] queue $queue wire $transmitter]]
    set object(link,$a,$b) $link
    set object(queue,$a,$b) $queue
    lappend links $link
}
proc recorder::link_of {a b} {
    variable object
    if {![info exists object(link,$a,$b)]} {
        error "there is no link between these nodes"
    }
    return $object(link,$a,$b)
}
proc recorder::queue_of {a b} {
    variable object
    link_of $a $b
    return $object(queue,$a,$b)
}
proc recorder::link_object {name method args} {
    variable object
    switch $method {
        queue { return [dict get $object($name) queue] }
        link { return [dict get $object($name) wire] }
        head - fromNode - toNode { return $name }
        default { return [anything $name Link $method {*}$args] }
    }
}
proc recorder::changed {wire variable value} {
    variable object
    variable changes
    variable now
    if {$variable in {bandwidth_ delay_}} {
        set value [expr {$variable eq "bandwidth_" ? [bits $value] : [seconds $value]}]
        lappend changes [list $now [dict get $object($wire) link] $variable $value]
    }
}

proc recorder::node_object {name method args} {
    switch $method {
        id - node-addr { return [string range $name 2 end] }
        default { return "" }
    }
}

proc recorder::agent {name method args} {
    variable object
    variable sent
    switch $method {
        attach-source - attach-app {
            set app [create Application/[lindex $args 0]]
            dict set object($app) agent $name
            return $app
        }
        attach-traffic {
            dict set object([lindex $args 0]) agent $name
        }
        send - sendmsg {
            if {[string match Agent/TCP* [dict get $object($name) class]]} {
                act $name send [lindex $args 0]
            } else {
                incr sent
            }
        }
        advance - advanceby { act $name produce [lindex $args 0] }
        start { act $name start {} }
        reset - attach - trace - namtrace - tracevar - target - port - done { return "" }
        default { return [anything $name [dict get $object($name) class] $method {*}$args] }
    }
    return ""
}

proc recorder::application {name method args} {
    variable object
    switch $method {
        attach-agent - attach { dict set object($name) agent [lindex $args 0] }
        start - stop { act $name $method {} }
        send - produce - producemore { act $name $method [lindex $args 0] }
        use-rng { return "" }
        default { return [anything $name [dict get $object($name) class] $method {*}$args] }
    }
    return ""
}
proc recorder::act {name what argument} {
    variable actions
    variable now
    lappend actions [list $now $name $what $argument]
}

# Numbers that are drawn: all are the same quantile, so that running the study for several quantiles shows what of it is
# drawn, and from which distribution.
proc recorder::rng {name method args} {
    variable quantile
    lassign $args a b
    switch $method {
        uniform { return [expr {$a + $quantile * (double($b) - $a)}] }
        integer { return [expr {int($quantile * $a)}] }
        exponential { return [expr {-log(1 - $quantile) * ($a eq "" ? 1.0 : $a)}] }
        normal { return $a }
        default { return 0 }
    }
}
proc recorder::random_variable {name class method args} {
    variable quantile
    variable object
    if {$method ne "value"} {
        return ""
    }
    set own [dict get $object($name) settings]
    set get {{own key else} { return [expr {[dict exists $own $key] ? [dict get $own $key] : $else}] }}
    switch $class {
        RandomVariable/Uniform {
            set low [apply $get $own min_ 0.0]
            return [expr {$low + $quantile * ([apply $get $own max_ 1.0] - $low)}]
        }
        RandomVariable/Exponential { return [expr {-log(1 - $quantile) * [apply $get $own avg_ 1.0]}] }
        RandomVariable/Constant { return [apply $get $own val_ 1.0] }
        RandomVariable/Pareto {
            set shape [apply $get $own shape_ 1.5]
            return [expr {[apply $get $own avg_ 1.0] * ($shape - 1) / $shape * pow(1 - $quantile, -1.0 / $shape)}]
        }
    }
    return 1.0
}

# A method that says nothing about the scenario, or something that is not read.
proc recorder::anything {name class method args} {
    if {[string match Monitor* $class] || $class in {Samples QueueMonitor Delay Integrator}
        || [string match Queue/* $class] || [string match SnoopQueue/* $class]
        || $method in {label color shape id dump-routing trace attach cnt mean reset}} {
        return [expr {[string match get-* $method] ? [create Monitor] : 0}]
    }
    skip "$class $method"
    return 0
}

# Words that are no procedure: a class whose variables are set, or something that is not read.
proc unknown {word args} {
    if {[regexp {^[A-Z][A-Za-z0-9]*(/[A-Za-z0-9]+)*$} $word]} {
        switch [lindex $args 0] {
            set {
                if {[llength $args] > 2} {
                    set recorder::settings($word,[lindex $args 1]) [lindex $args 2]
                }
                return [recorder::default $word [lindex $args 1]]
            }
            instproc - instvar - public - proc {
                recorder::skip "procedure $word [lindex $args 0] [lindex $args 1]"
                return ""
            }
            default {
                if {$word in {Class Simulator}} {
                    recorder::skip "$word [lindex $args 0]"
                    return ""
                }
            }
        }
    }
    error "\"$word\" is not known here"
}
proc new {class args} {
    return [recorder::create $class {*}$args]
}
proc delete {args} {}
proc Class {name args} {
    recorder::skip "class $name"
}
proc ns-random {args} {
    return 0
}
proc ns-version {} {
    return 2.35
}
proc remove-all-packet-headers {args} {}
proc remove-packet-header {args} {}
proc add-packet-header {args} {}
proc puts {args} {}
proc open {args} {
    return file
}
proc close {args} {}
proc flush {args} {}
proc gets {args} {
    return -1
}
proc eof {args} {
    return 1
}
proc exec {args} {
    return ""
}
proc exit {args} {
    set recorder::ended 1
    error "the end"
}
proc source {args} {
    error "another file is read (source [lindex $args 0]); put it into this one"
}

# Runs the events in order of time until one ends the simulation.
proc recorder::simulate {most} {
    variable events
    variable now
    variable ended
    for {set n 0} {!$ended && [llength $events]} {incr n} {
        if {$n >= $most} {
            return 0
        }
        set events [lsort -real -index 0 $events]
        set event [lindex $events 0]
        set events [lrange $events 1 end]
        set now [lindex $event 0]
        set code [catch {uplevel #0 [lindex $event 2]} problem]
        if {$code == 1 && !$ended} {
            skip "the event at $now s ($problem)"
        }
    }
    return 1
}
proc recorder::dump {} {
    variable object
    variable links
    variable agents
    variable connections
    variable actions
    variable changes
    variable skipped
    variable now
    variable sent
    set all {}
    foreach name [array names object _o*] {
        dict set all $name $object($name)
    }
    return [dict create objects $all links $links agents $agents connections $connections actions $actions \
        changes $changes skipped $skipped end $now sent $sent]
}
# Handles that global variables hold, by handle: the name of the variable, or the index in an array.
proc recorder::names {} {
    set found {}
    foreach variable [info globals] {
        upvar #0 $variable value
        if {[array exists value]} {
            foreach {index handle} [array get value] {
                if {[regexp {^_o[0-9]+$} $handle]} {
                    dict lappend found $handle [list $index $variable]
                }
            }
        } elseif {[info exists value] && [regexp {^_o[0-9]+$} $value]} {
            dict lappend found $value [list $variable ""]
        }
    }
    return $found
}
set defaultRNG [new RNG]
set argc 0
set argv {}
set argv0 ns
set env(HOME) .
