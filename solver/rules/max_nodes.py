"""Max nodes: a run never has more workers than it allows."""

from __future__ import annotations

from stowplan.solver.shapes import Against, Cut


def why_uncut(cut: Cut) -> Against | None:
    """UNEVEN_SHAPE where workers > max_nodes."""
    most = cut.run.topology.max_nodes
    if most is None or cut.tasks <= most:
        return None
    return Against("max_nodes", most, f"{cut.words}: more than max_nodes {most}")
