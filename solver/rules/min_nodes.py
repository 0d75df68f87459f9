"""Min nodes: a run never has fewer workers than it asks for."""

from __future__ import annotations

from stowplan.solver.shapes import Against, Cut


def why_uncut(cut: Cut) -> Against | None:
    """UNEVEN_SHAPE where workers < min_nodes."""
    least = cut.run.topology.min_nodes
    if least is None or cut.tasks >= least:
        return None
    run, chosen = cut.run, cut.run.node_selection
    is_told = run.gpus.count or run.machines or chosen.count or chosen.names
    is_one = not is_told and chosen.mode != "all"
    why = "; a run without GPUs has one worker unless machines says more" if is_one else ""
    return Against("min_nodes", least, f"{cut.words}: fewer than min_nodes {least}{why}")
