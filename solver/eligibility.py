"""What each rule says of one worker on one host, with any amount of room there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask
from stowplan.solver.fleet import hosts_of
from stowplan.solver.hosts import POOL, Host
from stowplan.solver.ladder import Ladder
from stowplan.solver.matching import tally, usable
from stowplan.solver.money.prices import Bools, Priced, Prices, none_of
from stowplan.solver.offers import Offers
from stowplan.solver.rule import Rule

PLENTY = 2**31
"""Slots of a host where a worker asks for nothing."""


class Failing(NamedTuple):
    """A rule that a host fails, and why."""

    rule: Rule
    reason: Reason


@dataclass(frozen=True)
class Eligibility:
    """The rules over the hosts; answers are remembered, for rules that don't read room."""

    rules: Sequence[Rule]
    hosts: Sequence[Host]
    prices: Prices
    _fixed: dict[tuple[Hashable, int], tuple[Failing, ...]] = field(default_factory=dict)
    _fails: dict[tuple[Hashable, int], bool] = field(default_factory=dict)
    _barred: dict[Ask, Bools] = field(default_factory=dict)
    _concerned: dict[tuple[Hashable, bool], Sequence[Rule]] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Sequence[Rule], snapshot: Snapshot) -> Self:
        """Return the rules over the hosts of a snapshot."""
        hosts = hosts_of(snapshot)
        return cls(rules, hosts, Prices(snapshot, hosts))

    @cached_property
    def ladder(self) -> Ladder:
        """The groups of machines that runs of several workers may be on."""
        return Ladder(self.prices.snapshot, self.hosts)

    @cached_property
    def offers(self) -> Offers:
        """The groups of offerings that they may be on."""
        return Offers(self.hosts)

    def listed(self, ask: Ask) -> list[Host]:
        """Return the hosts that count for a run: those in its pools, and those it names."""
        if ask.pools is None:
            return list(self.hosts)
        return [
            host
            for host in self.hosts
            if host.offering or host.labels.get(POOL) in ask.pools or host.name in ask.names
        ]

    def failing(self, ask: Ask, host: Host, room: Room) -> tuple[Failing, ...]:
        """Return every rule that the host fails with this much room, the deciding one first."""
        fixed, by_room = self.of_any_room(ask, host), self.of_room(ask, host, room)
        by_price = self.of_price(ask, host, self.prices.of(ask))
        return self.in_order((*fixed, *by_room, *by_price)) if by_room or by_price else fixed

    def in_order(self, failing: Iterable[Failing]) -> tuple[Failing, ...]:
        """Return failing rules in the order of the filters."""
        found = {each.rule.name: each for each in failing}
        return tuple(found[rule.name] for rule in self.rules if rule.name in found)

    def of_room(self, ask: Ask, host: Host, room: Room) -> tuple[Failing, ...]:
        """Return those of the rules that read room which the host fails with this much."""
        return tuple(
            Failing(rule, why)
            for rule in self._that_read_room
            if rule.concerns(ask) and rule.why_not and (why := rule.why_not(ask, host, room))
        )

    def of_price(self, ask: Ask, host: Host, priced: Priced | None) -> tuple[Failing, ...]:
        """Return those of the rules that read prices which the host fails."""
        if priced is None:
            return ()
        return tuple(
            Failing(rule, rule.why_barred(ask, priced, host.place))
            for rule in self.priced_rules
            if rule.bars and rule.why_barred and rule.bars(ask, priced)[host.place]
        )

    @cached_property
    def priced_rules(self) -> Sequence[Rule]:
        """The rules that read prices."""
        return [rule for rule in self.rules if rule.bars]

    def barred(self, ask: Ask) -> Bools | None:
        """Return which hosts a run's limits of money and time keep it off; None: nothing counts."""
        priced = self.prices.of(ask)
        if priced is None:
            return None
        if ask not in self._barred:
            self._barred[ask] = self.barred_beside(ask, priced)
        return self._barred[ask]

    def barred_beside(self, ask: Ask, priced: Priced) -> Bools:
        """Return the same for prices with other amounts left."""
        barred = none_of(priced)
        for rule in self.priced_rules:
            if rule.bars:
                barred = barred | rule.bars(ask, priced)
        return barred

    def fails(self, ask: Ask, host: Host) -> bool:
        """Whether the host can't take such a worker, however much room it has; prices aside."""
        key = (ask.standing, host.family)
        if key not in self._fails:
            self._fails[key] = any(
                rule.why_not(ask, host, host.empty)
                for rule in self._asked(ask, host)
                if rule.why_not
            )
        return self._fails[key]

    def _asked(self, ask: Ask, host: Host) -> Sequence[Rule]:
        """Return the rules that don't read room and may say something of such a host."""
        key = (ask.standing, host.offering is not None)
        if key not in self._concerned:
            self._concerned[key] = [
                rule
                for rule in self.rules
                if rule.concerns(ask)
                and not rule.reads_room
                and not (rule.on_machines and host.offering)
            ]
        return self._concerned[key]

    @cached_property
    def _that_read_room(self) -> Sequence[Rule]:
        return [rule for rule in self.rules if rule.reads_room]

    def admits(self, ask: Ask, host: Host, room: Room) -> bool:
        """Whether the host can take one worker with this much room: `failing` would be empty."""
        return self.slots(ask, host, room) > 0

    def slots(self, ask: Ask, host: Host, room: Room) -> int:
        """Return how many such workers the host can take with this much room.

        What the rules that read room say one by one, as one figure: much faster than
        asking each for its reason. A test holds the two against each other.
        """
        barred = self.barred(ask)
        if self.fails(ask, host) or (barred is not None and barred[host.place]):
            return 0
        return self.slots_at_any_price(ask, host, room)

    def slots_at_any_price(self, ask: Ask, host: Host, room: Room) -> int:
        """Return the same by room alone; of an offering each worker takes a whole instance."""
        slots = PLENTY
        if ask.millicores:
            slots = min(slots, room.millicores // ask.millicores)
        if ask.memory_bytes:
            slots = min(slots, room.memory_bytes // ask.memory_bytes)
        if ask.gpus and slots > 0:
            slots = min(slots, usable(ask, tally(ask, host, room)) // ask.gpus)
        if host.offering:
            return room.instances if slots > 0 else 0
        return max(0, slots)

    def workers_that_fit(self, ask: Ask, room_of: Callable[[Host], Room]) -> int:
        """Return how many workers of one run fit at once, at most as many as it has."""
        tasks = ask.tasks or 0
        fit = 0
        for host in self.hosts:
            most = tasks if ask.may_share or host.offering else 1
            fit += min(most, self.slots(ask, host, room_of(host)))
            if fit >= tasks:
                return tasks
        return fit

    def fits(self, ask: Ask, room_of: Callable[[Host], Room]) -> bool:
        """Whether a run fits whole, alone, in this much room."""
        return bool(ask.tasks) and self.workers_that_fit(ask, room_of) == ask.tasks

    def of_any_room(self, ask: Ask, host: Host) -> tuple[Failing, ...]:
        """Return every rule that the host fails however much room it has."""
        key = (ask.standing, host.sort)
        if key not in self._fixed:
            self._fixed[key] = tuple(
                Failing(rule, why)
                for rule in self._asked(ask, host)
                if rule.why_not and (why := rule.why_not(ask, host, host.empty))
            )
        return self._fixed[key]
