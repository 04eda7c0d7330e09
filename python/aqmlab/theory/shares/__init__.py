"""Shares of drops and throughput by class, where a discipline does not drop all packets alike.

* `response`: the window of a class that loses another share of its packets than the whole queue does
* `pc_red`: PC-RED's three channels, closed with the loop of a_d
* `ddred`: DDRED's shares by distance
* `adaptive_rio`: assured and best-effort classes under thresholds that move
* `transfers`: how many transfers are active, from the draws of one seed
"""
