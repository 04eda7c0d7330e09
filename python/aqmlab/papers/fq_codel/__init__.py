"""FQ-CoDel: Hoeiland-Joergensen et al., RFC 8290, 2018, of which the whole text was read."""

from aqmlab.papers.fq_codel.paper import PAPER as PAPER
