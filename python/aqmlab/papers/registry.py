"""The papers of the package."""

PAPERS = {
    "pc-red": "aqmlab.papers.pc_red",
    "mred": "aqmlab.papers.mred",
    "ddred": "aqmlab.papers.ddred",
    "exred": "aqmlab.papers.exred",
    "adaptive-rio": "aqmlab.papers.adaptive_rio",
}
"""Key to package of every paper, in the order of the overview. A package has its `Paper` as ``PAPER``."""
