"""The audit and the witness, who share nothing, judge runs of several workers alike."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from hypothesis import given, note

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.plan import Plan
from stowplan.model.decision import PlacedRun
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.build import Place, broken, decided
from tests.gang_strategies import gang_snapshots
from tests.strategies import examples
from tests.witness.gangs import Ground
from tests.witness.ladder import group_of, rung_of
from tests.witness.shapes import codes_of_refusal

OF_GANGS = {
    "machines", "max_nodes", "min_nodes", "min_per_machine", "spread", "keep_within", "one_site",
    "interconnect", "patience",
}  # fmt: skip
"""Rules of the shape, and of all machines of a run together."""

OF_WORDS = {"access", "ladder"}
"""What is told of any machines of a run, and what its workers get there."""


def asking(snapshot: Snapshot) -> Iterator[Run]:
    yield from (run for run in snapshot.runs if run.state == "pending" and run.array is None)


def seats(snapshot: Snapshot, ground: Ground, run: Run) -> Iterator[tuple[str, ...]]:
    """Yield sets of machines with room for a worker on each, in every even cut."""
    gpus, most = run.gpus.count, len(snapshot.fleet.machines) + 1
    for workers in range(1, most + 1):
        if gpus % workers == 0:
            takes = ground.takes(run, gpus // workers, ground.start)
            for hosts in itertools.combinations_with_replacement(sorted(takes), workers):
                if all(count <= takes[name] for name, count in Counter(hosts).items()):
                    yield hosts


def placed(snapshot: Snapshot, run: Run, hosts: tuple[str, ...]) -> list[Place]:
    """Return a worker on each of these, with as many GPUs as are its part: any of them."""
    each = run.gpus.count // len(hosts)
    ids = {name: iter(snapshot.machines[name].devices) for name in hosts}
    return [(host, [card.id for card in itertools.islice(ids[host], each)]) for host in hosts]


@examples(150)
@given(gang_snapshots(max_machines=4, max_runs=3))
def test_audit_and_witness_agree_on_what_a_run_could_get(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    ground = Ground(snapshot)
    empty = EmptyFleet(Plan.of(snapshot, decided(snapshot)))
    for run in asking(snapshot):
        codes = empty.refusals(run)
        assert codes == set(codes_of_refusal(snapshot, run)), run.name
        if not codes:
            assert empty.tightest(run) == ground.tightest(run), run.name


@examples(100)
@given(gang_snapshots(max_machines=4, max_runs=2))
def test_audit_and_witness_agree_on_where_a_run_may_be(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    ground = Ground(snapshot)
    for run in asking(snapshot):
        if codes_of_refusal(snapshot, run):
            continue
        lawful = {(way.hosts, way.gpus) for way in ground.lawful(run, ground.start)}
        for hosts in itertools.islice(seats(snapshot, ground, run), 60):
            decision = decided(snapshot, {run.name: placed(snapshot, run, hosts)})
            wrong = broken(snapshot, decision)
            is_lawful = (hosts, run.gpus.count // len(hosts)) in lawful
            assert (not wrong & OF_GANGS) == is_lawful, (run.name, hosts, wrong)
            assert not wrong & OF_WORDS, (run.name, hosts, wrong)
            outcome = next(each for each in decision.outcomes if each.run == run.name)
            assert isinstance(outcome, PlacedRun)
            assert outcome.rung == rung_of(ground.spots(run, hosts))
            if outcome.rung:
                assert outcome.group == group_of(ground.seen(run), run, hosts).name
