tc qdisc add dev eth0 root handle 1: htb default 12
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit
tc filter add dev eth0 parent 1: protocol ip handle 6 fw flowid 1:1
tc qdisc add dev eth0 parent 1:1 handle 101: sfq perturb 20
iptables -t mangle -A PREROUTING -j MARK --set-mark 6
