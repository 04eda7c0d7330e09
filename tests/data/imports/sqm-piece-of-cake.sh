tc qdisc del dev eth0 root
tc qdisc add dev eth0 root cake bandwidth 20000kbit besteffort overhead 44 mpu 84
