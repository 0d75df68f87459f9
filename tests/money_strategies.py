"""Random snapshots in which money and time count, small enough to try every assignment.

As in `tests.strategies`, a snapshot draws which features it has. Rates, costs and times are drawn
from figures that lie on the borders of the bands and limits, and just beside them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from stowplan.model.estimating.token import token_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.strategies import CARDS, NOW, after

type Document = dict[str, Any]  # Any: what a YAML file could hold

LIMITS = (
    "complete_by", "max_cost", "max_rate", "if_match", "budgets", "balances", "sold_out",
    "quotas", "drives", "selection", "models", "small", "policies",
)  # fmt: skip
"""Features that keep runs off hosts."""

SPICE = (
    "profiles", "prefer", "interrupted", "warm", "billing", "startup", "failures", "health",
    "rented", "byoc", "running", "risky", "classes", "arrays", "priorities", "ages", "unknown",
    "history", "short", "saves", "images", "bands", "many",
)  # fmt: skip
"""Features that make hosts and runs unlike in what they cost, and in what they are worth."""

RATES = ("1", "1.02", "2.5", "1.020001", "1.1", "1.5", "1.100001", "1.05", "0.98", "0")
"""Around 2 %, 10 % and 1.5 times of the first."""

CARD = {"model": "NVIDIA H100 SXM", "family": "hopper", "vendor": "nvidia", "memory_gb": 80}
OTHER = {"model": "NVIDIA L4", "family": "ada", "vendor": "nvidia", "memory_gb": 24}
GIB = 2**30


@st.composite
def money_snapshots(
    draw: st.DrawFn,
    max_machines: int = 2,
    max_offerings: int = 3,
    max_runs: int = 4,
    always: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Snapshot:
    """Return a valid snapshot of at most so many of each, to be solved to the proof.

    Some features it always has, some never; which others, it draws.
    """
    features = {feature for feature in SPICE if draw(st.integers(0, 2)) == 1}
    features |= {"profiles"} if draw(st.booleans()) else set()
    if draw(st.integers(0, 2)):
        features |= {feature for feature in LIMITS if draw(st.integers(0, 3)) == 2}
    writer = _Writer(draw, (features | {*always}) - {*without})
    return Snapshot.read(writer.document(max_machines, max_offerings, max_runs))


@st.composite
def money_offerings(draw: st.DrawFn, name: str) -> Document:
    """Return an offering that most runs might use."""
    return _Writer(draw, set(SPICE)).offering(0) | {"name": name}


class _Writer:
    """Writes the parts of one snapshot's document."""

    def __init__(self, draw: st.DrawFn, features: set[str]) -> None:
        self.draw, self.features = draw, features
        self.left = 4
        """How many more workers may be asked for."""

    def one[T](self, values: Sequence[T]) -> T:
        """One of the values; the first is the plainest."""
        return self.draw(st.sampled_from(values))

    def chance(self, in_ten: int) -> bool:
        return 1 <= self.draw(st.integers(0, 9)) <= in_ten

    def has(self, feature: str, in_ten: int = 5) -> bool:
        """Whether this host or run shows a feature of the snapshot."""
        return feature in self.features and self.chance(in_ten)

    def alike(self, items: list[Document]) -> list[Document]:
        if "classes" not in self.features or not items:
            return items
        return [{**items[0], "name": item["name"]} if self.chance(6) else item for item in items]

    def document(self, max_machines: int, max_offerings: int, max_runs: int) -> Document:
        machines = [self.machine(index) for index in range(self.one(range(max_machines + 1)))]
        count = self.one(range(1 if not machines else 0, max_offerings + 1))
        offerings = [self.offering(index) for index in range(count)]
        least = max(1, max_runs - 2)
        runs = [self.run(index) for index in range(self.one(range(least, max_runs + 1)))]
        runs = self.alike([run for run in runs if run])
        return {
            "now": after(0),
            "fleet": {"machines": machines, "offerings": offerings, "drives": self.drives()},
            "runs": [*self.running(machines), *runs],
            "policy": self.policy(),
            "knowledge": self.knowledge(),
            "solver": {"gap": 0, "time_limit_s": 600},
        }

    # What there is.

    def machine(self, index: int) -> Document:
        written: Document = {
            "name": f"m{index}",
            "cpu_cores": self.one((16, 8, 4)),
            "memory_bytes": 256 * GIB,
            "devices": [self.device(at) for at in range(self.one((1, 2, 0, 4)))],
        }
        if self.has("rented", 7):
            written["rate_usd_per_hour"] = self.one(RATES)
            written["paid_until"] = self.one((None, after(1800), after(7200), after(-60)))
        if self.has("byoc", 6):
            written["byoc_pool"] = self.one(("mine", "other"))
        return written

    def device(self, index: int) -> Document:
        risk = "at_risk" if self.has("risky", 4) else "healthy"
        return {"id": f"g{index}", "health": risk, **CARDS["H100"]}

    def offering(self, index: int) -> Document:
        written: Document = {
            "name": f"o{index}",
            "provider": "acme",
            "region": self.one(("east", "west")),
            "cpu_cores": 16,
            "memory_bytes": 256 * GIB,
            "rate_usd_per_hour": self.one(RATES[: None if self.chance(2) else 7]),
            "available": self.one((2, 1, 3) if "many" not in self.features else (4, None)),
            "billing": {"increment_s": 1, "minimum_s": 0, "starts": "creation"},
            "startup": {"boot_p50_s": 0, "boot_p90_s": 0, "warm_s": 0},
            "teardown_s": 0,
        }
        if not self.chance(1):
            written["accelerator"] = {**CARD, "count": self.one((4, 2, 8, 1))}
        self.shorten(written)
        self.price(written)
        return written

    def shorten(self, written: Document) -> None:
        """Give it what keeps runs off."""
        if self.has("sold_out", 4):
            written["available"] = 0
        if self.has("small", 4):
            written |= self.one(({"cpu_cores": 2}, {"memory_bytes": 4 * GIB}))
        if self.has("models", 5) and "accelerator" in written:
            written["accelerator"] |= self.one((OTHER, {"memory_gb": 79.9}, {"vendor": None}))
        if self.has("warm", 6):
            count = self.one((1, 2))
            until = self.one((None, after(1800), after(7200), after(-1)))
            written["warm"] = self.one((count, {"count": count, "paid_until": until}))
        if self.has("interrupted", 6) or self.has("prefer", 6):
            written["interruptible"] = True
            written["reclaims"] = self.one(
                (None, {"per_hour": 0.5}, {"per_hour": 0}, {"uptime_p50_s": 2340},
                 {"per_hour": 0.2, "uptime_p50_s": 2340, "uptime_p90_s": 21600})
            )  # fmt: skip

    def price(self, written: Document) -> None:
        """Give it what costs time or money, or tells it from others of equal rate."""
        if self.has("billing", 7):
            written["billing"] = {
                "increment_s": self.one((60, 3600, 1, None)),
                "minimum_s": self.one((0, 60, 3600, None)),
                "starts": self.one(("creation", "ready", None)),
            }
        if self.has("startup", 7):
            written["startup"] = {
                "boot_p50_s": self.one((180, 60, 900, None)),
                "boot_p90_s": self.one((600, 1800, None)),
                "warm_s": self.one((5, 60, None)),
                "pull_mib_per_s": self.one((100, 350, None)),
                "restore_mib_per_s": self.one((100, 500, None)),
            }
            written["teardown_s"] = self.one((60, 0, None))
        if self.has("failures", 6):
            written["starts"] = {
                "attempts": self.one((4, 40, 0)),
                "failures": self.one((0, 1, 4)),
                "last_failed_at": self.one((None, after(-300), after(-301), after(-1))),
            }
        if self.has("health", 6):
            written["health"] = self.one((0.97, 0.9, 0.5))

    def drives(self) -> list[Document]:
        if "drives" not in self.features:
            return []
        sites = self.one(((), ("east",), ("east", "west"), ("north",)))
        return [{"name": "d", "sites": sites, "free_bytes": self.one((None, 10))}]

    def running(self, machines: list[Document]) -> list[Document]:
        """Return runs that hold what is there; a machine of theirs is billed for them."""
        written = []
        for machine in machines:
            if not self.has("running", 6):
                continue
            gpus = [device["id"] for device in machine["devices"]][: self.one((1, 0, 2))]
            run = {
                "name": f"on-{machine['name']}",
                "state": "running",
                "gpus": {"count": len(gpus)},
                "cpu_cores": self.one((1, 0, 4)),
                "placed": {"workers": [{"host": machine["name"], "devices": gpus}]},
                "started_at": after(-600),
                "expected_duration_s": self.one((None, 4200, 2400, 60)),
            }
            written.append(run)
        return written

    def policy(self) -> Document:
        written: Document = {"workspaces": [self.workspace(name) for name in ("w1", "w2")]}
        if "budgets" in self.features:
            shared = self.one((("w1", "w2"), ("w1",), ("w1", "w2", "w3")))
            left = self.one(("2.04", "1", "3", "0", "5.5"))
            written["budgets"] = [{"name": "b", "workspaces": shared, "remaining_usd": left}]
            if self.chance(3):
                written["budgets"].append({"name": "c", "workspaces": ["w1"], "remaining_usd": "2"})
        if "bands" in self.features:
            written["bands"] = {
                "profile": self.one((0.02, 0, 0.1, 0.5)),
                "interruptible_prefer": self.one((0.1, 0, 0.5)),
                "speed_cost": self.one((1.5, 1, 2.5)),
                "recent_failure_s": self.one((300, 0, 3600)),
                "duration_p90_factor": self.one((1.25, 1, 3)),
            }
        return written

    def workspace(self, name: str) -> Document:
        written: Document = {"name": name}
        if self.has("quotas", 7):
            written["gpu_quota"] = self.one((2, 1, 4))
        if self.has("balances", 7):
            written["balance_usd"] = self.one(("1", "2.04", "0", "4"))
        if self.has("selection", 3):
            written["pools"] = ["x"]
        return written

    def knowledge(self) -> Document:
        if "history" not in self.features:
            return {}
        past = [
            {"labels": {"job": "a"}, "family": "hopper", "seconds": [3000, 3600, 4000]},
            {"labels": {"job": "a"}, "family": "ada", "seconds": [9000, 9000, 9600]},
        ]
        cards = [{"model": CARDS["H100"]["model"], "family": "hopper"}]
        return {"durations": past[: self.one((2, 1))], "cards": cards}

    # What is asked.

    def run(self, index: int) -> Document:
        """Return a run of one worker, or an array; nothing where enough is asked already."""
        size = self.one((2, 3, 1)) if self.has("arrays", 4) else 1
        if size > self.left:
            return {}
        self.left -= size
        gpus = self.one((1, 2, 0, 4))
        written: Document = {
            "name": f"r{index}",
            "workspace": self.one(("w1", "w2", "w3")),
            "gpus": {"count": gpus},
            "cpu_cores": self.one((1, 4, 0)),
            "memory_bytes": self.one((0, GIB, 8 * GIB)),
            "placement": self.placement(),
        }
        if size > 1 or self.has("arrays", 2):
            written["array"] = {"size": size, "max_parallel": self.one((None, 1, 2))}
        elif gpus:
            written["machines"] = 1
        if "priorities" in self.features:
            written["priority"] = self.one((0, 5))
        if "ages" in self.features:
            written["submitted_at"] = after(-self.one((0, 10_800, 30_000)))
        self.time(written)
        self.choose(written, gpus)
        return written

    def placement(self) -> Document:
        written: Document = {}
        if "profiles" in self.features:
            written["profile"] = self.one(("speed", "cost", "balanced", None))
        if self.has("complete_by", 7):
            written["complete_by"] = after(self.one((4500, 4499, 5000, 9000, 60, 0)))
        if self.has("max_cost", 6):
            written["max_cost_usd"] = self.one(("1", "1.02", "2", "0", "0.5"))
        if self.has("max_rate", 6):
            written["max_rate_usd_per_hour"] = self.one(("1", "1.02", "0", "2"))
        if self.has("if_match", 6):
            rate = self.one((1_000_000, 10**6 * 102 // 100, 0, 2_500_000, 909_090))
            until = NOW + dt.timedelta(minutes=31)
            written["if_match"] = token_of(Run(name="estimated"), "o0", rate, until)
        if self.has("policies", 5):
            written["interruptible"] = self.one(("never", "require"))
        elif self.has("prefer", 8):
            written["interruptible"] = "prefer"
        if self.has("byoc", 6):
            written["pool"] = self.one(("mine", "other"))
        return written

    def time(self, written: Document) -> None:
        if self.has("unknown", 5) or self.has("history", 7):
            written["labels"] = {"job": self.one(("a", "b"))}
        else:
            how = self.one(("expected_duration_s", "measured_duration_s"))
            times = (3600, 1800, 7200, 600) if not self.has("short", 7) else (0, 1, 30)
            written[how] = self.one(times)
        if self.has("images"):
            written["image_mib"] = self.one((10_000, 35_000))
        if self.has("saves"):
            written["checkpoint"] = {
                "interval_s": self.one((600, 7200)),
                "size_mib": self.one((0, 50_000)),
                "saves": self.one((None, 3, 0)),
            }

    def choose(self, written: Document, gpus: int) -> None:
        if self.has("selection", 3):
            written |= self.one(
                ({"needs": ["net"]}, {"node_selection": {"names": ["m0"], "mode": "any"}},
                 {"node_selection": {"match_labels": {"zone": "a"}}})
            )  # fmt: skip
        if gpus and self.has("models", 5):
            written["gpus"] |= self.one(
                ({"models": ["h100"]}, {"vendor": "nvidia"}, {"min_memory_gb": 80},
                 {"min_memory_gb": 24}, {"models": ["L4"]})
            )  # fmt: skip
        if gpus and self.has("risky", 3):
            written["gpus"]["healthy_only"] = True
        if self.has("drives", 5):
            written["drives"] = [{"name": "d", "need_bytes": self.one((0, 11))}]
