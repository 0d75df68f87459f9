"""Estimates: what a run costs on a host, and when it finishes."""
