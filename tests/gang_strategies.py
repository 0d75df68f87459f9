"""Random snapshots in which runs may have several workers, small enough to try every assignment.

As in `tests.strategies`, a snapshot draws which features it has. Machines stand in few sites,
racks, fabrics and NVLink domains, so that every rung of the ladder is a close choice somewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from stowplan.model.contradictions import contradictions
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.strategies import CARDS, NOW, after

type Document = dict[str, Any]  # Any: what a YAML file could hold

PLACES = (
    "sites", "racks", "fabrics", "infiniband", "roce", "crosswise", "subnets", "cliques",
    "down_ports",
)  # fmt: skip
"""Features that put machines together, or apart."""

RULES = (
    "keep_within", "spread", "interconnect", "min_gbps", "nodes", "least", "per_node", "machines",
    "patience", "any", "names",
)  # fmt: skip
"""Features that keep runs to a shape or a place."""

SPICE = (
    "running", "at_risk", "faulted", "mixed", "models", "states", "cores", "cpu", "priorities",
    "quotas", "classes", "ages", "strict", "fixed", "all_alike",
)  # fmt: skip
"""Features that make machines, runs and their worth unlike, or alike."""

RATES = (400, 200, 100)


@st.composite
def gang_snapshots(
    draw: st.DrawFn,
    max_machines: int = 5,
    max_runs: int = 4,
    always: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Snapshot:
    """Return a valid snapshot of at most so many machines and runs, to be solved to the proof.

    Some features it always has, some never; which others, it draws.
    """
    features = {feature for feature in PLACES if draw(st.integers(0, 2)) == 1}
    features |= {feature for feature in SPICE if draw(st.integers(0, 4)) == 2}
    if draw(st.integers(0, 2)):
        features |= {feature for feature in RULES if draw(st.integers(0, 2)) == 1}
    writer = _Writer(draw, (features | {*always}) - {*without})
    return Snapshot.read(writer.document(max_machines, max_runs))


@st.composite
def machines(draw: st.DrawFn, name: str) -> Document:
    """Return a machine that stands anywhere, and has no label of a fabric."""
    features = {feature for feature in PLACES if draw(st.booleans())} - {"fabrics"}
    written = _Writer(draw, features | {"mixed"}).machine(0)
    return written | {"name": name}


class _Writer:
    """Writes the parts of one snapshot's document."""

    def __init__(self, draw: st.DrawFn, features: set[str]) -> None:
        self.draw, self.features = draw, features
        self.is_labelled = "fabrics" in features and not self.chance(2)

    def one[T](self, values: Sequence[T]) -> T:
        """One of the values; the first is the plainest."""
        return self.draw(st.sampled_from(values))

    def chance(self, in_ten: int) -> bool:
        return 1 <= self.draw(st.integers(0, 9)) <= in_ten

    def has(self, feature: str, in_ten: int = 5) -> bool:
        """Whether this machine or run shows a feature of the snapshot."""
        return feature in self.features and self.chance(in_ten)

    def alike(self, items: list[Document], feature: str) -> list[Document]:
        """Make some items like the first in all but name."""
        if feature not in self.features or not items:
            return items
        return [{**items[0], "name": item["name"]} if self.chance(7) else item for item in items]

    def document(self, max_machines: int, max_runs: int) -> Document:
        count = max(self.one(range(1, max_machines + 1)) for _ in range(2))
        machines = [self.machine(index) for index in range(count)]
        machines = self.alike(machines, "all_alike")
        runs = [self.run(index, machines) for index in range(self.one(range(1, max_runs + 1)))]
        runs = self.alike(runs, "classes")
        return {
            "now": NOW.isoformat(),
            "fleet": {"machines": machines},
            "runs": [*self.running(machines), *runs],
            "policy": self.policy(),
            "solver": {"gap": 0, "time_limit_s": 600},
        }

    # The fleet.

    def machine(self, index: int) -> Document:
        count = self.one((2, 1, 3, 4, 0)) if "mixed" in self.features else self.one((2, 2, 4))
        written: Document = {
            "name": f"m{index}",
            "cpu_cores": 16,
            "memory_bytes": 64,
            "devices": self.devices(count),
            "labels": self.labels(),
            "rdma": self.ports(),
        }
        if self.has("sites", 2):
            written["network"] = self.one(("s1", "s2"))
        if self.has("cores"):
            written["cpu_cores"] = self.one((8, 4, 3))
            written["used"] = {"cpu_cores": self.one((0, 1, 3))}
        if self.has("states", 3):
            written |= self.one(
                ({"state": "draining"}, {"state": "down"}, {"state": "cordoned"},
                 {"reported_at": after(-121)}, {"reserved_for": {"team": "v"}},
                 {"cpu_pressure": True}, {"constraints": {"max_accelerators": self.one((1, 2))}})
            )  # fmt: skip
        return written

    def devices(self, count: int) -> list[Document]:
        model = self.one(("H100", "L4")) if "models" in self.features else "H100"
        clique = self.one(("c1", "c1", "c2", None)) if "cliques" in self.features else None
        written = []
        for _ in range(count):
            card: Document = {**CARDS[model], "nvlink_clique": clique}
            if self.has("at_risk", 4):
                card["health"] = "at_risk"
            if self.has("faulted", 2):
                card["health"] = "faulted"
            if clique and self.chance(1):
                card["nvlink_clique"] = self.one((None, "c2"))
            written.append(card)
        return written

    def labels(self) -> Document:
        labels: Document = {}
        if self.has("sites", 8):
            labels["topology/site"] = self.one(("s1", "s1", "s2"))
        if self.has("racks", 8):
            labels["topology/rack"] = self.one(("r1", "r1", "r2", "r3"))
        if self.is_labelled and self.chance(8):
            labels["topology/fabric"] = self.one(("f1", "f1", "f2", "n1"))
        return labels

    def ports(self) -> list[Document]:
        """Return RDMA ports; where they are crosswise, one kind is fast and the other is slow."""
        written: list[Document] = []
        is_crosswise = self.has("crosswise", 8)
        rates = {"infiniband": 100, "roce": 400}
        if is_crosswise and self.chance(5):
            rates = {"infiniband": 400, "roce": 100}
        for kind in ("infiniband", "roce"):
            if not (is_crosswise or self.has(kind, 8)):
                continue
            for _ in range(self.one((1, 1, 2))):
                rate = rates[kind] if is_crosswise else self.one(RATES)
                port: Document = {"kind": kind, "rate_gbps": rate}
                if self.has("down_ports", 4):
                    port["state"] = "down"
                if kind == "infiniband" and self.has("subnets", 7):
                    port["subnet"] = self.one(("n1", "n1", "n2"))
                written.append(port)
        return written

    def running(self, machines: list[Document]) -> list[Document]:
        """Return runs that hold GPUs, of one worker or of several."""
        if "running" not in self.features:
            return []
        seats: list[Document] = []
        for machine in machines:
            ids = [f"{machine['name']}/{index}" for index in range(len(machine["devices"]))]
            if (ids or self.chance(2)) and self.chance(8 if "patience" in self.features else 5):
                held = ids[: self.one((1, 2, 4))] if self.chance(7) else ids[-1:]
                seats.append({"host": machine["name"], "devices": held})
        state = self.one(("running", "running", "starting", "stopped"))
        if not self.chance(5):
            return [self.holder(f"on-{seat['host']}", [seat], "running") for seat in seats]
        return [self.holder("on", seats, state)] if seats else []

    def holder(self, name: str, seats: list[Document], state: str) -> Document:
        gpus = sum(len(seat["devices"]) for seat in seats)
        return {
            "name": name,
            "workspace": self.one(("w1", "w2")),
            "state": state,
            "gpus": {"count": gpus},
            "cpu_cores": self.one((0, 1)),
            "placed": {"workers": seats},
        }

    def policy(self) -> Document:
        written: Document = {}
        if "quotas" in self.features:
            written["workspaces"] = [
                {"name": name, "gpu_quota": self.one((8, 4, 2, 12, 5))}
                for name in ("w1", "w2")
                if self.chance(7)
            ]
        if "strict" in self.features:
            written["queue"] = "strict"
        return written

    # What is asked.

    def run(self, index: int, machines: list[Document]) -> Document:
        written: Document = {"name": f"r{index}", "workspace": self.one(("w1", "w1", "w2"))}
        if self.has("cpu", 6):
            written |= {"cpu_cores": self.one((1, 4, 0, 8)), "memory_bytes": self.one((0, 1, 20))}
            workers = self.one((2, 3, 1, 4))
            if self.chance(5):
                written["machines"] = workers
            else:
                written["node_selection"] = {"count": workers}
        else:
            written["gpus"] = {"count": self.one((2, 4, 1, 3, 8, 6, 4, 2, 5))}
            if self.has("fixed", 6):
                written["cpu_cores"] = self.one((1, 2, 4))
            if self.has("cores", 6):
                written["per_gpu"] = {"cpu_cores": self.one((1, 2, 0.5))}
            self.cut(written)
        if "priorities" in self.features:
            written["priority"] = self.one((0, 5))
        if "ages" in self.features or "patience" in self.features:
            waited = self.one((0, 3600, 10_800, 30_000))
            written["submitted_at"] = after(-waited)
        self.bind(written)
        self.choose(written, machines)
        if any(contradictions(Run.model_validate(written), ())):
            del written["topology"]["keep_within"]
        return written

    def cut(self, written: Document) -> None:
        """Give a GPU run a shape, or bounds to it."""
        gpus = written["gpus"]
        if self.has("models", 3):
            gpus["models"] = ["L4"] if self.chance(4) else ["H100"]
        if self.has("at_risk", 2):
            gpus["healthy_only"] = True
        if self.has("machines", 4):
            parts = [k for k in range(1, gpus["count"] + 1) if gpus["count"] % k == 0]
            written["machines"] = self.one(parts) if not self.chance(1) else 3
        if self.has("least", 4):
            gpus["min_per_machine"] = self.one((2, 1, 3))
        if self.has("per_node", 4):
            gpus["policy"] = "per_node"

    def bind(self, written: Document) -> None:
        """Give a run rules of topology and network."""
        topology: Document = {}
        if self.has("nodes", 4):
            least = self.one((None, 1, 2, 3))
            topology["min_nodes"] = least
            most = self.one((None, 2, 3, 4, least))
            topology["max_nodes"] = most if most is None else max(most, least or 1)
        if self.has("keep_within", 6):
            topology["keep_within"] = self.one(("rack", "fabric", "nvlink_domain", "node"))
        if self.has("spread", 4):
            topology["spread"] = self.one(("node", "rack", "fabric"))
        if self.has("patience", 8):
            topology["patience_s"] = self.one((20_000, 3600, 3601))
        if topology:
            written["topology"] = topology
        network: Document = {}
        if self.has("interconnect", 6):
            network["interconnect"] = self.one(("rdma", "infiniband", "nvlink", "auto"))
        if self.has("min_gbps", 5):
            network["min_gbps"] = self.one((200, 400, 100, 201))
        if network:
            written["network"] = network

    def choose(self, written: Document, machines: list[Document]) -> None:
        """Let a run choose its machines."""
        selection: Document = written.get("node_selection", {})
        if self.has("any", 6):
            selection["mode"] = "any"
        if self.has("names", 4):
            names = [machine["name"] for machine in machines]
            chosen = st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)
            selection["names"] = sorted(self.draw(chosen))
            if self.chance(1) and "states" in self.features:
                selection["names"].append("m9")
        if self.has("states", 2):
            selection["match_labels"] = {"team": "v"}
        if selection:
            written["node_selection"] = selection
