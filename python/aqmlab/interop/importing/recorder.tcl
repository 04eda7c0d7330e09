# What a script of ns-2 calls, as procedures that record the calls: a study is read by running it.
#
# Objects are commands; `object(NAME)` is a dictionary: class, and properties. Variables of an object are those of the
# namespace recorder::v::NAME. `place(NAME,VARIABLE)` is the line of the study that set one. Nothing simulates: events are
# scripts in order of time, which are run until one of them ends the simulation.

namespace eval recorder {
    variable quantile 0.5
    variable draws 0
    variable draw_places {}
    variable reading 1
    variable state_places {}
    variable sorted 1
    variable nodes 0
    variable object
    variable usual
    variable super
    variable library
    variable class_set
    variable class_place
    variable method
    variable method_place
    variable place
    variable started
    variable files {}
    variable events {}
    variable event_place ""
    variable now 0.0
    variable ended 0
    variable number 0
    variable order 0
    variable links {}
    variable agents {}
    variable connections {}
    variable actions {}
    variable changes {}
    variable skipped {}
    variable removed {}
    variable failed {"" ""}
    variable simulator ""
    variable seconds_of {s 1.0 ms 1e-3 us 1e-6 ns 1e-9 ps 1e-12 m 1e-3 u 1e-6 n 1e-9 p 1e-12 "" 1.0}
}
namespace eval recorder::v {}
namespace eval recorder::m {}

# The line of the study that is at work, as FILE:LINE.
proc recorder::here {} {
    variable files
    variable event_place
    variable method_place
    for {set n [info frame]} {$n > 0} {incr n -1} {
        set frame [info frame $n]
        set type [dict get $frame type]
        if {$type eq "source" && [dict exists $frame file] && [dict exists $files [dict get $frame file]]} {
            return "[dict get $files [dict get $frame file]]:[dict get $frame line]"
        }
        if {$type eq "proc" && [dict exists $frame proc] && [info exists method_place([dict get $frame proc])]} {
            lassign $method_place([dict get $frame proc]) file line
            return "$file:[expr {$line + [dict get $frame line] - 1}]"
        }
    }
    return $event_place
}
# Raises an error with its place in the study.
proc recorder::fail {message} {
    variable failed
    set failed [list $message [here]]
    error $message
}

