"""A snapshot said otherwise: in another order, with other names, or with a rule loosened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from tests.strategies import machines

type Document = dict[str, Any]  # Any: whatever JSON can hold


def document_of(snapshot: Snapshot) -> Document:
    """Return the document that reads as the snapshot."""
    document: Document = snapshot.model_dump(mode="json", by_alias=True)
    return document


@st.composite
def shuffled(draw: st.DrawFn, snapshot: Snapshot) -> Snapshot:
    """Return the same snapshot with its lists in another order.

    Ports that report several subnets keep theirs: the first names the fabric.
    """
    document = document_of(snapshot)

    def shuffle(holder: Document, *fields: str) -> None:
        for field in fields:
            holder[field] = draw(st.permutations(holder[field]))

    shuffle(document, "runs")
    shuffle(document["fleet"], "machines", "drives", "reservations")
    shuffle(document["policy"], "workspaces")
    for drive in document["fleet"]["drives"]:
        shuffle(drive, "sites")
    for reservation in document["fleet"]["reservations"]:
        shuffle(reservation, "machines")
    for workspace in document["policy"]["workspaces"]:
        if workspace["pools"]:
            shuffle(workspace, "pools")
    for machine in document["fleet"]["machines"]:
        shuffle(machine, "devices", "only", "capabilities")
        if len({port["subnet"] for port in machine["rdma"]}) < 2:
            shuffle(machine, "rdma")
        shuffle(machine["constraints"], "denied_devices")
    for drive in document["fleet"]["drives"]:
        shuffle(drive, "sites")
    for reservation in document["fleet"]["reservations"]:
        shuffle(reservation, "machines")
    for workspace in document["policy"]["workspaces"]:
        if workspace["pools"]:
            shuffle(workspace, "pools")
    for run in document["runs"]:
        shuffle(run, "drives", "needs")
        if run["array"]:
            shuffle(run["array"], "finished")
        shuffle(run["gpus"], "models", "ids")
        shuffle(run["node_selection"], "names")
        if run["array"]:
            shuffle(run["array"], "finished")
    return Snapshot.read(document)


@st.composite
def renamed(draw: st.DrawFn, snapshot: Snapshot) -> tuple[Snapshot, Mapping[str, str]]:
    """Return the snapshot with other names of machines, runs and workspaces, and what became what.

    Names of runs keep their order: a strict queue goes by it.
    """
    document = document_of(snapshot)
    hosts = [machine["name"] for machine in document["fleet"]["machines"]]
    others = draw(st.permutations([f"host-{index}" for index in range(len(hosts))]))
    names: dict[str, str] = dict(zip(hosts, others, strict=True))
    names |= {run["name"]: f"job-{run['name']}" for run in document["runs"]}
    names |= {f"w{index}": f"team-{9 - index}" for index in range(1, 4)}

    def rename(holder: Document, *fields: str) -> None:
        for field in fields:
            value = holder[field]
            if isinstance(value, list):
                holder[field] = [names.get(each, each) for each in value]
            elif value is not None:
                holder[field] = names.get(value, value)

    for machine in document["fleet"]["machines"]:
        rename(machine, "name")
    for drive in document["fleet"]["drives"]:
        rename(drive, "machine")
    for reservation in document["fleet"]["reservations"]:
        rename(reservation, "machines", "workspace")
    for workspace in document["policy"]["workspaces"]:
        rename(workspace, "name")
    for run in document["runs"]:
        rename(run, "name", "workspace")
        rename(run["node_selection"], "names")
        for worker in (run["placed"] or {"workers": ()})["workers"]:
            rename(worker, "host")
    return Snapshot.read(document), names


@st.composite
def enlarged(draw: st.DrawFn, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with one machine more, without a fabric label."""
    document = document_of(snapshot)
    document["fleet"]["machines"].append(draw(machines("new")))
    return Snapshot.read(document)


@st.composite
def loosened(draw: st.DrawFn, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with one rule loosened, or as it is where it has none to loosen.

    Only where mode `all` isn't asked for: there, more machines to be on is a harder ask.
    """
    document = document_of(snapshot)
    changes = list(_loosenings(document))
    if changes:
        draw(st.sampled_from(changes))()
    return Snapshot.read(document)


def _loosenings(document: Document) -> Iterator[Callable[[], None]]:
    """Yield a change of the document for each rule that binds and can be loosened."""

    def setting(holder: Document, field: str, value: Any) -> Iterator[Callable[[], None]]:
        # Any: whatever JSON can hold
        if holder[field] != value:
            yield partial(holder.update, {field: value})

    for machine in document["fleet"]["machines"]:
        yield from setting(machine, "state", "up")
        yield from setting(machine, "reported_at", None)
        yield from setting(machine, "used", {"cpu_cores": 0, "memory_bytes": 0})
        yield from setting(machine, "cpu_cores", machine["cpu_cores"] + 3)
        yield from setting(machine, "memory_bytes", machine["memory_bytes"] + 30)
        yield from setting(machine["constraints"], "max_accelerators", None)
        yield from setting(machine["constraints"], "denied_devices", [])
        if machine["only"]:
            capabilities = [*machine["capabilities"], *machine["only"]]
            yield partial(machine.update, {"only": [], "capabilities": capabilities})
        if machine["reserved_for"]:
            labels = {**machine["labels"], **machine["reserved_for"]}
            yield partial(machine.update, {"reserved_for": {}, "labels": labels})
        for device in machine["devices"]:
            yield from setting(device, "health", "healthy")
    for drive in document["fleet"]["drives"]:
        yield from setting(drive, "free_bytes", None)
    yield from setting(document["fleet"], "reservations", [])
    for workspace in document["policy"]["workspaces"]:
        yield from setting(workspace, "gpu_quota", None)
        yield from setting(workspace, "pools", None)
    for run in document["runs"]:
        if run["state"] != "pending" or run["placed"]:
            continue
        yield from setting(run, "drives", [])
        yield from setting(run["gpus"], "models", [])
        yield from setting(run["gpus"], "vendor", None)
        yield from setting(run["gpus"], "min_memory_gb", None)
        yield from setting(run["gpus"], "min_per_machine", None)
        yield from setting(run["gpus"], "healthy_only", False)
        yield from setting(run["gpus"], "ids", [])
        if run["array"]:
            yield from setting(run["array"], "max_parallel", None)
        if run["node_selection"]["count"] and not run["machines"]:
            yield from setting(run["node_selection"], "mode", "any")
