"""Prices: what the audit itself takes a run to cost on one host, and when it ends there.

Nothing is worked out before it is asked for: most snapshots have no prices and no limits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from stowplan.model.audit.instances import Host, Instance
from stowplan.model.estimating.duration import RunningTime, family_of, running_time
from stowplan.model.estimating.gang import GangOutlook, Node, gang_outlook
from stowplan.model.estimating.hosts import machine_tariffs
from stowplan.model.estimating.outlook import Outlook, outlook
from stowplan.model.estimating.parts import needs_of
from stowplan.model.estimating.tariff import Tariff, offering_tariff
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot


class Prices:
    """What each host of a snapshot asks, and what runs come to there."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._sold: dict[tuple[str, bool], Tariff] = {}
        self._families: dict[Hashable, str | None] = {}
        self._times: dict[Hashable, RunningTime | None] = {}
        self._seen: dict[Hashable, Outlook] = {}

    @cached_property
    def is_any(self) -> bool:
        """Whether any host costs something, is to be bought, or is of a pool of your own."""
        fleet = self._snapshot.fleet
        return bool(fleet.offerings) or any(
            machine.rate_usd_per_hour or machine.byoc_pool for machine in fleet.machines
        )

    def tariff(self, host: Host) -> Tariff:
        """Return what a host asks."""
        if isinstance(host, Machine):
            return self._rented[host.name]
        key = (host.offering.name, host.is_warm)
        if key not in self._sold:
            now = self._snapshot.now
            self._sold[key] = offering_tariff(host.offering, now, is_warm=host.is_warm)
        return self._sold[key]

    def running(self, run: Run, host: Host) -> RunningTime | None:
        """Return how long the run works on the host; None where nobody knows."""
        return self._running(run, self._family(host) if self._reads_history(run) else None)

    def is_known_everywhere(self, run: Run) -> bool:
        """Whether the run's running time is known on every host that there is."""
        if not self._reads_history(run):
            return self._running(run, None) is not None
        return all(self._running(run, family) for family in self._families_there)

    def seen(self, run: Run, host: Host, hosts: int = 1) -> Outlook:
        """Return the outlook of the run on so many hosts like this."""
        running = self.running(run, host)
        seconds = running.seconds if running else None
        key = (needs_of(run), seconds, _key(host), hosts)
        if key not in self._seen:
            self._seen[key] = outlook(run, self.tariff(host), seconds, hosts)
        return self._seen[key]

    def together(self, run: Run, hosts: Sequence[Host]) -> GangOutlook:
        """Return the outlook of the run on these hosts, one for each worker."""
        nodes = tuple(Node(self.tariff(host), self.running(run, host)) for host in hosts)
        return gang_outlook(run, nodes)

    def cost(self, run: Run, host: Host) -> int:
        """Return the expected cost of one worker there; what is certain of it where unknown."""
        free = isinstance(host, Machine) and (host.byoc_pool or not host.rate_usd_per_hour)
        return 0 if free else self.seen(run, host).cost.p50

    def _running(self, run: Run, family: str | None) -> RunningTime | None:
        labels = frozenset(run.labels.items()) if self._reads_history(run) else None
        key = (run.expected_duration_s, run.measured_duration_s, labels, family)
        if key not in self._times:
            factor = self._snapshot.policy.bands.duration_p90_factor
            durations = self._snapshot.knowledge.durations
            self._times[key] = running_time(run, family, durations, factor)
        return self._times[key]

    def _reads_history(self, run: Run) -> bool:
        told = run.expected_duration_s is not None or run.measured_duration_s is not None
        return bool(self._snapshot.knowledge.durations) and not told

    def _family(self, host: Host) -> str | None:
        key = _key(host)
        if key not in self._families:
            of = host if isinstance(host, Machine) else host.offering
            self._families[key] = family_of(of, self._snapshot.knowledge.cards)
        return self._families[key]

    @cached_property
    def _families_there(self) -> frozenset[str | None]:
        fleet = self._snapshot.fleet
        offered = (Instance(each, is_warm=False) for each in fleet.offerings)
        hosts: tuple[Host, ...] = (*fleet.machines, *offered)
        return frozenset(self._family(host) for host in hosts)

    @cached_property
    def _rented(self) -> Mapping[str, Tariff]:
        return machine_tariffs(self._snapshot)


def _key(host: Host) -> Hashable:
    return host.name if isinstance(host, Machine) else (host.offering.name, host.is_warm)
