# threshold of DCTCP as RED with min and max close to each other
LIMIT=100000
MIN=30000
MAX=35000
tc qdisc add dev s1-eth2 root handle 5: htb default 1
tc class add dev s1-eth2 parent 5: classid 5:1 htb rate 100mbit burst 15k
tc qdisc add dev s1-eth2 parent 5:1 handle 6: red limit $LIMIT min $MIN max $MAX avpkt 1500 burst 20 bandwidth 100mbit probability 1 ecn
tc qdisc add dev s1-eth2 parent 6: handle 10: netem delay 2ms
