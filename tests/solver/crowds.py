"""Hosts whose GPUs are unlike, runs that fight over them, and whether they all get some."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from tests.build import Document, card, machine, run, snapshot
from tests.witness.asked import gpus_each, run_named
from tests.witness.machines import machine_named, rooms, usable

CARDS = ("H100", "H200", "L4", "MI300X")
TERMS = tuple([one, other] for one, other in zip(CARDS, (*CARDS[1:], CARDS[0]), strict=True))
"""Each model with its neighbour: pools that overlap in a ring."""
HEALTH = ("healthy", "healthy", "healthy", "at_risk", "faulted")


@st.composite
def crowded(draw: st.DrawFn, hosts: int = 1, risk: bool = True) -> Snapshot:
    """Hosts of a few GPUs of several models, and runs that can use some of them each."""
    written, ids = [], ["m0/0"]
    for number in range(hosts):
        health = st.sampled_from(HEALTH if risk and draw(st.booleans()) else HEALTH[:1])
        models = draw(st.lists(st.sampled_from(CARDS), min_size=1, max_size=5))
        cards = [card(model=model, health=draw(health)) for model in models]
        ids = [f"m{number}/{index}" for index in range(len(cards))]
        denied = draw(st.lists(st.sampled_from(ids), max_size=1)) if draw(st.booleans()) else []
        cores = draw(st.sampled_from((64, 64, 3)))
        constraints = {"denied_devices": denied}
        written.append(machine(f"m{number}", cards, cpu_cores=cores, constraints=constraints))
    runs: list[Document] = []
    for number in range(draw(st.integers(1, 4))):
        terms = draw(st.sampled_from((*TERMS, *TERMS, [], ["H"])))
        gpus: Document = {"models": terms, "count": draw(st.sampled_from((1, 1, 2, 3)))}
        if risk:
            gpus["healthy_only"] = draw(st.booleans())
        if draw(st.integers(0, 9)) == 9:
            gpus = {
                "ids": draw(st.lists(st.sampled_from(ids), min_size=1, max_size=2, unique=True))
            }
        asked = run(f"r{number}", gpus, cpu_cores=draw(st.sampled_from((0, 0, 1, 2))))
        runs += [{**asked, "name": f"{asked['name']}-{alike}"} for alike in range(3)]
    return snapshot(written, runs)


def all_get_one(wants: Sequence[frozenset[str]]) -> bool:
    """Whether each want can have a GPU of its own, by moving those that have one already."""
    owner: dict[str, int] = {}

    def finds(want: int, seen: set[str]) -> bool:
        for gpu in sorted(wants[want] - seen):
            if gpu not in seen:
                seen.add(gpu)
                if gpu not in owner or finds(owner[gpu], seen):
                    owner[gpu] = want
                    return True
        return False

    return all(finds(want, set()) for want in range(len(wants)))


def wants_of(s: Snapshot, host: str, names: Sequence[str]) -> list[frozenset[str]]:
    """Return for each GPU that runs on a host ask for those that would do."""
    there, room = machine_named(s, host), rooms(s)[host]
    runs = [run_named(s, name) for name in names]
    return [usable(there, each, room) for each in runs for _ in range(gpus_each(each))]


def fit_together(s: Snapshot, host: str, names: Sequence[str]) -> bool:
    """Whether these runs fit on a host together: each GPU goes to one of them, cores add up."""
    cores = sum(round(run_named(s, name).cpu_cores * 1000) for name in names)
    return all_get_one(wants_of(s, host, names)) and cores <= rooms(s)[host].cores


def fewest_at_risk(s: Snapshot, host: str, names: Sequence[str]) -> int:
    """Return the size of the smallest set of GPUs at risk that, beside the others, is enough."""
    wants = wants_of(s, host, names)
    health = {each.id: each.health for each in machine_named(s, host).devices}
    risky = [id for id, own in health.items() if own == "at_risk"]
    return next(
        size
        for size in range(len(risky) + 1)
        for some in itertools.combinations(risky, size)
        if all_get_one([want - (set(risky) - set(some)) for want in wants])
    )
