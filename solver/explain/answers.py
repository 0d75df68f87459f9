"""What hosts answer a worker, with all their reasons: hosts alike are asked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import Eligibility, Failing
from stowplan.solver.hosts import Host
from stowplan.solver.money.prices import Bools
from stowplan.solver.rooms import VAST, Ints, Rooms, groups
from stowplan.solver.rule import Rule

ENOUGH = -1
"""Stands for what is free where that is enough: how much doesn't matter."""

type Failings = tuple[Failing, ...]


class Answer(NamedTuple):
    """Hosts that fail the same rules: by the same figures, or at least and at most by these."""

    hosts: Ints
    """Their places among all hosts, ascending."""
    least: Failings
    """What they say with the least room that one of them has."""
    most: Failings
    """And with the most; the same object where all say the same."""


def answers(rooms: Rooms, ask: Ask, among: Ints, most: int) -> list[Answer]:
    """Return hosts by what they say, in the order of the first of each.

    Where that would be more than `most` groups, hosts that lack cores or memory are put together
    however much they lack.
    """
    eligibility, kinds = rooms.eligibility, rooms.kinds_for(ask)
    pattern_of, patterns = rooms.patterns_for(ask)
    fixed, always = _numbered(eligibility.of_any_room(ask, host) for host in kinds.firsts)
    by_gpus, at_times = _numbered(
        eligibility.of_room(ask, host, Room(VAST, VAST, gpus, instances))
        for host, gpus, instances in patterns
    )
    kind = kinds.kind_of[among]
    short = _short(rooms, ask, among)
    dear = _Dear(rooms, ask, among)
    lacks = (short != ENOUGH).any(axis=0)
    # How large the whole machine is, is told only where it has too little free.
    keys = (fixed[kind], by_gpus[pattern_of[among]], np.where(lacks, kind, ENOUGH))
    found = groups(_joined(np.vstack((*keys, short != ENOUGH, *dear.masks))))
    figures = (*short, *dear.figures)
    if len(found) <= most and all(len(set(each.tolist())) <= most + 1 for each in figures):
        exact = groups(np.vstack((*keys, *figures)))
        found = exact if len(exact) <= most else found
    told = []
    for places in found:
        first = places[0]
        said = (*always[keys[0][first]], *at_times[keys[1][first]])
        lacking: Iterable[Failings] = ((),)
        if lacks[first]:
            lacking = _lacking(eligibility, ask, kinds.firsts[kind[first]], short[:, places])
        lack = list(lacking)
        over = dear.ends(places)
        least = eligibility.in_order((*said, *lack[0], *over[0]))
        is_one = len(lack) == len(over) == 1
        ends = least if is_one else eligibility.in_order((*said, *lack[-1], *over[-1]))
        told.append(Answer(among[places], least, ends))
    return told


def _joined(keys: Ints) -> Ints:
    """Return keys of few values as one key, where that fits in a whole number."""
    joined, sizes = np.zeros(keys.shape[1], np.int64), 1
    for key in keys:
        low = int(key.min(initial=0))
        size = int(key.max(initial=0)) - low + 1
        sizes *= size
        if sizes >= VAST:
            return keys
        joined = joined * size + (key - low)
    return joined[np.newaxis]


class _Dear:
    """What hosts say of money and time."""

    def __init__(self, rooms: Rooms, ask: Ask, among: Ints) -> None:
        self._priced, self._ask, self._among = rooms.priced(ask), ask, among
        masks = ((rule, mask[among]) for rule, mask in rooms.dear(ask).items())
        self._rules = [(rule, mask) for rule, mask in masks if mask.any()]

    @property
    def masks(self) -> list[Ints]:
        """By rule that some hosts fail: which of them do."""
        return [mask.astype(np.int64) for _, mask in self._rules]

    @property
    def figures(self) -> list[Ints]:
        """By rule: what is too much on those that fail it; ENOUGH on all others."""
        return [self._figure(rule, mask) for rule, mask in self._rules]

    def ends(self, places: Ints) -> list[Failings]:
        """Return what hosts say that fail the same rules: at least, and at most."""
        failed = [(rule, mask) for rule, mask in self._rules if mask[places[0]]]
        if not failed:
            return [()]
        figures = [self._figure(rule, mask)[places] for rule, mask in failed]
        rules = [rule for rule, _ in failed]
        least = self._said(rules, [places[int(each.argmin())] for each in figures])
        if all(each.min() == each.max() for each in figures):
            return [least]
        return [least, self._said(rules, [places[int(each.argmax())] for each in figures])]

    def _figure(self, rule: Rule, mask: Bools) -> Ints:
        assert self._priced is not None
        figure = rule.figure(self._priced)[self._among] if rule.figure else mask.astype(np.int64)
        return np.where(mask, figure, ENOUGH)

    def _said(self, rules: Sequence[Rule], places: Sequence[int]) -> Failings:
        priced = self._priced
        assert priced is not None
        return tuple(
            Failing(rule, rule.why_barred(self._ask, priced, int(self._among[place])))
            for rule, place in zip(rules, places, strict=True)
            if rule.why_barred
        )


def _short(rooms: Rooms, ask: Ask, among: Ints) -> Ints:
    """Return the cores and the memory free on hosts, ENOUGH where there is enough."""
    cores, memory = rooms.cores[among], rooms.memory[among]
    return np.vstack(
        (
            np.where(cores < ask.millicores, cores, ENOUGH),
            np.where(memory < ask.memory_bytes, memory, ENOUGH),
        )
    )


def _lacking(eligibility: Eligibility, ask: Ask, host: Host, short: Ints) -> Iterator[Failings]:
    """Yield what hosts like one say of cores and memory with the least and the most free."""
    least, most = short.min(axis=1).tolist(), short.max(axis=1).tolist()
    for cores, memory in (least,) if least == most else (least, most):
        room = Room(_or_vast(cores), _or_vast(memory), frozenset())
        yield tuple(
            Failing(rule, why)
            for rule in eligibility.rules
            if rule.name in ("cpu", "memory")
            and rule.why_not
            and (why := rule.why_not(ask, host, room))
        )


def _numbered(said: Iterable[Failings]) -> tuple[Ints, list[Failings]]:
    """Return which of the different things that are said each is, and these."""
    different: list[Failings] = []
    numbers: dict[object, int] = {}
    found = []
    for failing in said:
        key = tuple((each.rule.name, each.reason.message) for each in failing)
        number = numbers.setdefault(key, len(different))
        if number == len(different):
            different.append(failing)
        found.append(number)
    return np.array(found, np.int64), different


def _or_vast(amount: int) -> int:
    return VAST if amount == ENOUGH else amount
