"""Per node: each worker has a power of two of GPUs, where the run's policy says so."""

from __future__ import annotations

from stowplan.solver.shapes import Against, Cut


def why_uncut(cut: Cut) -> Against | None:
    """UNEVEN_SHAPE where GPUs / workers is no power of two; a run without GPUs has none."""
    each = cut.gpus_each
    if cut.run.gpus.policy != "per_node" or each.bit_count() <= 1:
        return None
    text = f"{cut.words} is {each} each, not a power of two as policy per_node asks"
    return Against("gpus_each", each, text)
