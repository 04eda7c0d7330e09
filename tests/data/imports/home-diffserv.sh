#!/bin/sh
DEV=eth1
RATE=${RATE:-20mbit}
tc qdisc replace dev $DEV root handle 1: htb default 20
tc class add dev $DEV parent 1: classid 1:1 htb rate $RATE
tc class add dev $DEV parent 1:1 classid 1:10 htb rate 5mbit ceil $RATE
tc class add dev $DEV parent 1:1 classid 1:20 htb rate 15mbit ceil $RATE
tc qdisc add dev $DEV parent 1:10 handle 110: fq_codel limit 600 quantum 300
tc qdisc add dev $DEV parent 1:20 handle 120: fq_codel limit 1200 noecn
tc filter add dev $DEV parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
tc filter add dev $DEV parent 1: protocol ip prio 2 u32 match ip dsfield 0x88 0xfc flowid 1:10
