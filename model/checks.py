"""What a snapshot's parts must agree on: names, devices, shapes, spans of time."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from stowplan.model.contradictions import contradictions
from stowplan.model.errors import Again, Item, Path, Problem
from stowplan.model.estimating.token import until_in
from stowplan.model.holds import holding
from stowplan.model.instances import warm_name
from stowplan.model.ranges import holds_range
from stowplan.model.roadmap import refused
from stowplan.model.runs import Gpus, PerGpu, Run

if TYPE_CHECKING:
    from stowplan.model.snapshot import Snapshot


def problems_of(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield everything in which a snapshot disagrees with itself, or asks what isn't built."""
    yield from _names_twice(snapshot)
    yield from _hosts_twice(snapshot)
    for machine in snapshot.fleet.machines:
        where: Path = ("fleet", "machines", Item(machine.name))
        yield from _twice((device.id for device in machine.devices), (*where, "devices"), "GPU id")
        ports = (port.device for port in machine.rdma)
        yield from _twice(ports, (*where, "rdma"), "port")
    for reservation in snapshot.fleet.reservations:
        if reservation.to <= reservation.from_:
            path = ("fleet", "reservations", Item(reservation.name), "to")
            yield Problem(path, "ends before it begins", "'to' is later than 'from'")
    for run in snapshot.runs:
        yield from _run(run)
        yield from _if_match(run, snapshot.now)
    yield from _devices_given_twice(snapshot)
    yield from refused(snapshot)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def _names_twice(snapshot: Snapshot) -> Iterator[Problem]:
    fleet, policy = snapshot.fleet, snapshot.policy
    lists: dict[Path, Iterable[_Named]] = {
        ("fleet", "machines"): fleet.machines,
        ("fleet", "offerings"): fleet.offerings,
        ("fleet", "drives"): fleet.drives,
        ("fleet", "reservations"): fleet.reservations,
        ("runs",): snapshot.runs,
        ("policy", "workspaces"): policy.workspaces,
        ("policy", "budgets"): policy.budgets,
    }
    for path, items in lists.items():
        yield from _twice((item.name for item in items), path, "name")


def _hosts_twice(snapshot: Snapshot) -> Iterator[Problem]:
    """Find machines and offerings that share a name, warm instances under theirs."""
    names = {machine.name: "a machine" for machine in snapshot.fleet.machines}
    for offering in dict.fromkeys(each.name for each in snapshot.fleet.offerings):
        for name in (offering, warm_name(offering)):
            if name in names:
                path: Path = ("fleet", "offerings", Item(offering), "name")
                told = f"{names[name]} is called '{name}' already"
                told += ", as its idle instances are" if name != offering else ""
                yield Problem(path, told, "every host needs a name of its own")
            names[name] = "another offering"
    for offering in dict.fromkeys(each.name for each in snapshot.fleet.offerings):
        whose, _, number = offering.rpartition("#")
        if number.isdecimal() and names.get(whose) == "another offering":
            path = ("fleet", "offerings", Item(offering), "name")
            told = f"instances of the offering '{whose}' are called so"
            yield Problem(path, told, "every host needs a name of its own")


