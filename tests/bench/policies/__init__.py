"""Ways to answer an instance: ours, online rules, a greedy order, and two exact solvers."""
