sysctl -w net.ipv4.tcp_congestion_control=bbr
tc qdisc replace dev eth0 root fq pacing
