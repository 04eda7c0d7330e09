tc qdisc add dev eth0 root handle 1: htb default 1
tc class add dev eth0 parent 1: classid 1:1 htb rate 30mbit
tc qdisc add dev eth0 parent 1:1 handle 10: ets bands 3 strict 1 quanta 3000 1500 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
tc qdisc add dev eth0 parent 10:1 handle 11: pfifo limit 50
tc qdisc add dev eth0 parent 10:2 handle 12: pie limit 500
tc qdisc add dev eth0 parent 10:3 handle 13: pie limit 500
tc filter add dev eth0 parent 10: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 10:1
tc filter add dev eth0 parent 10: protocol ip prio 2 u32 match ip dsfield 0x28 0xfc flowid 10:2
