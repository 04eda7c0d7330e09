"""PI2: De Schepper et al., "PI2: A Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016; and RFC 9332."""

from aqmlab.papers.dualpi2.paper import PAPER

__all__ = ["PAPER"]
