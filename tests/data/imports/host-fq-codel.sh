sudo tc qdisc replace dev eth0 root fq_codel limit 2000 target 3ms interval 40ms noecn
