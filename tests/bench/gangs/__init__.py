"""Runs of several workers, next to a scheduler that goes down the ladder run by run."""
