tc qdisc add dev eth1 root handle 1: htb default 11
tc class add dev eth1 parent 1: classid 1:1 htb rate 50mbit ceil 50mbit burst 1600b cburst 1600b
tc class add dev eth1 parent 1:1 classid 1:11 htb rate 50mbit ceil 50mbit burst 1600b cburst 1600b
tc qdisc add dev eth1 parent 1:11 handle 11: codel limit 100 target 4ms interval 30ms ecn
tc qdisc add dev eth0 root netem delay 15ms
