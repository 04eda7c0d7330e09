tc qdisc del dev pppoe-wan root
tc qdisc add dev pppoe-wan root handle 1: stab mtu 2047 tsize 512 mpu 68 overhead 44 linklayer adsl htb default 12
tc class add dev pppoe-wan parent 1: classid 1:1 htb quantum 1500 rate 800kbit ceil 800kbit
tc class add dev pppoe-wan parent 1:1 classid 1:10 htb quantum 1500 rate 800kbit ceil 800kbit prio 0
tc class add dev pppoe-wan parent 1:1 classid 1:11 htb quantum 1500 rate 128kbit ceil 266kbit prio 1
tc class add dev pppoe-wan parent 1:1 classid 1:12 htb quantum 1500 rate 133kbit ceil 784kbit prio 2
tc class add dev pppoe-wan parent 1:1 classid 1:13 htb quantum 1500 rate 133kbit ceil 784kbit prio 3
tc qdisc add dev pppoe-wan parent 1:11 handle 110: fq_codel limit 1001 target 15ms interval 110ms noecn quantum 300
tc qdisc add dev pppoe-wan parent 1:12 handle 120: fq_codel limit 1001 target 15ms interval 110ms noecn quantum 300
tc qdisc add dev pppoe-wan parent 1:13 handle 130: fq_codel limit 1001 target 15ms interval 110ms noecn quantum 300
tc filter add dev pppoe-wan parent 1:0 protocol all prio 999 u32 match ip protocol 0 0x00 flowid 1:12
tc filter add dev pppoe-wan parent 1:0 protocol ip prio 1 handle 1 fw classid 1:11
tc filter add dev pppoe-wan parent 1:0 protocol ip prio 2 handle 2 fw classid 1:12
tc filter add dev pppoe-wan parent 1:0 protocol ip prio 3 handle 3 fw classid 1:13
tc qdisc add dev pppoe-wan handle ffff: ingress
tc qdisc add dev ifb4pppoe-wan root handle 1: stab mtu 2047 tsize 512 mpu 68 overhead 44 linklayer adsl htb default 10
tc class add dev ifb4pppoe-wan parent 1: classid 1:1 htb quantum 1500 rate 10000kbit ceil 10000kbit
tc class add dev ifb4pppoe-wan parent 1:1 classid 1:10 htb quantum 1500 rate 10000kbit ceil 10000kbit
tc qdisc add dev ifb4pppoe-wan parent 1:10 handle 110: fq_codel limit 1001 ecn
tc filter add dev pppoe-wan parent ffff: protocol all prio 10 u32 match u32 0 0 flowid 1:1 action mirred egress redirect dev ifb4pppoe-wan
