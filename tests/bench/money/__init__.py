"""Benches of money: a market of real offerings, rankings, and what the hourly price hides."""
