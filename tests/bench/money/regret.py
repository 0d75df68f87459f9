"""What placements fall short of by what each run asks for, in dollars, so that it sums over runs.

As if the run were alone: by its profile, the rate over the lowest for as long as it runs, the cost
over the lowest, or the share by which it ends later than it could, of its lowest cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stowplan.model.snapshot import Snapshot
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.pricing import Market, Ranking


class Worth:
    """What every offering of a snapshot is worth to each of its runs."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Appraise every host for every run."""
        market = Market(snapshot)
        self._places = {name: host.place for name, host in market.named.items()}
        self._appraisals: dict[str, Appraisal] = {}
        for run in snapshot.runs:
            ranking = market.ranked(run)
            if isinstance(ranking, Ranking) and ranking.appraisal is not None:
                self._appraisals[run.name] = ranking.appraisal

    def regret(self, hosts: Mapping[str, str], runs: Iterable[str]) -> float:
        """Return the dollars of regret of some runs on the hosts where they are placed."""
        total = 0
        for run in runs:
            appraisal = self._appraisals[run]
            total += int(appraisal.regret[appraisal.at(self._places[hosts[run]])])
        return total / 1e6
