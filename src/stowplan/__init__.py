"""Stowplan decides where GPU work runs.

`load` reads a snapshot, `solve` decides one cycle: `stowplan.solve(stowplan.load("fleet.yaml"))`.
"""
