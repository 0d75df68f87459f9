import datetime as dt
import re
from collections.abc import Iterable, Sequence

import pytest

from stowplan.cli.formats import FORMS, Form, written
from stowplan.cli.render.decision import add_decision
from stowplan.cli.render.page import MOST_DRAWN, Page, table, words
from stowplan.model.decision import (
    ArrayCount,
    ChosenShape,
    Decision,
    HostRow,
    ModelSize,
    PlacedRun,
    RefusedRun,
    Rejected,
    Scores,
    SolverAccount,
    Stage,
    StayingRun,
    Summary,
    WaitingRun,
    Worker,
)
from stowplan.model.reasons import Code, Reason
from stowplan.model.snapshot import Snapshot

NOW = dt.datetime(2026, 9, 21, 6, 17, 37, tzinfo=dt.UTC)
PERFECT = Scores(
    fit=1, time_to_result=1, cost_to_complete=1, recovery_value=1, health=1, points=97.5
)

type Either = PlacedRun | StayingRun | WaitingRun | RefusedRun


def snapshot(runs: Iterable[str] = (), name: str = "lab", machines: int = 2) -> Snapshot:
    card = {"count": 8, "model": "NVIDIA H100 80GB HBM3", "memory_mib": 81559}
    fleet = [
        {"name": f"gpu-{number + 1:02}", "cpu_cores": 64, "memory_bytes": 2**39, "devices": card}
        for number in range(machines)
    ]
    asked = [{"name": run, "gpus": {"count": 1}, "machines": 1} for run in runs]
    document = {"name": name, "now": NOW, "fleet": {"machines": fleet}, "runs": asked}
    return Snapshot.read(document)


def placed(run: str, host: str = "gpu-01", devices: Sequence[int] = (0,)) -> PlacedRun:
    ids = tuple(f"{host}/{index}" for index in devices)
    return PlacedRun(
        run=run,
        shape=ChosenShape(tasks=1, gpus_each=len(ids), why="1 machine x 1 GPU"),
        workers=(Worker(index=0, host=host, devices=ids),),
        profile="balanced",
        scores=PERFECT,
        fallbacks=("gpu-02",),
        rejected=(
            Rejected(hosts=("cpu-01", "cpu-02"), reasons=(_why(Code.NO_MATCHING_GPU, "no GPU"),)),
        ),
    )


def staying(run: str, outcome: str, code: Code = Code.OK, why: str = "runs on") -> StayingRun:
    return StayingRun.model_validate(
        {
            "run": run,
            "outcome": outcome,
            "reason": _why(code, why),
            "workers": [Worker(index=0, host="gpu-02", devices=("gpu-02/3",))],
        }
    )


def waiting(
    run: str,
    *rows: HostRow,
    code: Code = Code.INSUFFICIENT_GPUS,
    why: str = "needs 8 GPUs, gpu-02 has 5",
    same_as: str | None = None,
    closest: str | None = "gpu-02",
    array: ArrayCount | None = None,
) -> WaitingRun:
    return WaitingRun(
        run=run, reason=_why(code, why), hosts_checked=12, hosts_ready=10, hosts_down=1,
        closest=closest, hosts=rows, same_as=same_as, evaluated_at=NOW, array=array,
    )  # fmt: skip


def row(code: Code, message: str, *hosts: str) -> HostRow:
    return HostRow(hosts=hosts, state="up", reasons=(_why(code, message),))


def decided(
    *outcomes: Either, gap: float = 0, limit: str | None = None, name: str = "lab"
) -> Decision:
    counts = {
        kind: sum(outcome.outcome == kind for outcome in outcomes)
        for kind in ("placed", "kept", "held", "waiting", "refused", "withdrawn")
    }
    gpus = sum(
        len(worker.devices) for o in outcomes if isinstance(o, PlacedRun) for worker in o.workers
    )
    status = "FEASIBLE" if limit else "OPTIMAL"
    place = Stage.model_validate(
        {"name": "place", "status": status, "objective": 64, "bound": 66, "gap": gap,
         "wall_s": 0.25, "deterministic": 0.1}
    )  # fmt: skip
    return Decision(
        cycle="c-0123456789ab",
        snapshot=name,
        now=NOW,
        summary=Summary(**counts, gpus_placed=gpus),
        outcomes=outcomes,
        solver=SolverAccount(
            status=place.status if place.status != "GREEDY" else "FEASIBLE",
            stages=(place,),
            model=ModelSize(variables=41, constraints=63, by_rule={"room": 12}),
            seed=1,
            version="ortools 9.15",
            limit_hit=limit,
        ),
        generation=0,
    )


