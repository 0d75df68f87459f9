"""Benchmarks: seeded instances, baselines in the same run, ratios rather than seconds."""