def _twice(names: Iterable[str], path: Path, what: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            message = f"the {what} '{name}' is there twice"
            yield Problem((*path, Again(name)), message, "it must be unique in its list")
        seen.add(name)


def _run(run: Run) -> Iterator[Problem]:
    path: Path = ("runs", Item(run.name))
    gpus, chosen = run.gpus, run.node_selection
    if holds_range(run.name):
        message = "a run's name is one name; ranges are for machines"
        yield Problem((*path, "name"), message, "many runs alike are an array: {size: 3}")
    if gpus.ids and gpus.count != len(gpus.ids):
        message = f"asks for {_gpus(gpus.count)} and pins {len(gpus.ids)}"
        yield Problem((*path, "gpus", "count"), message, "leave count out, or make them equal")
    if not gpus.count and not gpus.ids:
        yield from _without_gpus(run, path)
    yield from _twice(gpus.ids, (*path, "gpus", "ids"), "GPU id")
    yield from _twice((drive.name for drive in run.drives), (*path, "drives"), "drive")
    yield from _twice(chosen.names, (*path, "node_selection", "names"), "machine")
    if chosen.count and gpus.count:
        message = "is for runs without GPUs"
        yield Problem(
            (*path, "node_selection", "count"), message, "use machines for a run with GPUs"
        )
    if chosen.count and run.machines and chosen.count != run.machines:
        message = f"{run.machines} machines and node_selection.count {chosen.count} disagree"
        yield Problem((*path, "machines"), message, "give one of them")
    if chosen.mode == "all" and not run.array:
        for field, given in (("machines", run.machines), ("node_selection.count", chosen.count)):
            if given is not None:
                message = "mode 'all' is one worker on every machine, and this is a number of them"
                yield Problem((*path, *field.split(".")), message, "leave one of them out")
    if run.array:
        yield from _array(run, path)
    yield from contradictions(run, path)
    yield from _placed(run, path)


def _if_match(run: Run, now: dt.datetime) -> Iterator[Problem]:
    """Find a token that is none, or that had run out when its run was submitted."""
    if run.placement.if_match is None:
        return
    path: Path = ("runs", Item(run.name), "placement", "if_match")
    try:
        until = until_in(run.placement.if_match)
    except ValueError as error:
        told = "the If-Match token that `stowplan estimate` prints, whole"
        yield Problem(path, str(error), told)
        return
    submitted = run.submitted_at or now
    if submitted.replace(microsecond=0) > until:
        message = f"was valid until {_zulu(until)}, and the run is of {_zulu(submitted)}"
        yield Problem(path, message, "estimate it anew; submitted_at says when it was submitted")


def _zulu(time: dt.datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def _without_gpus(run: Run, path: Path) -> Iterator[Problem]:
    """Find what only a run with GPUs can say, in one that asks for none."""
    least = run.gpus.min_per_machine
    plain = Gpus(count=run.gpus.count, min_per_machine=least)
    if run.gpus != plain or run.per_gpu != PerGpu():
        message = "is missing: how many GPUs does the run ask for?"
        if "count" in run.gpus.model_fields_set:
            message = f"is 0, and {_needing_gpus(run)} needs a count above 0"
        yield Problem((*path, "gpus", "count"), message)
    elif least is not None:
        message = "is for runs with GPUs"
        yield Problem(
            (*path, "gpus", "min_per_machine"), message, "say gpus.count, or leave it out"
        )


def _needing_gpus(run: Run) -> str:
    """Return the first field that says something of a run's GPUs."""
    told = (name for name in Gpus.model_fields if name not in ("count", "min_per_machine"))
    usual = Gpus()
    return next(
        (each for each in told if getattr(run.gpus, each) != getattr(usual, each)), "per_gpu"
    )


def _array(run: Run, path: Path) -> Iterator[Problem]:
    array = run.array
    assert array is not None
    running = {worker.element for worker in run.placed.workers} if run.placed else set()
    for element in array.finished:
        if element >= array.size:
            message = f"element {element} is outside 0..{array.size - 1}"
            yield Problem((*path, "array", "finished"), message)
        if element in running:
            message = f"element {element} is finished and placed at once"
            yield Problem((*path, "array", "finished"), message)
    yield from _twice((str(e) for e in array.finished), (*path, "array", "finished"), "element")
    if run.machines not in (None, 1) or run.node_selection.count not in (None, 1):
        message = "an array's element is one worker on one machine"
        yield Problem((*path, "machines"), message, "leave machines and count out")
    if run.node_selection.mode == "all":
        yield Problem((*path, "node_selection", "mode"), "an array can't be on every machine")
    if gpus := run.gpus.ids:
        message = f"every element would pin the same {_gpus(len(gpus))}"
        yield Problem((*path, "gpus", "ids"), message, "leave ids out of an array")


def _placed(run: Run, path: Path) -> Iterator[Problem]:
    if run.placed is None:
        if run.state in ("running", "starting"):
            message = f"a {run.state} run says where it is"
            yield Problem((*path, "placed"), message, "placed: {workers: [{host, devices}]}")
        return
    if run.state == "pending" and not run.array:
        message = "a pending run has no place yet"
        yield Problem((*path, "placed"), message, "make its state running, or leave placed out")
    workers = run.placed.workers
    where = (*path, "placed", "workers")
    if run.array:
        for index, worker in enumerate(workers):
            if worker.element is None or worker.element >= run.array.size:
                message = f"of an array names its element, 0..{run.array.size - 1}"
                yield Problem((*where, index, "element"), f"a worker {message}")
        elements = (str(worker.element) for worker in workers)
        yield from _twice(elements, where, "element")
    elif run.state in ("running", "starting") and not workers:
        yield Problem(where, f"is empty, and a {run.state} run has workers", "[{host, devices}]")
    for index, worker in enumerate(workers):
        yield from _twice(worker.devices, (*where, index, "devices"), "GPU id")
        if worker.element is not None and not run.array:
            yield Problem((*where, index, "element"), "is for arrays", "leave it out")
        if run.array and len(worker.devices) != run.gpus.count:
            message = f"holds {_gpus(len(worker.devices))}; an element asks for {run.gpus.count}"
            yield Problem((*where, index, "devices"), message)
    held = sum(len(worker.devices) for worker in workers)
    if not run.array and held != run.gpus.count:
        message = f"holds {_gpus(held)}, and gpus.count is {run.gpus.count}"
        yield Problem(where, message, "they are equal for a run that has its place")


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def _devices_given_twice(snapshot: Snapshot) -> Iterator[Problem]:
    holders: dict[tuple[str, str], tuple[str, int]] = {}
    workers: Counter[str] = Counter()
    for run, worker in holding(snapshot):
        index = workers[run.name]
        workers[run.name] += 1
        for device in worker.devices:
            holder = holders.setdefault((worker.host, device), (run.name, index))
            if holder != (run.name, index):
                path = ("runs", Item(run.name), "placed", "workers", index, "devices", Item(device))
                other = "another of its workers" if holder[0] == run.name else f"'{holder[0]}'"
                message = f"{device} of {worker.host} is held by {other} too"
                yield Problem(path, message, "a GPU goes to one worker of one run")
