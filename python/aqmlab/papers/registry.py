"""The papers of the package."""

PAPERS = {
    "pc-red": "aqmlab.papers.pc_red",
    "mred": "aqmlab.papers.mred",
    "ddred": "aqmlab.papers.ddred",
    "exred": "aqmlab.papers.exred",
    "adaptive-rio": "aqmlab.papers.adaptive_rio",
}
"""Key to package of the extensions of RED, in the order of the overview: the papers of ``aqmlab reproduce all``."""

OTHER_PAPERS = {
    "codel": "aqmlab.papers.codel",
    "pie": "aqmlab.papers.pie",
    "dualpi2": "aqmlab.papers.dualpi2",
    "fq-codel": "aqmlab.papers.fq_codel",
}
"""Key to package of papers on other disciplines, which are reproduced one by one."""

EVERY_PAPER = PAPERS | OTHER_PAPERS
"""Key to package of every paper. A package has its `Paper` as ``PAPER``."""
