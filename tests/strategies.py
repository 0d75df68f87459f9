"""Random snapshots, small enough to try everything and full of rules that bind.

A snapshot draws which features it has, and gives them to many of its machines and runs: a rule
that is everywhere in one snapshot and absent from the next binds more often than one that is
always there a little. Every draw shrinks to the plainest value.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot

type Document = dict[str, Any]  # Any: what a YAML file could hold

NOW = dt.datetime(2026, 9, 21, 6, 0, tzinfo=dt.UTC)

BARS = (
    "all", "capabilities", "capacity", "denied", "drives", "labels", "max_accelerators", "models",
    "names", "pinned", "pools", "quotas", "refused", "reservations", "reserved_for", "stale",
    "states", "strict", "used",
)  # fmt: skip
"""Features that keep runs out."""

SPICE = (
    "ages", "arrays", "classes", "fractions", "gangs", "health", "ids", "mixed", "near",
    "priorities", "running",
)  # fmt: skip
"""Features that make runs, machines and their worth unlike."""

CARDS: dict[str, Document] = {
    "H100": {"model": "NVIDIA H100 80GB HBM3", "vendor": "nvidia", "memory_mib": 81559},
    "L4": {"model": "NVIDIA L4", "vendor": "nvidia", "memory_mib": 23034},
    "L40S": {"model": "NVIDIA L40S", "vendor": "nvidia", "memory_mib": 46068},
    "MI300X": {"model": "AMD Instinct MI300X", "vendor": "amd", "memory_mib": 196592},
    "odd": {"model": "Accelerator 9", "memory_mib": 15259},
}


def examples(count: int, *, is_long: bool = False) -> settings:
    """The settings of a property test; only a long one looks elsewhere in each run."""
    return settings(
        max_examples=count,
        derandomize=not is_long,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@st.composite
def snapshots(draw: st.DrawFn, max_machines: int = 6, max_runs: int = 6) -> Snapshot:
    """Return a valid snapshot of at most so many machines and runs, to be solved to the proof."""
    features = {feature for feature in SPICE if draw(st.integers(0, 2)) == 1}
    if draw(st.integers(0, 2)):  # else they compete, and nothing keeps them out
        features |= {feature for feature in BARS if draw(st.integers(0, 4)) == 2}
    writer = _Writer(draw, features)
    machines = [writer.machine(index) for index in range(writer.few(max_machines))]
    machines = writer.alike(machines)
    runs = [writer.run(index, machines) for index in range(writer.many(max_runs))]
    document: Document = {
        "now": NOW.isoformat(),
        "fleet": {
            "machines": machines,
            "drives": writer.drives(machines),
            "reservations": writer.reservations(machines),
            "generation": writer.generation,
        },
        "runs": writer.alike(runs),
        "policy": writer.policy(),
        "solver": {"gap": 0, "time_limit_s": 600},
    }
    return Snapshot.read(document)


@st.composite
def machines(draw: st.DrawFn, name: str) -> Document:
    """Return a machine that any run might use, and that makes no fabric."""
    writer = _Writer(draw, {"labels", "pools", "mixed", "ids"})
    return writer.machine(0) | {"name": name}


def after(seconds: int) -> str:
    return (NOW + dt.timedelta(seconds=seconds)).isoformat()


class _Writer:
    """Writes the parts of one snapshot's document."""

    def __init__(self, draw: st.DrawFn, features: set[str]) -> None:
        self.draw, self.features = draw, features
        self.generation = self.one((0, 1, 3)) if "running" in features else 0
        self.taken: dict[str, set[str]] = {}
        self.is_apart = bool(features & {"near", "drives"})
        """Whether machines differ in where they stand: gangs are then `tests.gang_strategies`'."""
        self.home: Document | None = None
        """The machine that the run at hand is written for."""

    def one[T](self, values: Sequence[T]) -> T:
        """One of the values; the first is the plainest."""
        return self.draw(st.sampled_from(values))

    def some[T](self, values: Sequence[T], least: int = 0, most: int = 9) -> list[T]:
        most = min(most, len(values))
        return self.draw(
            st.lists(st.sampled_from(values), min_size=least, max_size=most, unique=True)
            if values
            else st.just([])
        )

    def chance(self, in_ten: int) -> bool:
        return 1 <= self.draw(st.integers(0, 9)) <= in_ten

    def has(self, feature: str, in_ten: int = 5) -> bool:
        """Whether this machine or run shows a feature of the snapshot."""
        return feature in self.features and self.chance(in_ten)

    def few(self, most: int) -> int:
        """How many machines: rather fewer than more, rarely none."""
        return min(self.draw(st.integers(0 if self.chance(1) else 1, most)) for _ in range(2))

    def many(self, most: int) -> int:
        """How many runs: rather more than fewer, so that they compete."""
        return max(self.draw(st.integers(0, most)) for _ in range(2))

    def alike(self, items: list[Document]) -> list[Document]:
        """Make some items like the first in all but name: machines of a kind, runs of a class."""
        if "classes" not in self.features or not items or "placed" in items[0]:
            return items
        return [
            {**items[0], "name": item["name"]} if "placed" not in item and self.chance(6) else item
            for item in items
        ]

    # The fleet.

    def machine(self, index: int) -> Document:
        name = f"m{index}"
        cores: Sequence[float] = (8, 4, 7, 5, 16)
        if "fractions" in self.features:
            cores = (8, 3.5, 1.25, 7.999)
        written: Document = {
            "name": name,
            "cpu_cores": self.one(cores),
            "memory_bytes": self.one((64, 100, 37, 256)),
            "devices": self.devices(),
            "labels": self.labels(),
        }
        if self.has("capacity", 4):
            written["cpu_cores"] = 0
            if self.chance(5):
                written |= {"memory_bytes": 0, "devices": []}
        if self.has("states", 4):
            written["state"] = self.one(("draining", "cordoned", "down", "pressure"))
        if self.has("stale", 5):
            written["reported_at"] = after(self.one((-121, -120, -121, 30)))
        if self.has("used", 6):
            written["used"] = {
                "cpu_cores": self.one((0, 1, 0.5, 6)),
                "memory_bytes": self.one((0, 11, 30)),
            }
        if self.has("reserved_for", 5):
            kept: Sequence[Document] = ({"team": "v"}, {"team": "v", "tier": "1"})
            if "pools" in self.features and "pool" not in written["labels"]:
                kept = (*kept, {"pool": "x"})
            written["reserved_for"] = self.one(kept)
        if self.has("capabilities", 7):
            written["capabilities"] = self.some(("net", "sandbox"), least=1)
            written["only"] = self.one(((), (), (), ("native",), ("native", "net")))
        if self.has("max_accelerators"):
            constraints = written.setdefault("constraints", {})
            constraints["max_accelerators"] = self.one((2, 1, 3, 0))
        if self.has("denied"):
            constraints = written.setdefault("constraints", {})
            constraints["denied_devices"] = self.some(_ids(written), most=2)
        if "near" in self.features:
            written["rdma"] = self.one(([], [_port("up")], [_port("down")]))
            written["cpu_pressure"] = self.chance(2)
            written["network"] = self.one((None, "s1"))
        return written

    def devices(self) -> Document | list[Document]:
        kinds: Sequence[str] = ("H100", "L4") if "models" not in self.features else tuple(CARDS)
        count = self.one((2, 1, 3, 2, 4, 1, 2, 0))
        if not self.features & {"mixed", "health", "ids", "near"}:
            return {"count": count, **CARDS[self.one(kinds)]}
        kind = self.one(kinds)
        written = [self.device(index, kind, kinds) for index in range(count)]
        if self.has("health", 3):  # so that no other GPU there would do
            written = [{**device, "health": "at_risk"} for device in written]
        return written

    def device(self, index: int, kind: str, kinds: Sequence[str]) -> Document:
        written = dict(CARDS[self.one(kinds) if "mixed" in self.features else kind])
        if "ids" in self.features:  # unique on its machine only
            written["id"] = f"g{index}"
        if self.has("health", 6):
            written["health"] = self.one(("at_risk", "unknown", "faulted"))
        if self.has("near", 3):
            written["nvlink_clique"] = "c1"
        return written

    def labels(self) -> Document:
        labels: Document = {}
        if self.has("labels", 8):
            labels["zone"] = self.one(("a", "b"))
        if self.has("pools", 8):
            labels["pool"] = self.one(("x", "y"))
        if self.has("near", 6):
            labels["topology/" + self.one(("rack", "fabric"))] = self.one(("1", "2"))
        if self.has("drives", 5):
            labels["topology/site"] = self.one(("s1", "s2"))
        return labels

    def drives(self, machines: list[Document]) -> list[Document]:
        if "drives" not in self.features:
            return []
        homes = (None, *(machine["name"] for machine in machines), "elsewhere")
        return [
            {
                "name": f"d{index}",
                "machine": self.one(homes),
                "sites": self.some(("s1", "s2"), most=1),
                "free_bytes": self.one((None, 10)),
            }
            for index in range(2)
        ]

    def reservations(self, machines: list[Document]) -> list[Document]:
        if "reservations" not in self.features or not machines:
            return []
        names = [machine["name"] for machine in machines]
        written = []
        for index in range(self.one((1, 2))):
            begins = self.one((-60, 0, 600, 3600, 90_000))
            written.append(
                {
                    "name": f"kept{index}",
                    "machines": self.some(names, least=1, most=3),
                    "workspace": self.one(("w1", "w2")),
                    "from": after(begins),
                    "to": after(begins + self.one((60, 7200))),
                }
            )
        return written

    # The policy.

    def policy(self) -> Document:
        written: Document = {"workspaces": [self.workspace(name) for name in ("w1", "w2")]}
        if "strict" in self.features:
            written["queue"] = "strict"
        if "ages" in self.features:
            written["ageing_s"] = self.one((21_600, 3600, 7))
        if "reservations" in self.features:
            written["reservation_soon_s"] = self.one((86_400, 3600, 0))
        return written

    def workspace(self, name: str) -> Document:
        written: Document = {"name": name}
        if self.has("quotas", 7):
            written["gpu_quota"] = self.one((2, 1, 3, 5, 0))
        if self.has("pools", 5):
            written["pools"] = self.one((("x",), ("x", "y"), (), ("z",), ("x", "z"), ("y",)))
        return written

    # Runs.

    def run(self, index: int, machines: list[Document]) -> Document:
        written: Document = {"name": f"r{index}", "workspace": self.one(("w1", "w2", "w3"))}
        if "priorities" in self.features:
            written["priority"] = self.one((0, 5, -1))
        if "ages" in self.features:
            waited = self.one((0, 1, 10_800, 21_600, 30_000, 10**7, -3600))
            written["submitted_at"] = after(-waited)
        self.home = self.one(machines) if machines and not self.chance(1) else None
        self.ask(written)
        if self.has("arrays", 5):
            self.array(written, machines)
        elif self.has("running", 4):
            self.place(written, machines)
            return written
        self.choose(written, machines)
        return written

    def ask(self, written: Document) -> None:
        """Let it ask for what its home has, or for a share of that, or for a little more."""
        home = self.home or {"cpu_cores": 8, "memory_bytes": 64, "devices": []}
        gpus = len(_ids(home))
        is_gpu = bool(gpus) and not self.chance(3)
        parts = self.one((2, 1, 3)) if not is_gpu else gpus
        cores, memory = home["cpu_cores"] // parts, home["memory_bytes"] // parts
        if "fractions" in self.features:
            cores = self.one((cores, cores / 4, 0.001, cores + 0.5, cores / 2))
        wanted = {
            "cpu_cores": self.one((cores, 1, 0, cores, 2, cores + 1, 1)),
            "memory_bytes": self.one((0, memory, 5, memory // 2, memory + 3, 1, 0)),
        }
        if is_gpu:
            written["gpus"] = {"count": self.one(range(1, gpus + 1 + self.chance(1)))}
            written["per_gpu"] = wanted
            if self.chance(1):
                written["cpu_cores"] = self.one((1, 0.5))
        else:
            written |= wanted

    def array(self, written: Document, machines: list[Document]) -> None:
        size = self.one((2, 3, 4, 1))
        array: Document = {"size": size, "max_parallel": self.one((None, 2, 1, 3))}
        elements = list(range(size))
        if self.has("running", 6):
            running = self.some(elements, least=1, most=2)
            workers = [
                {**self.seat(machines, _gpus(written)), "element": element} for element in running
            ]
            elements = [element for element in elements if element not in running]
            self.start(written, workers)
            if written["state"] == "running" and self.chance(3):
                written["state"] = "pending"
        if len(elements) > 1 and self.chance(3):
            array["finished"] = self.some(elements, most=len(elements) - 1)
        written["array"] = array

    def place(self, written: Document, machines: list[Document]) -> None:
        """Make it a run that an earlier cycle placed, on one host or two."""
        workers = [self.seat(machines, _gpus(written))]
        if self.chance(3):
            workers.append(self.seat(machines, _gpus(written)))
        held = sum(len(worker["devices"]) for worker in workers)
        if held:
            written["gpus"] = {"count": held}
        self.start(written, workers)

    def start(self, written: Document, workers: list[Document]) -> None:
        state = self.one(("running", "running", "starting", "stopped"))
        generation = self.one((None, self.generation, 1, 0))
        written["state"] = state
        written["placed"] = {"workers": workers, "generation": generation}
        is_superseded = state == "starting" and (generation or self.generation) < self.generation
        is_superseded |= state == "starting" and generation == 0 < self.generation
        if state == "stopped" or is_superseded:  # it holds nothing: others may
            for worker in workers:
                self.taken.get(worker["host"], set()).difference_update(worker["devices"])

    def seat(self, machines: list[Document], gpus: int) -> Document:
        """Return a worker with so many GPUs that nobody holds; rarely one that has vanished."""
        fitting = [machine["name"] for machine in machines if len(self.free(machine)) >= gpus]
        host = "gone" if self.chance(1) or not fitting else self.one(fitting)
        by_name = {machine["name"]: machine for machine in machines}
        ids = self.free(by_name[host])[:gpus] if host in by_name else []
        if ids and self.chance(1):
            ids = ids[:-1]
        taken = self.taken.setdefault(host, set())
        while len(ids) < gpus:
            ids.append(f"lost-{len(taken | set(ids))}")
        taken |= set(ids)
        return {"host": host, "devices": ids}

    def free(self, machine: Document) -> list[str]:
        taken = self.taken.get(machine["name"], set())
        return [id for id in _ids(machine) if id not in taken]

    def choose(self, written: Document, machines: list[Document]) -> None:
        """Give a run that waits rules of its own, most of which its home keeps."""
        selection: Document = {}
        gpus, is_array = _gpus(written), "array" in written
        if gpus:
            self.choose_gpus(written, is_array)
        if gpus and not is_array:
            written["machines"] = 1
        is_one = bool(gpus) or self.is_apart
        if self.has("names", 6):
            self.choose_names(selection, machines, only_one=is_one and not is_array)
        if not is_one and not is_array:
            self.choose_shape(written, selection)
        labels: Document = {}
        if self.has("labels", 4):
            home_labels: Document = self.of_home("labels", {})
            labels["zone"] = home_labels.get("zone") or self.one(("a", "b"))
        if self.of_home("reserved_for", {}) and not self.chance(1):
            labels |= self.of_home("reserved_for", {})
        if labels:
            selection["match_labels"] = labels
        if needs := self.of_home("only", ()):
            written["needs"] = [self.one(needs)]
        elif self.has("capabilities", 4):
            written["needs"] = [self.one(self.of_home("capabilities", ["net", "sandbox"]))]
        if self.has("drives", 6):
            names = self.some(("d0", "d1"), least=1)
            if self.chance(1):
                names.append("d7")
            written["drives"] = [{"name": n, "need_bytes": self.one((0, 10, 11))} for n in names]
        if self.has("reservations", 5):
            written["time_limit_s"] = self.one((600, 60, 3600, 3601))
        if self.has("refused", 2):
            self.refuse(written, selection, gpus, is_array)
        if selection:
            written["node_selection"] = selection

    def of_home[T](self, field: str, otherwise: T) -> T:
        """What the run's home has there, if the run has a home."""
        value: T = self.home.get(field, otherwise) if self.home else otherwise
        return value

    def choose_gpus(self, written: Document, is_array: bool) -> None:
        asked: Document = written["gpus"]
        if self.has("models", 6):
            asked |= self.one(
                ({"models": ["L4"]}, {"models": ["h100", "MI"]}, {"vendor": "nvidia"},
                 {"vendor": "amd"}, {"min_memory_gb": 24.5}, {"min_memory_gb": 16})
            )  # fmt: skip
        if self.has("health", 4):
            asked["healthy_only"] = True
        if self.chance(1):
            asked["min_per_machine"] = asked["count"]
        if not is_array and self.home and self.has("pinned", 5):
            pinned = self.some(_ids(self.home), least=1, most=2)
            written["gpus"] = {**asked, "ids": pinned, "count": len(pinned)}
            written["gpus"].pop("min_per_machine", None)

    def choose_names(self, selection: Document, machines: list[Document], only_one: bool) -> None:
        names = [machine["name"] for machine in machines if machine != self.home]
        home = [self.home["name"]] if self.home else []
        selection["mode"] = self.one(("any", "exact"))
        most = 1 if only_one and selection["mode"] == "exact" else 3
        selection["names"] = [*home, *self.some(names)][:most]

    def choose_shape(self, written: Document, selection: Document) -> None:
        if self.has("all", 5):
            selection["mode"] = "all"
        elif self.has("gangs", 8):
            selection.setdefault("mode", self.one(("exact", "any")))
            workers = self.one((2, 3, 1))
            how = self.one(("both", "machines", "count"))
            if how == "count":  # workers that may share are `tests.gang_strategies`'
                selection["mode"] = "exact"
            if how != "machines":
                selection["count"] = workers
            if how != "count":
                written["machines"] = workers

    def refuse(self, written: Document, selection: Document, gpus: int, is_array: bool) -> None:
        if not gpus or self.chance(4):
            selection["names"] = [*selection.get("names", ())[:1], "m77"]
            if gpus and not is_array:
                selection["mode"] = "any"
        elif gpus % 2 and not is_array and "ids" not in written["gpus"]:
            written["machines"] = 2
        else:
            written["gpus"]["min_per_machine"] = gpus + 1


def _gpus(written: Document) -> int:
    return int(written["gpus"]["count"]) if "gpus" in written else 0


def _ids(machine: Document) -> list[str]:
    devices = machine["devices"]
    if isinstance(devices, dict):
        return [f"{machine['name']}/{index}" for index in range(devices["count"])]
    return [each.get("id", f"{machine['name']}/{index}") for index, each in enumerate(devices)]


def _port(state: str) -> Document:
    return {"kind": "infiniband", "rate_gbps": 400, "state": state}
