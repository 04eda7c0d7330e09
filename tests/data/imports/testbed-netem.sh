IF=enp0s31f6
DELAY_MS=10
RATE_MBIT=3
tc qdisc del dev $IF root
tc qdisc add dev $IF root handle 1: netem delay ${DELAY_MS}ms 2ms loss 0.1%
tc qdisc add dev $IF parent 1: handle 2: tbf rate ${RATE_MBIT}mbit burst 1540 latency 400ms
