# Prints the first COUNT draws of ns-2's generator under SEED without loss.
#
#     ns draws.tcl SEED COUNT
#
# Tcl sees a draw only rounded. The state shows it whole: of the six numbers after a draw, the third minus the sixth,
# modulo 2^32 - 209 and in [1, 2^32 - 209], over 2^32 - 208, is the draw in (0, 1). Prints these numerators.

lassign $argv seed count
$defaultRNG seed $seed
set modulus 4294967087
for {set i 0} {$i < $count} {incr i} {
    $defaultRNG next-random
    set state [$defaultRNG all-seeds]
    set difference [expr {wide([lindex $state 2]) - wide([lindex $state 5])}]
    puts [expr {$difference > 0 ? $difference : $difference + $modulus}]
}
exit 0
