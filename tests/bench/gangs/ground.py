"""Where machines stand, and how near some of them are: the ladder, written anew from its words.

Nothing of the solver's or the audit's is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stowplan.model.fleet import Fleet, Machine
from stowplan.model.runs import Run

PREFIX = "topology/"
ASSUMED = "the one fabric"
"""Of machines with RDMA, where no machine of the fleet has a fabric label."""
ONE_MACHINE, DOMAIN, FABRIC_RACK, FABRIC, RDMA_RACK, RDMA, RACK, REST = range(1, 9)
BELOW_ONE = range(DOMAIN, REST + 1)

type Key = tuple[str, ...]


@dataclass(frozen=True)
class Spot:
    """Where one machine stands; None where it is in no such thing."""

    site: str
    rack: str | None
    unit: str | None
    """The fabric of `keep_within: fabric`."""
    infiniband: str | None
    """The InfiniBand fabric, where it is known and not assumed."""
    other_rdma: tuple[str, ...]
    """RoCE fabrics, and an assumed one of InfiniBand."""
    domain: str | None
    """The NVLink domain of all its GPUs."""
    ports: tuple[tuple[str, float], ...]
    """Kind and Gbps of the RDMA ports that are up."""
    labels: frozenset[tuple[str, str]]

    def keys(self, rung: int) -> Iterator[Key]:
        """Yield the names of the groups that it is in on a rung below one machine."""
        if rung == DOMAIN:
            found: Iterable[tuple[str | None, ...]] = [(self.domain,)]
        elif rung in (FABRIC_RACK, FABRIC):
            found = [(self.infiniband,)]
        elif rung in (RDMA_RACK, RDMA):
            found = [(name,) for name in self.other_rdma]
        else:
            found = [()]
        if rung in (FABRIC_RACK, RDMA_RACK, RACK):
            found = [(*key, self.rack) for key in found]
        for key in found:
            named = tuple(name for name in key if name is not None)
            if len(named) == len(key):
                yield (self.site, *named)

    def unit_of(self, keep_within: str | None) -> str | None:
        """Return the thing that a run may not leave once it is here; None: it can't be here."""
        units = {"nvlink_domain": self.domain, "fabric": self.unit, "rack": self.rack}
        return units[keep_within] if keep_within else ""

    def may_host(self, run: Run) -> bool:
        """Whether a worker may be here, as far as labels and ports say."""
        if not set(run.node_selection.match_labels.items()) <= self.labels:
            return False
        least, asked = run.network.min_gbps or 0, run.network.interconnect
        if not least and asked not in ("rdma", "infiniband"):
            return True
        return any(
            rate >= least and (asked != "infiniband" or kind == asked) for kind, rate in self.ports
        )


def spots_of(fleet: Fleet) -> tuple[Spot, ...]:
    """Return where every machine stands."""
    is_labelled = any(f"{PREFIX}fabric" in machine.labels for machine in fleet.machines)
    return tuple(_spot(machine, is_labelled) for machine in fleet.machines)


def _spot(machine: Machine, is_labelled: bool) -> Spot:
    label = machine.labels.get(f"{PREFIX}fabric")
    up = [port for port in machine.rdma if port.state == "up"]
    kinds = {port.kind for port in up}
    subnets = [port.subnet for port in up if port.kind == "infiniband" and port.subnet]
    subnet = subnets[0] if subnets else None
    known = label or subnet
    assumed = None if is_labelled else ASSUMED
    others = []
    if "infiniband" in kinds and not known and assumed:
        others.append(f"infiniband {assumed}")
    if "roce" in kinds and (label or assumed):
        others.append(f"roce {label or assumed}")
    sound = {device.nvlink_clique for device in machine.devices if device.health != "faulted"}
    return Spot(
        site=machine.labels.get(f"{PREFIX}site", machine.network or ""),
        rack=machine.labels.get(f"{PREFIX}rack"),
        unit=known or (others[0] if others and assumed else None),
        infiniband=known if "infiniband" in kinds else None,
        other_rdma=tuple(others),
        domain=next(iter(sound)) if len(sound) == 1 else None,
        ports=tuple((port.kind, float(port.rate_gbps)) for port in up),
        labels=frozenset(machine.labels.items()),
    )


def rung_of(spots: Sequence[Spot]) -> int | None:
    """Return the rung of machines, one spot each; None where they are of several sites."""
    if len({spot.site for spot in spots}) > 1:
        return None
    if len(spots) == 1:
        return ONE_MACHINE
    return next(
        rung for rung in BELOW_ONE if set.intersection(*(set(spot.keys(rung)) for spot in spots))
    )


def is_near_enough(run: Run, spots: Sequence[Spot]) -> bool:
    """Whether several machines are joined as the run's `interconnect` asks."""
    rung, asked = rung_of(spots), run.network.interconnect
    if rung is None:
        return False
    if asked == "infiniband" and rung in (RDMA_RACK, RDMA):
        return all(f"infiniband {ASSUMED}" in spot.other_rdma for spot in spots)
    return rung <= slowest(run)


def slowest(run: Run) -> int:
    """Return the last rung that the run's `interconnect` may allow."""
    if run.network.interconnect == "nvlink":
        return DOMAIN
    return REST if run.network.interconnect == "auto" else RDMA


def may_join(run: Run, rung: int, key: Key) -> bool:
    """Whether a group is joined by what the run's `interconnect` asks."""
    if run.network.interconnect == "infiniband" and rung in (RDMA_RACK, RDMA):
        return key[1] == f"infiniband {ASSUMED}"
    return rung <= slowest(run)
