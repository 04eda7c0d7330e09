#!/bin/sh
DEV=eth0
start() {
    tc qdisc add dev $DEV root handle 1: tbf rate 2mbit burst 1540 limit 20000
    tc qdisc add dev $DEV parent 1:1 handle 10: sfq perturb 10
}
stop() {
    tc qdisc del dev $DEV root
}
case "$1" in
start) start ;;
stop) stop ;;
esac