def shown(
    decision: Decision, asked: Snapshot | None = None, width: int = 100, *, whole: bool = False
) -> str:
    page = Page(width, colour=False)
    asked = asked or snapshot(outcome.run for outcome in decision.outcomes)
    add_decision(page, decision, asked, whole=whole)
    return page.text()


def _why(code: Code, message: str) -> Reason:
    return Reason.of(code, message)


def test_the_first_lines_say_what_was_looked_at_and_what_came_of_it() -> None:
    text = shown(decided(placed("a", devices=range(4)), staying("b", "kept"), waiting("c")))
    first, second, third = text.splitlines()[:3]
    assert first == "lab  at 2026-09-21 06:17:37 UTC, 2 machines, 16 GPUs"
    assert second == "1 placed, 1 kept, 1 waiting; 4 GPUs placed, 4 of 16 in use"
    assert third == "proven optimal in 0.25 s"


def test_a_gap_is_said_as_what_is_proven_and_a_limit_by_its_name() -> None:
    assert "proven within 0.08 % of the best possible in 0.25 s" in shown(decided(gap=0.0008))
    text = " ".join(shown(decided(gap=0.03, limit="wall_time")).split())
    assert "stopped after 0.25 s by the time limit, at most 3 % from the best possible" in text


def test_the_share_of_the_time_limit_is_told_from_the_limit() -> None:
    decision = decided(gap=0.03, limit="deterministic_time")
    for whole in (False, True):
        text = " ".join(shown(decision, whole=whole).split())
        limit = "its share of the time limit (counted in work)"
        assert f"stopped after 0.25 s by {limit}, at most 3 %" in text
        assert "deterministic_time" not in text


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.of(Code.QUOTA_EXCEEDED, "no", need=8, quota=4), "review its quota: it is smaller"),
        (Reason.of(Code.QUOTA_EXCEEDED, "no", need=4, quota=4), "wait for the workspace's other"),
        (Reason.of(Code.SOLVER_LIMIT, "not proven"), "raise --time-limit, or wait"),
        (Reason.of(Code.INSUFFICIENT_CPU, "no", need=9, whole=8), "ask for less, or add a larger"),
        (Reason.of(Code.INSUFFICIENT_CPU, "no", need=8, whole=8), "wait, or stop a run"),
        (Reason.of(Code.NO_OFFERING_FITS, "no"), "add capacity"),
    ],
)
def test_what_to_do_is_what_the_numbers_of_the_reason_say(reason: Reason, said: str) -> None:
    assert f"-> {said}" in shown(decided(RefusedRun(run="r", reason=reason)))


def test_an_array_of_which_all_ended_says_so() -> None:
    ended = staying("sweep", "kept").model_copy(
        update={"workers": (), "array": ArrayCount(running=0, placed=0, waiting=0)}
    )
    assert re.search(r"^sweep \(all ended\) +kept$", shown(decided(ended)), re.MULTILINE)


def test_what_runs_is_a_table_of_hosts_and_devices() -> None:
    text = shown(decided(staying("old", "kept"), placed("new", devices=range(4))))
    assert re.search(r"^new +placed +gpu-01 +4 +0-3 +97.5$", text, re.MULTILINE)
    assert re.search(r"^old +kept +gpu-02 +1 +3$", text, re.MULTILINE)
    assert text.index("new ") < text.index("old ")


def test_many_kept_runs_are_counted_and_listed_by_wide_only() -> None:
    decision = decided(*(staying(f"job-{number:03}", "kept") for number in range(200)))
    assert "200 runs kept where they were: job-[000-199]" in shown(decision)
    assert "job-007" in shown(decision, whole=True)


