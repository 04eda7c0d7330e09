tc qdisc add dev wlan0 root handle 1: htb default 20
tc class add dev wlan0 parent 1: classid 1:10 htb rate 6mbit ceil 8mbit
tc class add dev wlan0 parent 1: classid 1:20 htb rate 2mbit ceil 8mbit
tc filter add dev wlan0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10
