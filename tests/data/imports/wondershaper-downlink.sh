DOWNLINK=800
DEV=ppp0
for a in $NOPRIOPORTSRC
do
    tc filter add dev $DEV parent 1: protocol ip prio 14 u32 match ip sport $a 0xffff flowid 1:20
done
tc qdisc add dev $DEV root fq_codel
