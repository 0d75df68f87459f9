"""Min nodes: a run never has fewer workers than it asks for."""

from __future__ import annotations

from stowplan.solver.shapes import Against, Cut


def why_uncut(cut: Cut) -> Against | None:
    """UNEVEN_SHAPE where workers < min_nodes; an element of an array has no nodes to bound."""
    least = cut.run.topology.min_nodes
    if least is None or cut.run.array or cut.tasks >= least:
        return None
    return Against("min_nodes", least, f"{cut.words}: fewer than min_nodes asks")
