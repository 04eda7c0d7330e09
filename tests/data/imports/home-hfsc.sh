DEV=enp3s0
/sbin/tc qdisc add dev $DEV root handle 1: hfsc default 20
/sbin/tc class add dev $DEV parent 1: classid 1:1 hfsc sc rate 1000kbit ul rate 1000kbit
/sbin/tc class add dev $DEV parent 1:1 classid 1:10 hfsc sc umax 1500b dmax 53ms rate 400kbit ul rate 1000kbit
/sbin/tc class add dev $DEV parent 1:1 classid 1:20 hfsc ls rate 600kbit ul rate 1000kbit
/sbin/tc qdisc add dev $DEV parent 1:20 handle 20: codel
