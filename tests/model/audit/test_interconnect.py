from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import Document, broken, decided, machine, run, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.standing import port, stands

IB, ROCE = port(), port("roce")


def asked(what: str, machines: list[Document], **more: object) -> Snapshot:
    return snapshot(machines, [run("x", 16, network={"interconnect": what}, topology={}, **more)])


def says(what: str, *machines: Document) -> set[str]:
    """What is broken where a run that asks this is on these two machines."""
    s = asked(what, list(machines))
    return broken(s, decided(s, {"x": [(each["name"], 8) for each in machines]}))


@pytest.mark.parametrize(
    ("one", "other", "lawful"),
    [
        (stands("a", IB, fabric="f"), stands("b", IB, fabric="f"), {"auto", "rdma", "infiniband"}),
        (stands("a", IB), stands("b", IB), {"auto", "rdma", "infiniband"}),
        (stands("a", ROCE, fabric="f"), stands("b", ROCE, fabric="f"), {"auto", "rdma"}),
        (stands("a", ROCE), stands("b", ROCE), {"auto", "rdma"}),
        (stands("a", IB, fabric="f"), stands("b", IB, fabric="g"), {"auto"}),
        (stands("a", IB, fabric="f"), stands("b", ROCE, fabric="f"), {"auto"}),
        (stands("a", rack="r"), stands("b", rack="r"), {"auto"}),
        (stands("a", domain="d"), stands("b", domain="d"), {"auto", "nvlink"}),
        (
            stands("a", IB, domain="d"),
            stands("b", IB, domain="d"),
            {"auto", "rdma", "infiniband", "nvlink"},
        ),
        (stands("a", ROCE, domain="d"), stands("b", IB, domain="d"), {"auto", "rdma", "nvlink"}),
    ],
)
def test_a_run_is_refused_on_a_slower_network_than_it_accepts(
    one: Document, other: Document, lawful: set[str]
) -> None:
    for what in ("auto", "rdma", "infiniband", "nvlink"):
        assert says(what, one, other) == (set() if what in lawful else {"interconnect"}), what


def test_a_single_worker_needs_a_port_that_is_up_too() -> None:
    machines = [
        stands("a", IB),
        stands("b", ROCE),
        machine("c", 8),
        stands("d", port(state="down")),
    ]
    for what, lawful in (("rdma", "ab"), ("infiniband", "a"), ("nvlink", "abcd"), ("auto", "abcd")):
        s = snapshot(machines, [run("x", 8, network={"interconnect": what})])
        for name in "abcd":
            rules = set() if name in lawful else {"interconnect"}
            assert broken(s, decided(s, {"x": [(name, 8)]})) == rules


def test_elements_of_an_array_need_ports_and_no_network_between_them() -> None:
    machines = [stands("a", IB, fabric="f"), stands("b", IB, fabric="g"), stands("c")]
    asked = run("x", 8, array={"size": 2}, network={"interconnect": "infiniband"})
    s = snapshot(machines, [asked])
    assert audit(s, decided(s, {"x": [("a", 8), ("b", 8)]})) == ()
    assert broken(s, decided(s, {"x": [("a", 8), ("c", 8)]})) == {"interconnect"}


def test_nothing_is_known_of_the_ports_of_what_is_bought() -> None:
    for what in ("auto", "nvlink", "rdma", "infiniband"):
        s = market([offering()], [work("x", 8, network={"interconnect": what})])
        told = priced(s, {"x": [("a100#1", 8)]}, "3.60", values={"x": by_rate("3.60")})
        assert broken(s, told) == ({"interconnect"} if what in ("rdma", "infiniband") else set())
