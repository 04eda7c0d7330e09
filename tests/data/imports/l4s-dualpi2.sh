tc qdisc replace dev eth0 root handle 1: htb default 1
tc class add dev eth0 parent 1: classid 1:1 htb rate 40mbit
tc qdisc add dev eth0 parent 1:1 handle 10: dualpi2 target 15ms tupdate 16ms coupling_factor 2
