"""K. Nichols, V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012. Text of Comm. ACM 55(7), no figure."""

from aqmlab.papers.codel.paper import PAPER as PAPER
