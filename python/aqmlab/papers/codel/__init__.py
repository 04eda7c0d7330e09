"""K. Nichols, V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; the text is that of Comm. ACM 55(7)."""

from aqmlab.papers.codel.paper import PAPER as PAPER
