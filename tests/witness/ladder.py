"""The ladder: how tightly machines are joined, what the group is called, and its room left."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.places import Fabric, Place, free_gpus, places, shared


class Group(NamedTuple):
    """The largest set of machines that are joined as tightly, by the same thing."""

    name: str | None
    hosts: frozenset[str]


def rung(snapshot: Snapshot, hosts: Collection[str]) -> int | None:
    """The rung of a run on these machines, 1 to 8; None where they span sites."""
    there = places(snapshot)
    return rung_of([there[host] for host in sorted(set(hosts))])


def rung_of(spots: Sequence[Place]) -> int | None:
    """The rung of machines that stand there, one place each."""
    if len(spots) == 1:
        return 1
    if len({spot.site for spot in spots}) > 1:
        return None
    if shared(spot.domain for spot in spots) is not None:
        return 2
    has_rack = shared(spot.rack for spot in spots) is not None
    link = link_of(spots)
    if link is None:
        return 7 if has_rack else 8
    if link.kind == "infiniband" and link.name is not None:
        return 3 if has_rack else 4
    return 5 if has_rack else 6


def link_of(spots: Sequence[Place]) -> Fabric | None:
    """The RDMA network that all of them are on: InfiniBand, where they share that and RoCE."""
    common = frozenset.intersection(*(spot.fabrics for spot in spots))
    return min(common, key=lambda fabric: fabric.kind, default=None)


def group_of(there: Mapping[str, Place], run: Run, hosts: Collection[str]) -> Group:
    """The group of a run on these machines of one site; on one machine, its NVLink domain."""
    spots = [there[host] for host in sorted(set(hosts))]
    first, level, link = spots[0], rung_of(spots), link_of(spots)
    site = {name for name, spot in there.items() if spot.site == first.site}
    if level == 1:
        domain = {name for name in site if there[name].domain == first.domain is not None}
        return Group(first.domain, frozenset(domain))
    if (kept := run.topology.keep_within) not in (None, "node"):
        site = {name for name in site if there[name].within(kept) == first.within(kept)}
    rack = {name for name in site if there[name].rack == first.rack}
    match level:
        case 2:
            hosts = {name for name in site if there[name].domain == first.domain}
            return Group(first.domain, frozenset(hosts))
        case 7:
            return Group(first.rack, frozenset(rack))
        case 8:
            return Group(first.site, frozenset(site))
    assert link is not None
    joined = {name for name in site if link in there[name].fabrics}
    name = link.name or link.kind
    if level in (3, 5):
        return Group(f"{name}/{first.rack}", frozenset(joined & rack))
    return Group(name, frozenset(joined))


def room_left(
    there: Mapping[str, Place], free: Mapping[str, int], run: Run, hosts: Collection[str]
) -> int:
    """The free GPUs of its group at the start, less the run's own; 0 where it is in no group.

    Where an assumed InfiniBand and an assumed RoCE fabric both put it on its rung, the less.
    """
    groups = [group_of(there, run, hosts).hosts, *_of_other_links(there, run, hosts)]
    return min(
        sum(free[name] for name in group) - run.gpus.count if group else 0 for group in groups
    )


def domain_rooms(snapshot: Snapshot) -> dict[str, int]:
    """The free GPUs of the NVLink domain, in its site, that each machine is in; of those in one."""
    there, free = places(snapshot), free_gpus(snapshot)
    return {
        name: sum(
            free[other]
            for other, its in there.items()
            if (its.site, its.domain) == (own.site, own.domain)
        )
        for name, own in there.items()
        if own.domain is not None
    }


def _of_other_links(
    there: Mapping[str, Place], run: Run, hosts: Collection[str]
) -> Iterator[frozenset[str]]:
    """Yield the other sets on its rung that it is in, each joined by a network as slow."""
    spots = [there[host] for host in sorted(set(hosts))]
    level = rung_of(spots)
    if level not in (5, 6):
        return
    kept = run.topology.keep_within
    for link in frozenset.intersection(*(spot.fabrics for spot in spots)) - {link_of(spots)}:
        joined = {
            name: spot
            for name, spot in there.items()
            if link in spot.fabrics
            and spot.site == spots[0].site
            and (level == 6 or spot.rack == spots[0].rack)
            and (kept in (None, "node") or spot.within(kept) == spots[0].within(kept))
        }
        best = link_of(list(joined.values()))
        is_slow = best is None or best.kind != "infiniband"
        if rung_of(list(joined.values())) == level and not (
            run.network.interconnect == "infiniband" and is_slow
        ):
            yield frozenset(joined)
