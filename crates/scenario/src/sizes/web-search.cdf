# Flows of a cluster that answers web searches: bytes, cumulative probability.
# M. Alizadeh, A. Greenberg, D. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan, "Data Center TCP (DCTCP)",
# SIGCOMM 2010, figure 4. The points are those that simulations since pFabric (SIGCOMM 2013, figure 4a) use, rounded to whole
# kilobytes.
0 0
10000 0.15
20000 0.2
30000 0.3
50000 0.4
80000 0.53
200000 0.6
1000000 0.7
2000000 0.8
5000000 0.9
10000000 0.97
30000000 1
