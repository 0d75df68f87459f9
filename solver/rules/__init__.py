"""The hard rules, one module each; `solver.cycle` lists them in their order."""
