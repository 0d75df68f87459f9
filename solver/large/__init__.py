"""Thousands of hosts: bounds over cells, packing onto hosts, a few hosts at a time."""
