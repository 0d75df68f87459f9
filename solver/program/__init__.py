"""Integer programs, whatever they are about: rows, parts, the linear relaxation, CP-SAT."""
