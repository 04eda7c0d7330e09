//! `aqmlab-link`: the bottleneck of a live run by itself, for machines without Python.

fn main() {}
