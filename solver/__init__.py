"""Encode, solve, decode, check, explain."""
