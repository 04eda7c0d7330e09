"""Reference event traces from ns-2 2.35: the cases, the run of ns-2, the checks and the files."""