def test_a_waiting_run_has_its_sentence_counts_hosts_and_what_to_do() -> None:
    rows = [
        row(Code.LABEL_MISSING, "lacks pool=h100", *(f"l4-{n:02}" for n in range(28))),
        row(Code.INSUFFICIENT_GPUS, "needs 8 GPUs, 5 free", "gpu-02"),
        row(Code.INSUFFICIENT_GPUS, "needs 8 GPUs, 0 free", "gpu-01"),
    ]
    text = shown(decided(waiting("big", *rows)))
    assert "big  INSUFFICIENT_GPUS\n    needs 8 GPUs, gpu-02 has 5\n" in text
    assert "closest gpu-02; 12 hosts checked, 10 ready, 1 down" in text
    assert re.search(r" 2 hosts +gpu-\[01-02\] +INSUFFICIENT_GPUS +e.g. gpu-02: needs 8", text)
    assert re.search(r"28 hosts +l4-\[00-27\] +LABEL_MISSING +lacks pool=h100", text)
    assert text.index("e.g. gpu-02") < text.index("LABEL_MISSING")
    assert "-> wait, or stop a run that holds the room" in text


def test_runs_that_wait_alike_are_told_once() -> None:
    first = waiting("sweep-001", row(Code.INSUFFICIENT_GPUS, "needs 8 GPUs, 5 free", "gpu-02"))
    others = [waiting(f"sweep-{n:03}", same_as="sweep-001") for n in range(2, 41)]
    text = shown(decided(first, *others))
    assert "sweep-[001-040]  INSUFFICIENT_GPUS  40 alike" in text
    assert text.count("INSUFFICIENT_GPUS") == 2


def test_a_run_of_the_same_class_with_another_reason_is_told_apart() -> None:
    first = waiting("a", row(Code.INSUFFICIENT_GPUS, "needs 8 GPUs, 5 free", "gpu-02"))
    other = waiting("b", code=Code.QUOTA_EXCEEDED, why="quota 8, 8 in use", same_as="a")
    text = shown(decided(first, other))
    assert "quota 8, 8 in use" in text
    assert "hosts as for a" in text


def test_reasons_are_wrapped_and_never_cut() -> None:
    why = " ".join(f"word{number}" for number in range(120))
    text = shown(decided(waiting("a", row(Code.LABEL_MISSING, why, "x"), why=why)), width=60)
    for number in range(120):
        assert text.count(f"word{number}\n") + text.count(f"word{number} ") >= 1
    assert max(map(len, text.splitlines())) <= 60


def test_beyond_a_screen_of_kinds_each_has_a_line() -> None:
    runs = [waiting(f"run-{chr(97 + n)}", why=f"needs {n} GPUs") for n in range(20)]
    text = shown(decided(*runs))
    for number in range(20):
        assert f"needs {number} GPUs" in text
    assert len(text.splitlines()) < 90


def test_an_array_says_how_many_elements_wait_and_why() -> None:
    rest = ArrayCount(running=0, placed=4, waiting=8)
    why = _why(Code.ARRAY_LIMIT, "4 run at once, as many as it may")
    sweep = placed("sweep").model_copy(update={"array": rest, "reason": why})
    text = shown(decided(sweep))
    assert "sweep (4 start, 8 wait)" in text
    assert "sweep  ARRAY_LIMIT  4 start, 8 wait\n    4 run at once, as many as it may" in text


def test_held_refused_and_withdrawn_runs_have_their_reasons() -> None:
    text = shown(
        decided(
            staying("h", "held", Code.HARDWARE_STALE, "gpu-02 last reported 900 s ago"),
            staying("w", "withdrawn", Code.GPU_UNAVAILABLE, "gpu-02/3 is gone"),
            RefusedRun(run="r", reason=_why(Code.UNEVEN_SHAPE, "7 GPUs don't divide over 2")),
        )
    )
    assert "h  HARDWARE_STALE  gpu-02\n    gpu-02 last reported 900 s ago" in text
    assert "w  GPU_UNAVAILABLE  gpu-02\n    gpu-02/3 is gone" in text
    assert "r  UNEVEN_SHAPE\n    7 GPUs don't divide over 2" in text


def test_runs_held_or_refused_alike_are_told_once() -> None:
    held = [staying(f"h-{n:04}", "held", Code.HARDWARE_STALE, "gpu-02 is down") for n in range(40)]
    why = _why(Code.POOL_RESTRICTED, "may use x only, and no machine is in it")
    refused = [RefusedRun(run=f"r-{n:04}", reason=why) for n in range(5000)]
    text = shown(decided(*held, *refused))
    assert "h-[0000-0039]  HARDWARE_STALE  40 alike  gpu-02\n    gpu-02 is down" in text
    assert "r-[0000-4999]  POOL_RESTRICTED  5,000 alike\n    may use x only, and no" in text
    assert len(text.splitlines()) < 20


