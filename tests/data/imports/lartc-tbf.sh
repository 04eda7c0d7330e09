tc qdisc add dev ppp0 root tbf rate 220kbit latency 50ms burst 1540
