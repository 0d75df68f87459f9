"""What the words of snapshot and decision mean, said a second time, for the tests alone.

Only types are shared with the engine: snapshot, fleet, runs, policy, decision. Cores are counted in
thousandths, memory in bytes.
"""
