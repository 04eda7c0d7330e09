# Writes ns-2's own defaults, as ns has them in memory: `ns validation/ns2_defaults.tcl > OUT`, where OUT is
# python/aqmlab/interop/importing/ns2_defaults.txt.
#
# A line a class: its name, the classes above it, its variables with their values, and the variables without a value that
# the procedures of ns-2's library use (`instvar`) in objects of the class. All are lists of Tcl.

proc walk {class} {
    set found [list $class]
    foreach below [$class info subclass] {
        set found [concat $found [walk $below]]
    }
    return $found
}
proc library_variables {class} {
    set found {}
    foreach name [$class info instprocs] {
        foreach line [split [$class info instbody $name] ";\n"] {
            if {[regexp {^\s*(?:\$self|eval\s+\$self)\s+instvar\s+(.*)$} $line -> words]} {
                foreach word [regexp -all -inline {[A-Za-z][A-Za-z0-9_]*} $words] {
                    lappend found $word
                }
            }
        }
    }
    return [lsort -unique $found]
}
puts "# Made by `ns validation/ns2_defaults.tcl` with ns-[ns-version]: class, classes above, variables, library variables."
foreach class [lsort -unique [walk Object]] {
    if {[string match *_o* $class]} {
        continue
    }
    set values {}
    foreach variable [lsort [$class info vars]] {
        if {[$class info vars $variable] ne "" && ![catch {$class set $variable} value] && [string length $value] < 40} {
            lappend values $variable $value
        }
    }
    set library {}
    foreach variable [library_variables $class] {
        if {$variable ni $values} {
            lappend library $variable
        }
    }
    puts [list $class [$class info superclass] $values $library]
}