def test_beyond_a_screen_of_reasons_those_that_differ_in_figures_are_one_cause() -> None:
    held = [
        staying(f"h-{n:02}", "held", Code.HARDWARE_STALE, f"gpu-{n:02} last reported {n} s ago")
        for n in range(40)
    ]
    text = shown(decided(*held))
    assert "h-[00-39]  HARDWARE_STALE  40 alike" in text
    assert "e.g. h-00: gpu-00 last reported 0 s ago" in text
    assert len(text.splitlines()) < 20
    assert "gpu-39 last reported 39 s ago" in shown(decided(*held), whole=True)


def test_names_among_the_figures_of_a_reason_make_no_causes_of_their_own() -> None:
    names = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(20)]
    runs = [
        RefusedRun(
            run=name,
            reason=Reason.of(Code.NOT_SELECTED, f"no machine is called '{name}'", unknown=(name,)),
        )
        for name in names
    ]
    text = shown(decided(*runs))
    assert "NOT_SELECTED  20 alike\n    e.g. a: no machine is called 'a'" in text


def test_many_more_kinds_of_waiting_are_told_by_their_cause() -> None:
    runs = [waiting(f"run-{n:03}", why=f"the nearest, m-{n}: down") for n in range(200)]
    text = shown(decided(*runs))
    assert "188 runs" in text
    assert "e.g. run-012: the nearest, m-12: down" in text
    assert len(text.splitlines()) < 90


def test_no_runs_and_no_machines_are_a_page_too() -> None:
    text = shown(decided(), snapshot(machines=0), whole=True)
    assert "0 machines, 0 GPUs" in text
    assert "no runs; 0 GPUs placed, 0 of 0 in use" in text


def test_wide_shows_ids_scores_other_hosts_machines_and_stages() -> None:
    text = shown(decided(placed("a", devices=(0, 1))), whole=True)
    assert "gpu-01: gpu-01/[0-1]" in text
    assert "points 97.5; fit 1.00" in text
    assert "else, in this order: gpu-02" in text
    assert re.search(r"cpu-\[01-02\] +NO_MATCHING_GPU +no GPU", text)
    assert re.search(r"^gpu-01 +up +8 +2 +64 +512 +a$", text, re.MULTILINE)
    assert re.search(r"^place +OPTIMAL +64 +66 +0 % +0.25 s$", text, re.MULTILINE)
    assert "41 variables, 63 constraints (room 12)" in text


def test_wide_names_the_run_whose_other_hosts_are_the_same() -> None:
    first, second = placed("a"), placed("b", "gpu-02").model_copy(update={"same_as": "a"})
    third = second.model_copy(update={"run": "c", "rejected": ()})
    page = shown(decided(first, second, third), whole=True)
    told = [line.strip() for line in page.splitlines() if line.strip().startswith("not:")]
    assert told == ["not:", "not: as for a but for:", "not: as for a"]


