for i in 1 2 3
do
    sudo tc qdisc add dev tap$i root tbf rate 300mbit limit 1000k burst 1000k
done