# A time of ns-2 (10ms, 0.01) in seconds, a rate (1.5Mb, 10e6) in bit/s: b are bits, B bytes.
proc recorder::seconds {text} {
    variable seconds_of
    if {![regexp {^\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(s|ms|us|ns|ps|m|u|n|p|)\s*$} $text -> value unit]
        || ![string is double -strict $value]} {
        fail "\"$text\" is not a time"
    }
    return [expr {double($value) * [dict get $seconds_of $unit]}]
}
proc recorder::bits {text} {
    if {![regexp {^\s*([-+0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([kKmMgG]?)(bps|b|B|bit|)(?:/s)?\s*$} $text -> value prefix unit]
        || ![string is double -strict $value]} {
        fail "\"$text\" is not a rate"
    }
    set factor [dict get {"" 1 k 1e3 m 1e6 g 1e9} [string tolower $prefix]]
    return [expr {double($value) * $factor * ($unit eq "B" ? 8 : 1)}]
}

# Records that something is not carried over, at the line that is at work.
proc recorder::skip {what} {
    variable skipped
    set entry [list [here] $what]
    if {$entry ni $skipped} {
        lappend skipped $entry
    }
}

# Takes ns-2's defaults: a line a class (validation/ns2_defaults.tcl).
proc recorder::take_defaults {text} {
    variable usual
    variable super
    variable library
    foreach line [split $text \n] {
        if {$line eq "" || [string index $line 0] eq "#"} {
            continue
        }
        lassign $line class above values own
        set super($class) $above
        foreach {variable value} $values {
            set usual($class,$variable) $value
        }
        foreach variable $own {
            set library($class,$variable) 1
        }
    }
    set super(Monitor) SplitObject
    set super(Unread) SplitObject
    set super(TclObject) Object
    set super(Delay) DelayLink
}

# A class, then the classes above it, in the order in which methods are looked up.
proc recorder::chain {class} {
    variable super
    variable chains
    if {[info exists chains($class)]} {
        return $chains($class)
    }
    set found [list $class]
    if {[info exists super($class)]} {
        foreach above $super($class) {
            foreach one [chain $above] {
                set at [lsearch -exact $found $one]
                if {$at >= 0} {
                    set found [lreplace $found $at $at]
                }
                lappend found $one
            }
        }
    }
    set chains($class) $found
    return $found
}
# The nearest class of ns-2 above a class of the study, else "".
proc recorder::native {class} {
    variable super
    variable own
    foreach one [chain $class] {
        if {![info exists own($one)] && [info exists super($one)] && $one ni {Object SplitObject Class}} {
            return $one
        }
    }
    return ""
}
proc recorder::default {class variable} {
    variable usual
    variable class_set
    foreach one [chain $class] {
        if {[info exists class_set($one,$variable)]} {
            return $class_set($one,$variable)
        }
        if {[info exists usual($one,$variable)]} {
            return $usual($one,$variable)
        }
    }
    return ""
}

proc recorder::create {class {name ""}} {
    variable object
    variable number
    variable class_set
    variable class_place
    variable place
    variable now
    variable super
    if {![info exists super($class)] && $class ni {Link}} {
        fail "the class \"$class\" is not known to ns-2 2.35"
    }
    set handle _o[incr number]
    set object($handle) [dict create class $class native [native $class] born $now where [here]]
    namespace eval ::recorder::v::$handle {}
    interp alias {} $handle {} ::recorder::call $handle
    if {$name ne ""} {
        interp alias {} $name {} ::recorder::call $handle
        set object(named,$name) $handle
    }
    foreach one [lreverse [chain $class]] {
        foreach key [array names class_set $one,*] {
            set variable [string range $key [string length $one]+1 end]
            set ::recorder::v::${handle}::$variable $class_set($key)
            set place($handle,$variable) $class_place($key)
        }
    }
    build $handle [dict get $object($handle) native]
    return $handle
}
# What ns-2's constructors do.
proc recorder::build {name native} {
    variable agents
    variable object
    variable place
    variable simulator
    if {[string match Agent* $native]} {
        lappend agents $name
    }
    if {$native eq "Simulator"} {
        set simulator $name
    }
    if {$native eq "Node"} {
        variable nodes
        dict set object($name) id $nodes
        set ::recorder::v::${simulator}::Node_($nodes) $name
        incr nodes
    }
    if {$native in {Agent/CBR Agent/CBR/UDP}} {
        foreach variable {packetSize_ interval_ random_ maxpkts_} {
            unset -nocomplain place($name,$variable)
        }
        set ::recorder::v::${name}::packetSize_ 210
    }
    if {$native eq "Agent/CBR"} {
        set ::recorder::v::${name}::interval_ 0.00375
        set app [create Application/Traffic/CBR]
        dict set object($app) agent $name
        dict set object($name) traffic $app
    }
}

# A method of an object.
proc recorder::call {name args} {
    variable object
    variable method
    set word [lindex $args 0]
    set args [lrange $args 1 end]
    set class [dict get $object($name) class]
    if {[info exists method($name,$word)]} {
        tailcall $method($name,$word) $name $name $word {*}$args
    }
    foreach one [chain $class] {
        if {[info exists method($one,$word)]} {
            tailcall $method($one,$word) $name $one $word {*}$args
        }
    }
    switch $word {
        instvar {
            foreach item $args {
                lassign [expr {[llength $item] == 2 ? $item : [list $item $item]}] from to
                note_instvar $name $from
                uplevel 1 [list namespace upvar ::recorder::v::$name $from $to]
            }
            return ""
        }
        next { tailcall ::recorder::next $name [lindex [info level -1] 0] {*}$args }
    }
    tailcall ::recorder::basic $name $class $word {*}$args
}
# A variable of ns-2 that a procedure of the study makes its own may be set there.
proc recorder::note_instvar {name variable} {
    variable object
    variable place
    set class [dict get $object($name) class]
    if {[dict get $object($name) native] ne "" && ![info exists place($name,$variable)]
        && ![info exists ::recorder::v::${name}::$variable] && [default $class $variable] ne ""} {
        set ::recorder::v::${name}::$variable [default $class $variable]
        set place($name,$variable) [here]
    }
}
# The next method of this name, seen from one that is at work.
proc recorder::next {name procedure args} {
    variable method
    variable methods
    variable object
    if {![info exists methods($procedure)]} {
        return ""
    }
    lassign $methods($procedure) class word
    set chain [chain [dict get $object($name) class]]
    foreach one [lrange $chain [expr {[lsearch -exact $chain $class] + 1}] end] {
        if {[info exists method($one,$word)]} {
            tailcall $method($one,$word) $name $one $word {*}$args
        }
    }
    if {$word eq "init" || [dict get $object($name) native] eq ""} {
        return ""
    }
    tailcall ::recorder::basic $name [dict get $object($name) class] $word {*}$args
}
proc recorder::define {class word arguments body} {
    variable method
    variable methods
    variable method_place
    variable number
    set procedure ::recorder::m::[incr number]
    proc $procedure [concat {self class proc} $arguments] $body
    set method($class,$word) $procedure
    set methods($procedure) [list $class $word]
    set at [here]
    set method_place($procedure) [list [join [lrange [split $at :] 0 end-1] :] [lindex [split $at :] end]]
    if {$word in {done done_data recv recv-pkt process_data timeout resume upcall_recv upcall_send upcall_closing}} {
        set native $class
        variable object
        if {[info exists object($class)]} {
            set native [dict get $object($class) class]
        }
        if {[string match Agent* [native $native]] || [string match Application* [native $native]]} {
            skip "procedure $word of $native, which ns-2 calls during the run"
        }
    }
    return ""
}

# Methods that all objects have, then those of ns-2's classes.
proc recorder::basic {name class word args} {
    variable object
    switch $word {
        set { tailcall ::recorder::set_variable $name {*}$args }
        proc { return [define $name {*}$args] }
        instproc - public - private { return "" }
        unset {
            foreach variable $args {
                unset -nocomplain ::recorder::v::${name}::$variable
            }
            return ""
        }
        incr - append - lappend {
            return [$word ::recorder::v::${name}::[lindex $args 0] {*}[lrange $args 1 end]]
        }
        array { return [array [lindex $args 0] ::recorder::v::${name}::[lindex $args 1] {*}[lrange $args 2 end]] }
        exists { return [info exists ::recorder::v::${name}::[lindex $args 0]] }
        destroy { return "" }
        info {
            switch [lindex $args 0] {
                class { return $class }
                vars {
                    return [lmap one [info vars ::recorder::v::${name}::*] {namespace tail $one}]
                }
            }
            return ""
        }
        create-trace - exit { return "" }
        debug - noop { return "" }
    }
    set native [dict get $object($name) native]
    switch -glob $native {
        Simulator        { return [simulator $name $word {*}$args] }
        RNG              { return [rng $name $word {*}$args] }
        RandomVariable/* { return [random_variable $name $native $word {*}$args] }
        Agent - Agent/*  { return [agent $name $word {*}$args] }
        Application - Application/* - Source/* - Traffic/* { return [application $name $word {*}$args] }
        Link             { return [link_object $name $word {*}$args] }
        Node             { return [node_object $name $word {*}$args] }
        Queue/*          { return [queue_object $name $native $word {*}$args] }
        "" {
            variable method
            foreach one [chain $class] {
                if {[info exists method($one,unknown)]} {
                    tailcall $method($one,unknown) $name $one unknown $word {*}$args
                }
            }
            fail "no procedure \"$word\" in the class \"$class\""
        }
        default          { return [anything $name $native $word {*}$args] }
    }
}

proc recorder::set_variable {name variable args} {
    variable object
    variable now
    variable place
    variable reading
    set native [dict get $object($name) native]
    set old_words {packet_size_ packetSize_ packet-size packetSize_ burst-time burst_time_ idle-time idle_time_ rate rate_ shape shape_}
    if {([string match Application/Traffic/* $native] || [string match Traffic/* $native]) && [dict exists $old_words $variable]} {
        set variable [dict get $old_words $variable]
    }
    set at ::recorder::v::${name}::$variable
    if {[llength $args]} {
        set value [lindex $args 0]
        if {$native eq ""} {
            return [set $at $value]
        }
        return [set_native $name $native $variable $value]
    }
    if {[info exists $at]} {
        return [set $at]
    }
    if {$variable eq "interval_" && $native eq "Application/Traffic/CBR"} {
        return [expr {8.0 * [set_variable $name packetSize_] / [bits [set_variable $name rate_]]}]
    }
    set usual [default [dict get $object($name) class] $variable]
    if {$usual ne "" && ![changes_by_itself $variable]} {
        return $usual
    }
    set words {Link {queue_ queue link_ wire fromNode_ from toNode_ to head_ self} Agent {node_ node} Application {agent_ agent}}
    set family [lindex [split $native /] 0]
    if {[dict exists $words $family $variable] && [dict exists $object($name) [dict get $words $family $variable]]} {
        return [dict get $object($name) [dict get $words $family $variable]]
    }
    if {$native ne "" && [is_of_library [dict get $object($name) class] $variable]} {
        return [create Unread]
    }
    if {$native eq ""} {
        fail "can't read \"$variable\": no such variable of [dict get $object($name) class]"
    }
    variable state_places
    set at [here]
    if {[llength $state_places] < 5 && $at ni $state_places} {
        lappend state_places $at
    }
    return $reading
}
# Whether procedures of ns-2's library have this variable in objects of a class.
proc recorder::is_of_library {class variable} {
    variable library
    foreach one [chain $class] {
        if {[info exists library($one,$variable)]} {
            return 1
        }
    }
    return 0
}
# Variables with which ns-2 shows its state.
proc recorder::changes_by_itself {variable} {
    return [expr {$variable in {
        ack_ cwnd_ maxseq_ seqno_ t_seqno_ ssthresh_ rtt_ srtt_ rttvar_ backoff_ dupacks_ awnd_ ndatapack_ ndatabytes_
        nackpack_ nrexmit_ nrexmitpack_ nrexmitbytes_ necnresponses_ ncwndcuts_ ncwndcuts1_ cur_max_p_ ave_ prob1_ curq_
        prob_ pmark_ nlost_ npkts_ bytes_ lastPktTime_ expected_ size_ pkts_ parrivals_ barrivals_ pdepartures_
        bdepartures_ pdrops_ bdrops_
    }}]
}
proc recorder::set_native {name native variable value} {
    variable object
    variable now
    variable place
    variable started
    set at ::recorder::v::${name}::$variable
    if {$native eq "Agent/CBR" && $variable in {packetSize_ interval_ random_ maxpkts_}} {
        return [set_agent_cbr $name $variable $value]
    }
    if {$native eq "Application/Traffic/CBR" && $variable eq "interval_"} {
        set variable rate_
        set at ::recorder::v::${name}::rate_
        set value [expr {[set_variable $name packetSize_] * 8.0 / [seconds $value]}]
    }
    if {$variable in {rate_ bandwidth_} && ($native eq "Delay" || [string match *Traffic/* $native])} {
        bits $value
    }
    if {$native eq "Delay"} {
        set $at $value
        if {$variable in {bandwidth_ delay_}} {
            changed $name $variable $value
        } else {
            set place($name,$variable) [here]
        }
        return $value
    }
    set late [expr {$now > [dict get $object($name) born] && ([string match Queue/* $native] || [info exists started($name)]
        || $variable in {cwnd_ ssthresh_})}]
    if {$late && [set_variable $name $variable] ne $value} {
        skip "$native set $variable $value at $now s"
        return $value
    }
    if {!$late} {
        set $at $value
        set place($name,$variable) [here]
    }
    return $value
}
# ns-2's Agent/CBR has a source within, whose rate follows from size and interval.
proc recorder::set_agent_cbr {name variable value} {
    variable object
    set app [dict get $object($name) traffic]
    switch $variable {
        interval_ { set ::recorder::v::${name}::interval_ [seconds $value] }
        packetSize_ {
            set ::recorder::v::${name}::packetSize_ $value
            set_native $app Application/Traffic/CBR packetSize_ $value
        }
        default {
            set_native $app Application/Traffic/CBR $variable $value
            return $value
        }
    }
    set bits [expr {8.0 * [set ::recorder::v::${name}::packetSize_] / [set ::recorder::v::${name}::interval_]}]
    set_native $app Application/Traffic/CBR rate_ $bits
    return $value
}

# Methods of a simulator that only record or draw: what is recorded changes nothing that happens.
set recorder::only_recorded {
    get-ns-traceall flush-trace color trace-all namtrace-all trace-queue namtrace-queue create-trace eventtrace-all
    namtrace-config drop-trace get-nam-traceall puts-nam-traceall puts-ns-traceall puts-nam-config snapshot dumpq gen-map
    trace-annotate attach-fmon monitor-queue makeflowmon makeflowmon1 namtrace-some add-agent-trace delete-agent-trace
    monitor-agent-trace initial_node_pos create-eventtrace dump-namagents set-animation-rate clearTimers
    clear-mcast get-number-of-nodes dump-routelogic-nh dump-routelogic-distance gen-simulator maybeEnableTraceAll
    duplex-link-of-interfaces set-address-format-default create_packetformat compute-routes check-node-num trace-dynamics
}
proc recorder::simulator {name method args} {
    variable object
    variable now
    variable events
    variable order
    variable connections
    variable ended
    variable only_recorded
    switch $method {
        node {
            if {[llength $args]} {
                skip "Simulator node $args"
            }
            return [create Node]
        }
        duplex-link {
            lassign $args a b rate delay kind
            make_link $a $b $rate $delay $kind [lrange $args 5 end]
            make_link $b $a $rate $delay $kind [lrange $args 5 end]
        }
        simplex-link { make_link {*}[lrange $args 0 4] [lrange $args 5 end] }
        queue-limit {
            lassign $args a b limit
            set queue [queue_of $a $b]
            set_native $queue [dict get $object($queue) native] limit_ $limit
        }
        bandwidth - delay {
            lassign $args a b value type
            set variable [expr {$method eq "delay" ? "delay_" : "bandwidth_"}]
            set_native [dict get $object([link_of $a $b]) wire] Delay $variable $value
            if {$type eq "duplex"} {
                set_native [dict get $object([link_of $b $a]) wire] Delay $variable $value
            }
        }
        link { return [link_of [lindex $args 0] [lindex $args 1]] }
        attach-agent { attach_agent {*}$args }
        detach-agent { detach_agent [handle [lindex $args 1]] }
        connect {
            connect {*}$args
            return [lindex $args 0]
        }
        create-connection - create-connection-list - create-connection-listen - create-tcp-connection {
            lassign $args from_class a to_class b flow
            set from [create Agent/$from_class]
            set to [create Agent/$to_class]
            set_native $from [dict get $object($from) native] fid_ $flow
            set_native $to [dict get $object($to) native] fid_ $flow
            attach_agent $a $from
            attach_agent $b $to
            if {$method ne "create-tcp-connection"} {
                connect $from $to
            }
            return [expr {$method in {create-connection create-connection-listen} ? $from : [list $from $to]}]
        }
        at - after {
            # The scheduler reads a number and ignores a unit: 4ms is 4 s (Scheduler::command).
            if {![regexp {^\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?} [lindex $args 0] number]} {
                fail "\"[lindex $args 0]\" is not a time"
            }
            set at [expr {$number < 0 ? $now - $number : double($number)}]
            if {$method eq "after"} {
                set at [expr {$now + $at}]
            }
            set words [lrange $args 1 end]
            set script [expr {[llength $words] == 1 ? [lindex $words 0] : $words}]
            if {$at >= $now} {
                lappend events [list $at [incr order] $script [here]]
                set recorder::sorted 0
            }
            return $order
        }
        at-now { return [simulator $name at $now {*}$args] }
        cancel {
            set events [lsearch -all -inline -not -exact -integer -index 1 $events [lindex $args 0]]
        }
        now { return $now }
        halt - stop { set ended 1 }
        run { return "" }
        is-started { return [expr {$now > 0}] }
        get-simulator { return $name }
        rtproto {
            if {[lindex $args 0] ni {Static Session ""}} {
                skip "Simulator rtproto [lindex $args 0]"
            }
        }
        multicast {
            if {[lindex $args 0] ni {off 0}} {
                skip "Simulator multicast"
            }
        }
        cost {
            if {[lindex $args 2] ne "1"} {
                skip "Simulator cost [lindex $args 2]"
            }
        }
        duplex-link-op - simplex-link-op {
            if {[lindex $args 2] ni {orient color queuePos label label-color label-at dump trace-dynamics ""}} {
                skip "Simulator $method [lindex $args 2]"
            }
        }
        use-scheduler {
            if {[lindex $args 0] eq "RealTime"} {
                skip "Simulator use-scheduler RealTime"
            }
        }
        lossmodel - link-lossmodel {
            set model [handle [lindex $args 0]]
            link_of [lindex $args 1] [lindex $args 2]
            dict set object($model) lossy 1
            if {[set_variable $model rate_] != 0 || [dict get $object($model) native] ne "ErrorModel"} {
                skip "Simulator $method: [dict get $object($model) native] of rate [set_variable $model rate_]"
            }
        }
        DelayBox {
            skip "Simulator DelayBox"
            return [create Node]
        }
        all-nodes-list - nodes {
            return [lmap {key value} [array get object _o*] {
                if {[dict get $value native] ne "Node"} continue
                set key
            }]
        }
        get-node-by-id {
            foreach key [lsort -dictionary [array names object _o*]] {
                if {[dict get $object($key) native] eq "Node" && [node_id $key] eq [lindex $args 0]} {
                    return $key
                }
            }
            fail "there is no node [lindex $args 0]"
        }
        default {
            if {$method in $only_recorded} {
                return [create Monitor]
            }
            return [anything $name Simulator $method {*}$args]
        }
    }
    return ""
}
# The object of a name, which may be one that the study chose.
proc recorder::handle {word} {
    variable object
    if {[info exists object(named,$word)]} {
        return $object(named,$word)
    }
    if {![string match _o* $word] || ![info exists object($word)]} {
        fail "\"$word\" is no object"
    }
    return $word
}
proc recorder::attach_agent {node agent} {
    variable object
    variable now
    set agent [handle $agent]
    dict set object($agent) node [handle $node]
    dict unset object($agent) detached
    dict incr object([handle $node]) ports
    dict set object($agent) port [dict get $object([handle $node]) ports]
}
proc recorder::detach_agent {agent} {
    variable object
    variable now
    act $agent detach {}
    dict set object($agent) detached $now
}
proc recorder::connect {from to} {
    variable connections
    variable now
    variable started
    set from [handle $from]
    set to [handle $to]
    if {[info exists started($from)]} {
        skip "Simulator connect at $now s of an agent that has started"
        return
    }
    set connections [lmap pair $connections {
        if {[lindex $pair 0] eq $from} continue
        set pair
    }]
    lappend connections [list $from $to]
}
proc recorder::make_link {a b rate delay kind further} {
    variable object
    variable links
    set a [handle $a]
    set b [handle $b]
    set bits [bits $rate]
    set delay [seconds $delay]
    if {([llength $kind] > 1 || [llength $further]) && [lindex $kind 0] ni {DropTail RED}} {
        # Those of DropTail and RED change nothing: the second's is a letter of its trace.
        skip "further words of a link's queue ([concat [lrange $kind 1 end] $further])"
    }
    set kind [lindex $kind 0]
    if {[info exists object(link,$a,$b)]} {
        # The routes of ns-2 go over the last link that was made.
        set links [lsearch -all -inline -not -exact $links $object(link,$a,$b)]
    }
    set link [create Link]
    set queue [create Queue/$kind]
    set transmitter [create Delay]
    dict set object($transmitter) link $link
    set object($link) [dict merge $object($link) \
        [dict create self $link from $a to $b rate $bits delay $delay queue $queue wire $transmitter]]
    set ::recorder::v::${transmitter}::bandwidth_ $bits
    set ::recorder::v::${transmitter}::delay_ $delay
    set object(link,$a,$b) $link
    set object(queue,$a,$b) $queue
    lappend links $link
    variable simulator
    set ::recorder::v::${simulator}::link_([node_id $a]:[node_id $b]) $link
    return $link
}
proc recorder::link_of {a b} {
    variable object
    set a [handle $a]
    set b [handle $b]
    if {![info exists object(link,$a,$b)]} {
        variable skipped
        set other [lsearch -inline -index 1 $skipped "Simulator *-link*"]
        set why [expr {$other eq "" ? "" : " ([lindex $other 1] is not read)"}]
        fail "there is no link between these nodes$why"
    }
    return $object(link,$a,$b)
}
proc recorder::queue_of {a b} {
    variable object
    link_of $a $b
    set a [handle $a]
    set b [handle $b]
    return $object(queue,$a,$b)
}
proc recorder::link_object {name method args} {
    variable object
    switch $method {
        queue { return [dict get $object($name) queue] }
        link { return [dict get $object($name) wire] }
        fromNode - src { return [dict get $object($name) from] }
        toNode - dst { return [dict get $object($name) to] }
        delay { return [dict get $object($name) delay] }
        bw { return [dict get $object($name) rate] }
        head { return $name }
        up? { return up }
        cost? { return 1 }
        trace - nam-trace - init-monitor - attach-monitors - sample-queue-size - start-tracing -
        queue-sample-timeout - trace-dynamics - orient - color - queuePos - label - get-color - all-connectors -
        attach-taggers - add-sample-integrator - attach-monitor - dump-namconfig - init-outBytes - id {
            return [create Monitor]
        }
        default { return [anything $name Link $method {*}$args] }
    }
}
proc recorder::changed {wire variable value} {
    variable object
    variable changes
    variable now
    set value [expr {$variable eq "bandwidth_" ? [bits $value] : [seconds $value]}]
    lappend changes [list $now [dict get $object($wire) link] $variable $value [here]]
}
proc recorder::node_id {name} {
    variable object
    return [dict get $object($name) id]
}
proc recorder::node_object {name method args} {
    switch $method {
        id - node-addr { return [node_id $name] }
        label - label-color - label-at - color - shape - add-mark - delete-mark - cmd - reset - trace - trace-event -
        neighbors - dump-namconfig - change-color - start-app { return "" }
        entry { return $name }
        agent {
            variable agents
            variable object
            foreach agent $agents {
                if {[dict exists $object($agent) node] && [dict get $object($agent) node] eq $name
                    && [dict get $object($agent) port] eq [lindex $args 0]} {
                    return $agent
                }
            }
            return ""
        }
        attach { attach_agent $name [lindex $args 0] }
        detach { detach_agent [handle [lindex $args 0]] }
        default { return [anything $name Node $method {*}$args] }
    }
    return ""
}
# Methods of a queue that show its state.
proc recorder::queue_object {name native method args} {
    if {[string match Queue/dsRED* $native] && [diffserv $name $native $method {*}$args]} {
        return [expr {[string match get* $method] ? $recorder::reading : ""}]
    }
    switch $method {
        trace - attach - trace-type - printstats - print-stats - reset - link - peakqlen - bytesInQ {
            return 0
        }
        drop-target - cur-drop-target - target { return "" }
        mask - buckets - blimit - quantum {
            if {$native eq "Queue/DRR"} {
                return [set_native $name $native ${method}_ [lindex $args 0]]
            }
            return [anything $name $native $method {*}$args]
        }
        default { return [anything $name $native $method {*}$args] }
    }
}

# Commands of ns-2's DiffServ queues, which are read by their words; whether it is one.
proc recorder::diffserv {name native method args} {
    variable object
    variable now
    if {$method in {configQ addPHBEntry meanPktSize setSchedularMode setMREDMode addQueueWeights addQueueRate
            addPolicyEntry addPolicerEntry}} {
        if {$now > 0} {
            skip "$native $method at $now s"
        } else {
            dict lappend object($name) diffserv [list [here] $method {*}$args]
        }
        return 1
    }
    return [expr {$method in {setNumPrec getStat getAverage getCurrent getAverageV getCurrentV getCBucket printWRRcount
        printPHBTable printPolicyTable printPolicerTable printStats}}]
}

proc recorder::agent {name method args} {
    variable object
    switch $method {
        attach-source - attach-app {
            set kind [lindex $args 0]
            variable super
            set class [expr {$method eq "attach-source" && [info exists super(Source/$kind)] ? "Source/$kind" : "Application/$kind"}]
            set app [create $class]
            dict set object($app) agent $name
            return $app
        }
        attach-traffic { dict set object([handle [lindex $args 0]]) agent $name }
        attach-agent { return "" }
        send - sendmsg - advance - advanceby - start - stop - close - listen {
            set native [dict get $object($name) native]
            if {[dict exists $object($name) traffic] && $method in {start stop}} {
                return [act [dict get $object($name) traffic] $method {}]
            }
            if {$method in {close listen}} {
                return ""
            }
            set what [dict get {send send sendmsg send advance produce advanceby producemore start start stop stop} $method]
            act $name $what [lindex $args 0]
        }
        node {
            return [expr {[dict exists $object($name) node] ? [dict get $object($name) node] : ""}]
        }
        port - dst-port {
            variable connections
            set one $name
            if {$method eq "dst-port"} {
                set one [lindex [lsearch -inline -exact -index 0 $connections $name] 1]
            }
            return [expr {$one ne "" && [dict exists $object($one) port] ? [dict get $object($one) port] : -1}]
        }
        trace - namtrace - tracevar - attach - target - done - attach-trace - eventtrace - add-agent-trace -
        monitor-agent-trace - delete-agent-trace - trace-event - clear - agent_addr - add-var-trace - dump - monitor -
        set_callback - add-var { return "" }
        reset {
            variable now
            if {$now > 0} {
                skip "[dict get $object($name) native] reset at $now s"
            }
        }
        default { return [anything $name [dict get $object($name) native] $method {*}$args] }
    }
    return ""
}

proc recorder::application {name method args} {
    variable object
    switch $method {
        attach-agent - attach { dict set object($name) agent [handle [lindex $args 0]] }
        start - stop { act $name $method {} }
        send - produce - producemore { act $name $method [lindex $args 0] }
        agent { return [expr {[dict exists $object($name) agent] ? [dict get $object($name) agent] : ""}] }
        use-rng - target - trace { return "" }
        default { return [anything $name [dict get $object($name) native] $method {*}$args] }
    }
    return ""
}
proc recorder::act {name what argument} {
    variable actions
    variable now
    variable started
    variable object
    set started($name) 1
    if {[dict exists $object($name) agent]} {
        set started([dict get $object($name) agent]) 1
    }
    lappend actions [list $now $name $what $argument [here]]
    return ""
}

# Numbers that are drawn: all are the same quantile, so that running the study for several quantiles shows what of it is
# drawn, and from which distribution. With the quantile "mixed" some are 0.25 and others 0.75.
proc recorder::drawn {} {
    variable quantile
    variable draws
    variable draw_places
    incr draws
    set at [here]
    if {[llength $draw_places] < 5 && $at ni $draw_places} {
        lappend draw_places $at
    }
    if {$quantile eq "mixed"} {
        return [expr {(($draws * 2654435761) >> 7) & 1 ? 0.25 : 0.75}]
    }
    return $quantile
}
proc recorder::rng {name method args} {
    lassign $args a b
    switch $method {
        uniform { return [expr {$a + [drawn] * (double($b) - $a)}] }
        integer { return [expr {int([drawn] * $a)}] }
        exponential { return [expr {-log(1 - [drawn]) * ($a eq "" ? 1.0 : $a)}] }
        normal { return [expr {$a + $b * 1.35 * ([drawn] - 0.5)}] }
        seed - next-substream - reset-next-substream - reset-start-substream - next-stream - all-substream - default -
        predef - raw-seed { return 0 }
        next-random { return [expr {int([drawn] * 2147483647)}] }
        default { return [expr {int([drawn] * 2147483647)}] }
    }
}
proc recorder::random_variable {name class method args} {
    if {$method ne "value"} {
        if {$method ni {use-rng}} {
            anything $name $class $method {*}$args
        }
        return ""
    }
    set get {{name key} { return [expr {double([recorder::set_variable $name $key])}] }}
    set q [drawn]
    switch $class {
        RandomVariable/Uniform {
            set low [apply $get $name min_]
            return [expr {$low + $q * ([apply $get $name max_] - $low)}]
        }
        RandomVariable/Exponential { return [expr {-log(1 - $q) * [apply $get $name avg_]}] }
        RandomVariable/Constant { return [apply $get $name val_] }
        RandomVariable/Pareto {
            set shape [apply $get $name shape_]
            return [expr {[apply $get $name avg_] * ($shape - 1) / $shape * pow(1 - $q, -1.0 / $shape)}]
        }
        RandomVariable/Normal { return [expr {[apply $get $name avg_] + [apply $get $name std_] * 1.35 * ($q - 0.5)}] }
    }
    fail "numbers of $class are not drawn here (allowed: Uniform, Exponential, Constant, Pareto, Normal)"
}
proc ::tcl::mathfunc::rand {} {
    return [recorder::drawn]
}
proc ::tcl::mathfunc::srand {args} {
    return [recorder::drawn]
}

# A method that only observes, or one that is not carried over.
proc recorder::anything {name class method args} {
    if {$class eq "Unread"} {
        skip "$method of an object of ns-2's library"
        return $name
    }
    if {$class in {Monitor Samples Integrator Trace Tracefile} || [string match SnoopQueue/* $class]
        || [string match QueueMonitor* $class] || [string match Trace/* $class] || $class eq "Delay" && $method in {trace link}} {
        return [expr {[string match get-* $method] || $method in {classifier} ? [create Monitor] : $recorder::reading}]
    }
    if {[string match ErrorMod* $class] || [string match Classifier/Hash* $class]} {
        # What it does is reported where it is put into a link.
        return ""
    }
    skip "$class $method"
    # What it gives may be an object, of which nothing is read either.
    if {$method in {errormodule classifier slot target errormodels getNode hier-node newLan} || [string match get-* $method]} {
        return [create Unread]
    }
    return 0
}

# A class: its variables, procedures and objects.
proc recorder::class_call {class args} {
    variable class_set
    variable class_place
    variable method
    variable own
    variable super
    variable simulator
    set word [lindex $args 0]
    set args [lrange $args 1 end]
    switch $word {
        set {
            set variable [lindex $args 0]
            if {[llength $args] > 1} {
                set class_set($class,$variable) [lindex $args 1]
                set class_place($class,$variable) [here]
                return [lindex $args 1]
            }
            return [default $class $variable]
        }
        unset { return [unset -nocomplain class_set($class,[lindex $args 0])] }
        instproc { return [define $class {*}$args] }
        proc {
            lassign $args name arguments body
            return [define "class $class" $name $arguments $body]
        }
        public - private - instvar - instmixin - mixin { return "" }
        superclass {
            variable chains
            set super($class) [lindex $args 0]
            array unset chains
            return ""
        }
        info {
            switch [lindex $args 0] {
                subclass {
                    if {[llength $args] > 1} {
                        return [expr {$class in [chain [lindex $args 1]]}]
                    }
                    return [lsort [lmap {one above} [array get super] {
                        if {$class ni $above} continue
                        set one
                    }]]
                }
                superclass {
                    if {[llength $args] > 1} {
                        return [expr {[lindex $args 1] in [chain $class]}]
                    }
                    return $super($class)
                }
                class { return Class }
                instbody { return [expr {[info exists method($class,[lindex $args 1])] ? [info body $method($class,[lindex $args 1])] : ""}] }
                instargs { return [expr {[info exists method($class,[lindex $args 1])] ? [lrange [info args $method($class,[lindex $args 1])] 3 end] : ""}] }
                instprocs {
                    set pattern [expr {[llength $args] > 1 ? [lindex $args 1] : "*"}]
                    return [lmap key [array names method $class,$pattern] {string range $key [string length $class]+1 end}]
                }
                vars {
                    return [lmap key [array names class_set $class,*] {string range $key [string length $class]+1 end}]
                }
            }
            return ""
        }
        instance {
            if {$class eq "Simulator"} {
                return $simulator
            }
        }
        create { return [make $class [lindex $args 0] {*}[lrange $args 1 end]] }
    }
    if {[info exists method(class\ $class,$word)]} {
        tailcall $method(class\ $class,$word) $class $class $word {*}$args
    }
    if {$word ne "" && ![string match -* $word]} {
        # Any other word is the name of a new object.
        return [make $class $word {*}$args]
    }
    skip "$class $word"
    return ""
}
# An object of a class, after its procedures `init`.
proc recorder::make {class name args} {
    variable method
    set handle [create $class $name]
    foreach one [chain $class] {
        if {[info exists method($one,init)]} {
            $handle init {*}$args
            break
        }
    }
    return [expr {$name eq "" ? $handle : $name}]
}

# Words that are no procedure: a class of ns-2, or something that is not known.
proc unknown {word args} {
    if {[info exists recorder::super($word)]} {
        tailcall recorder::class_call $word {*}$args
    }
    if {$word eq ""} {
        recorder::fail "a command is empty: a variable or a procedure of the study gives nothing here"
    }
    if {[regexp {^-?[0-9.]+$} $word]} {
        recorder::fail "a value of the simulation ($word) is used as an object or command"
    }
    recorder::fail "\"$word\" is not known here"
}
proc new {class args} {
    return [recorder::make $class "" {*}$args]
}
proc delete {args} {}
proc Class {name args} {
    if {$name in {instproc proc set info}} {
        recorder::skip "Class $name"
        return ""
    }
    set above Object
    if {[lindex $args 0] eq "-superclass"} {
        set above [lindex $args 1]
    }
    foreach one $above {
        if {![info exists recorder::super($one)] && $one ne "Object"} {
            recorder::fail "the class \"$one\" is not known to ns-2 2.35"
        }
    }
    set recorder::super($name) $above
    set recorder::own($name) 1
    array unset recorder::chains
    interp alias {} $name {} recorder::class_call $name
    return $name
}
proc ns-random {args} {
    if {[lindex $args 0] eq "seed" || [llength $args]} {
        return 0
    }
    return [expr {int([recorder::drawn] * 2147483647)}]
}
proc ns-hasSTL {} {
    return 1
}
proc uniform {a b} {
    return [expr {$a + [recorder::drawn] * ($b - $a)}]
}
proc exponential {mean} {
    return [expr {-log(1 - [recorder::drawn]) * $mean}]
}
proc integer {n} {
    return [expr {int([recorder::drawn] * $n)}]
}
proc ns-version {} {
    return 2.35
}
proc remove-all-packet-headers {} {
    remove-packet-header IP Flags RTP TCP
}
proc remove-packet-header {args} {
    foreach header $args {
        dict set recorder::removed $header [recorder::here]
    }
}
proc add-packet-header {args} {
    foreach header $args {
        dict unset recorder::removed $header
    }
}
proc add-all-packet-headers {} {
    set recorder::removed {}
}
# Headers that are removed and that ns-2 uses all the same: it writes into other fields in their place.
proc recorder::without_headers {} {
    variable agents
    variable object
    variable removed
    variable skipped
    set kinds [lmap agent $agents {dict get $object($agent) native}]
    set needed {IP Flags}
    if {[lsearch $kinds Agent/UDP*] >= 0 || [lsearch $kinds Agent/CBR*] >= 0} {
        lappend needed RTP
    }
    if {[lsearch $kinds Agent/TCP*] >= 0} {
        lappend needed TCP
    }
    foreach header $needed {
        if {[dict exists $removed $header]} {
            lappend skipped [list [dict get $removed $header] "the removal of the header $header, which packets need,"]
        }
    }
}
proc use-scheduler {args} {}
proc puts {args} {}
proc open {args} {
    return file
}
proc close {args} {}
proc flush {args} {}
proc fconfigure {args} {}
proc gets {args} {
    return -1
}
proc eof {args} {
    return 1
}
proc exec {args} {
    return ""
}
set PERL perl
proc source {args} {
    set name [lindex $args end]
    if {![regexp {^[ -~]+$} $name]} {
        recorder::fail "source: the name of a file has characters that are not ASCII"
    }
    set number [recorder::prepare_file $name]
    if {![string is integer -strict $number]} {
        recorder::fail "source $name: $number"
    }
    uplevel 1 [list recorder::load_file $number]
}
# Names of files without a file system.
proc file {what args} {
    set parts [split [lindex $args 0] /]
    switch $what {
        tail { return [lindex $parts end] }
        dirname { return [expr {[llength $parts] > 1 ? [join [lrange $parts 0 end-1] /] : "."}] }
        rootname { return [regsub {\.[^./]*$} [lindex $args 0] {}] }
        extension { return [regexp -inline {\.[^./]*$} [lindex $parts end]] }
        join { return [join $args /] }
        exists - isdirectory - isfile - readable - writable - executable { return 0 }
    }
    return ""
}
proc cd {args} {}
proc pwd {} {
    return .
}
proc exit {args} {
    set recorder::ended 1
    error "the end"
}

# Runs the events in order of time until one ends the simulation.
proc recorder::simulate {most} {
    variable events
    variable now
    variable ended
    variable event_place
    variable failed
    variable skipped
    variable sorted
    for {set n 0} {!$ended && [llength $events]} {incr n} {
        if {$n >= $most} {
            return 0
        }
        if {!$sorted} {
            set events [lsort -real -index 0 $events]
            set sorted 1
        }
        set event [lindex $events 0]
        set events [lrange $events 1 end]
        set now [lindex $event 0]
        set event_place [lindex $event 3]
        set failed {"" ""}
        set code [catch {uplevel #0 [lindex $event 2]} problem]
        if {$code == 1 && !$ended} {
            set at [expr {[lindex $failed 0] eq $problem ? [lindex $failed 1] : $event_place}]
            lappend skipped [list $at "the event at $now s, which fails here ($problem),"]
            if {[would_end [lindex $event 2] 3]} {
                set ended 1
            }
        }
    }
    return 1
}
# Whether a script, or a procedure that it calls, ends the simulation.
proc recorder::would_end {script depth} {
    variable method
    foreach word [regexp -all -inline {[A-Za-z_:][A-Za-z0-9_:]*} $script] {
        if {$word in {exit halt}} {
            return 1
        }
        if {$depth > 0} {
            set procedures [lmap key [array names method *,$word] {set method($key)}]
            if {[llength [info procs ::$word]] && ![string match recorder::* $word] && $word ni {new Class unknown}} {
                lappend procedures ::$word
            }
            foreach one $procedures {
                if {[would_end [info body $one] [expr {$depth - 1}]]} {
                    return 1
                }
            }
        }
    }
    return 0
}
proc recorder::dump {} {
    without_headers
    variable object
    variable links
    variable agents
    variable connections
    variable actions
    variable changes
    variable skipped
    variable now
    variable place
    variable draws
    variable draw_places
    variable library
    variable state_places
    set all {}
    foreach name [array names object _o*] {
        set own $object($name)
        set settings {}
        set places {}
        set class [dict get $own class]
        if {[dict get $own native] ne ""} {
            foreach variable [info vars ::recorder::v::${name}::*] {
                if {![info exists $variable] || [array exists $variable]} {
                    continue
                }
                set short [namespace tail $variable]
                dict set settings $short [set $variable]
                if {[info exists place($name,$short)]} {
                    dict set places $short [list $place($name,$short) [is_of_library $class $short]]
                }
            }
        }
        dict set own class [expr {[dict get $own native] eq "" ? $class : [dict get $own native]}]
        dict set own settings $settings
        dict set own places $places
        dict set all $name $own
    }
    return [dict create objects $all links $links agents $agents connections $connections actions $actions \
        changes $changes skipped $skipped end $now draws $draws draw_places $draw_places state_places $state_places]
}
# Handles that global variables hold, by handle: the name of the variable, or the index in an array.
proc recorder::names {} {
    set found {}
    foreach variable [concat [info globals] [info vars ::recorder::v::*::*]] {
        upvar #0 $variable value
        set short [namespace tail $variable]
        if {[array exists value]} {
            foreach {index handle} [array get value] {
                if {[regexp {^_o[0-9]+$} $handle]} {
                    dict lappend found $handle [list $index $short]
                }
            }
        } elseif {[info exists value] && [regexp {^_o[0-9]+$} $value]} {
            dict lappend found $value [list $short ""]
        }
    }
    return $found
}
