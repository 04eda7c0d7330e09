ip netns exec router tc qdisc add dev veth0 root handle 1: tbf rate 50mbit burst 1514 limit 150000
ip netns exec router tc qdisc add dev veth0 parent 1:1 handle 2: pie limit 100 target 15ms tupdate 15ms ecn
ip netns exec client tc qdisc add dev veth0 root netem delay 20ms
