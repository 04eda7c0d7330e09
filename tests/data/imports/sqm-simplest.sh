tc qdisc add dev eth1 root handle 1: stab overhead 22 linklayer ethernet htb default 10
tc class add dev eth1 parent 1: classid 1:1 htb quantum 1500 rate 18000kbit ceil 18000kbit burst 1514 cburst 1514
tc class add dev eth1 parent 1:1 classid 1:10 htb quantum 1500 rate 18000kbit ceil 18000kbit burst 1514 cburst 1514
tc qdisc add dev eth1 parent 1:10 handle 110: fq_codel limit 1001 target 5ms interval 100ms noecn
