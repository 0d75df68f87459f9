"""Min per machine: no worker has fewer GPUs than its run asks for on each machine."""

from __future__ import annotations

from stowplan.solver.shapes import Against, Cut


def why_uncut(cut: Cut) -> Against | None:
    """UNEVEN_SHAPE where GPUs / workers < min_per_machine; a run without GPUs asks for none."""
    least, each = cut.run.gpus.min_per_machine, cut.gpus_each
    if least is None or not cut.run.gpus.count or each >= least:
        return None
    text = f"{cut.words} is {each} each, fewer than min_per_machine {least}"
    return Against("min_per_machine", least, text)
