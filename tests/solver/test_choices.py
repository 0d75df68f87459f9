from __future__ import annotations

from stowplan.model.snapshot import Snapshot
from stowplan.solver.linear import ZERO
from tests.build import card, machine, run, running, snapshot
from tests.solver.cycles import choices_of, class_of, host_of

L4 = card(model="NVIDIA L4")
RISKY = card(health="at_risk")


def _kinds(s: Snapshot, host: str) -> list[tuple[list[str], bool]]:
    choices = choices_of(s)
    return [(sorted(kind.ids), kind.at_risk) for kind in choices.kinds(host_of(choices, host))]


def test_a_class_is_only_on_hosts_that_could_take_a_worker() -> None:
    machines = [machine("m", 1), machine("n", 2), machine("o", 2, state="down"), machine("p", 4)]
    choices = choices_of(snapshot(machines, [run("a", 2)]))
    each = class_of(choices, "a")
    assert [host.name for host in choices.hosts_for(each)] == ["n", "p"]
    assert choices.workers_on(each, host_of(choices, "m")) == ZERO
    assert choices.classes_on(host_of(choices, "o")) == []


def test_a_class_that_does_not_fit_now_has_no_variables() -> None:
    choices = choices_of(snapshot([machine("m", 1)], [run("a", 2), run("b", machines=2)]))
    assert choices.program.upper == []
    assert choices.starts(class_of(choices, "a")) == ZERO


def test_as_many_workers_are_bounded_as_fit_or_are_asked_for() -> None:
    choices = choices_of(snapshot([machine("m", 8)], [run(name, 2) for name in "abc"]))
    workers = choices.workers_on(class_of(choices, "a"), host_of(choices, "m"))
    assert choices.program.range(workers) == (0, 3)  # 4 would fit; 3 runs ask
    choices = choices_of(snapshot([machine("m", 5)], [run(name, 2) for name in "abc"]))
    workers = choices.workers_on(class_of(choices, "a"), host_of(choices, "m"))
    assert choices.program.range(workers) == (0, 2)


def test_gpus_that_the_same_classes_can_use_are_one_kind() -> None:
    cards = [card(), L4, card(), L4, card(memory_mib=40000)]
    runs = [run("a", 1), run("b", {"count": 1, "models": ["L4"]})]
    assert _kinds(snapshot([machine("m", cards)], runs), "m") == [
        (["m/0", "m/2", "m/4"], False),
        (["m/1", "m/3"], False),
    ]


def test_gpus_at_risk_are_a_kind_of_their_own() -> None:
    cards = [card(), RISKY, card(health="unknown")]
    assert _kinds(snapshot([machine("m", cards)], [run("a", 1)]), "m") == [
        (["m/0", "m/2"], False),
        (["m/1"], True),
    ]


def test_gpus_that_nobody_can_use_are_no_kind() -> None:
    cards = [card(), card(health="faulted"), L4, RISKY]
    asked = run("a", {"count": 1, "models": ["H100"], "healthy_only": True})
    s = snapshot([machine("m", cards, constraints={"denied_devices": ["m/0"]})], [asked])
    assert _kinds(s, "m") == []
    s = snapshot([machine("m", [card(), card()])], [running("r", ("m", 1)), asked])
    assert _kinds(s, "m") == [(["m/1"], False)]


def test_a_class_with_one_kind_takes_what_its_workers_ask() -> None:
    choices = choices_of(snapshot([machine("m", 4)], [run("a", 2)]))
    each, host = class_of(choices, "a"), host_of(choices, "m")
    [kind] = choices.kinds_for(each, host)
    assert choices.gpus_on(each, kind) == choices.workers_on(each, host) * 2
    assert choices.gpus_taken(kind) == choices.gpus_given(each, host)
    assert choices.at_risk_taken() == ZERO


def test_a_class_with_two_kinds_chooses_how_many_of_each() -> None:
    choices = choices_of(snapshot([machine("m", [card(), RISKY])], [run("a", 1)]))
    each, host = class_of(choices, "a"), host_of(choices, "m")
    sound, risky = choices.kinds_for(each, host)
    assert choices.gpus_on(each, sound) != choices.gpus_on(each, risky)
    assert choices.at_risk_taken() == choices.gpus_taken(risky)
    assert "room" in choices.program.rules


def test_what_workers_take_is_summed_over_classes() -> None:
    runs = [run("a", cpu_cores=2, memory_bytes=5), run("b", cpu_cores=0.5)]
    choices = choices_of(snapshot([machine("m")], runs))
    host = host_of(choices, "m")
    a, b = (choices.workers_on(class_of(choices, name), host) for name in "ab")
    assert choices.millicores_taken(host) == a * 2000 + b * 500
    assert choices.memory_taken(host) == a * 5


def test_the_oldest_start_first_and_as_many_as_before() -> None:
    waited = ("2026-09-21T05:00:00Z", "2026-09-20T05:00:00Z", "2026-09-19T05:00:00Z")
    runs = [run(name, 1, submitted_at=at) for name, at in zip("abc", waited, strict=True)]
    choices = choices_of(snapshot([machine("m", 2)], runs))
    [each] = choices.classes
    assert [cohort.runs[0].name for cohort in each.cohorts] == ["c", "b", "a"]
    (workers,) = choices.workers_on(each, host_of(choices, "m")).terms
    columns = [next(iter(choices.starting(each, index).terms)) for index in range(3)]
    values = [0] * len(choices.program.upper)
    values[columns[1]] = values[columns[2]] = 1
    values[workers] = 2
    choices.oldest_first(values)
    assert [values[column] for column in columns] == [1, 1, 0]
    assert values[workers] == 2
