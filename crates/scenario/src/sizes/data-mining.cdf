# Flows of a cluster for data mining: bytes, cumulative probability.
# A. Greenberg, J. R. Hamilton, N. Jain, S. Kandula, C. Kim, P. Lahiri, D. A. Maltz, P. Patel, S. Sengupta, "VL2: A Scalable and
# Flexible Data Center Network", SIGCOMM 2009, figure 2. The points are those of the TrafficGenerator of HKUST.
0 0
180 0.1
216 0.2
560 0.3
900 0.4
1100 0.5
1870 0.6
3160 0.7
10000 0.8
400000 0.9
3160000 0.95
100000000 0.98
1000000000 1