HOSTILE = "x\x1b[31mred\x1b[0m\x9b1m\u202e[bold red]y[/bold red] :smile: {b}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", ["40", "60", "100", "250"])
def test_a_hostile_name_never_reaches_the_terminal_raw(
    form: Form, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("FORCE_COLOR", "1")
    asked = snapshot()
    outcomes = (
        placed("a").model_copy(update={"run": HOSTILE}),
        staying("k", "kept").model_copy(update={"run": HOSTILE}),
        staying("h", "held", Code.HARDWARE_STALE, HOSTILE).model_copy(update={"run": HOSTILE}),
        waiting(HOSTILE, row(Code.LABEL_MISSING, HOSTILE, HOSTILE), why=HOSTILE, closest=HOSTILE),
        RefusedRun(run=HOSTILE, reason=_why(Code.NOT_SELECTED, HOSTILE)),
    )
    decision = decided(*outcomes, name=HOSTILE)
    if form == "wide":
        decision = decided(*outcomes[1:], name=HOSTILE)
    text = written(decision, asked, form)
    if form == "csv":  # to a pipe, a table is data: exact, and quoted
        assert HOSTILE in text
        return
    assert not any(character in text for character in "\x1b\x9b\u202e")
    if form in ("table", "wide"):
        assert "[bold" in text.replace("\n", "")


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("name", ["n" * 253, "長い名前" * 60, "a-b." * 60])
def test_long_names_are_folded_into_the_width_and_stay_whole(width: int, name: str) -> None:
    from rich.cells import cell_len

    text = shown(decided(waiting(name), placed(name), name=name), snapshot([name]), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "".join(text.split()).count(name[:20]) >= 3


def test_a_thousand_runs_make_a_line_each() -> None:
    runs = [placed(f"train-{n:04}", devices=(n % 8,)) for n in range(1000)]
    text = shown(decided(*runs))
    assert len(text.splitlines()) == 1000 + 5
    assert not any(line.endswith(" ") for line in text.splitlines())


@pytest.mark.parametrize("names", [("a", "長い名前"), ("a" * 60, "b"), ("é", "e\u0301"), ("a",)])
@pytest.mark.parametrize("width", [40, 100])
def test_a_table_that_needs_no_wrapping_is_as_it_would_be_drawn(
    names: tuple[str, ...], width: int
) -> None:
    rows = [(words((name, "bold")), "12", "words") for name in names]
    columns = ("NAME", "FIGURE", "WORDS")
    plain, drawn = Page(width, colour=False), Page(width, colour=False)
    plain.add_rows(table(columns, right=("FIGURE",)), rows)
    grid = table(columns, right=("FIGURE",))
    for row in rows:
        grid.add_row(*row)
    drawn.add(grid)
    assert plain.text() == drawn.text()


def test_a_table_of_thousands_is_written_without_colour() -> None:
    page = Page(40, colour=True)
    page.add_rows(table(("NAME",)), [(f"run-{number}",) for number in range(MOST_DRAWN + 1)])
    assert page.text().splitlines() == ["NAME", *(f"run-{n}" for n in range(MOST_DRAWN + 1))]


@pytest.mark.parametrize("text", ["plain", "長い" * 30, "words " * 30, "n" * 200])
def test_a_paragraph_is_the_same_with_and_without_colour(text: str) -> None:
    pages = [Page(50, colour=colour) for colour in (False, True)]
    for page in pages:
        page.add(words(text), 4)
    assert pages[0].text() == pages[1].text()


def test_colour_is_for_a_terminal() -> None:
    page = Page(100, colour=True)
    add_decision(page, decided(placed("a")), snapshot(["a"]), whole=False)
    assert "\x1b[" in page.text()
    assert "\x1b[" not in shown(decided(placed("a")))


def test_wide_says_what_a_choice_among_equals_may_have_cost_the_lower_tiers() -> None:
    decision = decided(placed("a"))
    stage = decision.solver.stages[0].model_copy(update={"price": 1234})
    solver = decision.solver.model_copy(update={"stages": (stage,)})
    page = shown(decision.model_copy(update={"solver": solver}), whole=True)
    text = " ".join(page.split())
    assert "place: the lower tiers could have at most 1,234 more, had other runs of" in text


@pytest.mark.parametrize("width", [80, 100])
def test_long_names_beside_long_sentences_are_cut_at_their_slashes_only(width: int) -> None:
    page = Page(width, colour=False)
    grid = table(("HOST", "CODE", "WHY"), whole=("CODE",))
    name = "aws/us-east-1/use1-az1/p6-b200.48xlarge/8xB200, +6,977 more"
    row = (name, "EXCEEDS_REMAINING_BUDGET", "is expected to cost 299.55 to 6,332.05 USD " * 2)
    page.add_rows(grid, [row], 6, names="HOST")
    lines = page.text().splitlines()
    assert max(map(len, lines)) <= width
    names = [line[6:].split("  ")[0] for line in lines[1:]]
    assert " ".join(filter(None, names)).replace("/ ", "/") == name
    assert all(told.endswith(("/", ",", "more")) for told in names if told)


def test_a_name_without_slashes_is_never_lost_on_a_narrow_page() -> None:
    page = Page(40, colour=False)
    grid = table(("HOST", "WHY"))
    page.add_rows(grid, [("x" * 70, "y" * 30)], names="HOST")
    text = page.text()
    assert (text.count("x"), text.count("y")) == (70, 30)
