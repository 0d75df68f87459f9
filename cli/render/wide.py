"""What only `-o wide` shows: shapes, ids and scores of placed runs, every host, the solve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from stowplan.cli.render.estimate import add_lines
from stowplan.cli.render.page import Page, table, words
from stowplan.cli.render.text import counted, folded, printable, ranged, seconds, share
from stowplan.cli.render.words import stopped
from stowplan.model.decision import Decision, PlacedRun, Scores, Value, Worker
from stowplan.model.fleet import Machine
from stowplan.model.holds import holding
from stowplan.model.room import Room, room_after
from stowplan.model.snapshot import Snapshot

GIB = 2**30


def add_placed(page: Page, decision: Decision) -> None:
    """Add, for each placed run, why it is cut so, its GPUs, its scores and its other hosts."""
    placed = [outcome for outcome in decision.outcomes if isinstance(outcome, PlacedRun)]
    if placed:
        page.heading("Placed runs")
    for run in placed:
        page.space()
        page.add(words((run.run, "bold"), f"  {run.shape.why}", (f"  {run.profile}", "dim")), 2)
        for line in _workers(run.workers):
            page.add(words(line), 4)
        if run.value and run.estimate:
            page.add(words(_value(run.value)), 4)
        if run.estimate and run.estimate.cost_usd:
            add_lines(page, run.estimate, 4)
        page.add(words(_scores(run.scores)), 4)
        for got in run.asked_and_got:
            page.add(words(f"{got.rule}: asked {got.asked}, got {got.got}"), 4)
        if run.fallbacks:
            page.add(words(f"else, in this order: {', '.join(run.fallbacks)}"), 4)
        if run.same_as:
            but = " but for:" if run.rejected else ""
            page.add(words(f"not: as for {run.same_as}{but}"), 4)
        elif run.rejected:
            page.add(words("not:"), 4)
        if run.rejected:
            grid = table(("hosts", "code", "why"), whole=("code",))
            grid.show_header = False
            rows = [
                (
                    "" if number else folded(row.hosts, max(14, page.width // 4)),
                    reason.code,
                    words(reason.message),
                )
                for row in run.rejected
                for number, reason in enumerate(row.reasons)
            ]
            page.add_rows(grid, rows, 6, names="hosts")


def add_fleet(page: Page, decision: Decision, snapshot: Snapshot) -> None:
    """Add every machine, with what is free of it after the cycle."""
    if not snapshot.fleet.machines:
        return
    page.heading("Machines after this cycle")
    page.space()
    names = ("HOST", "STATE", "GPUS", "IN USE", "AT RISK", "FAULTED", "CORES FREE", "GIB FREE")
    grid = table((*names, "RUNS"), right=names[2:], whole=("STATE",))
    rooms = room_after(snapshot, decision)
    runs = _runs_after(decision, snapshot)
    rows = [
        _machine(machine, rooms[machine.name], runs.get(machine.name, []))
        for machine in snapshot.fleet.machines
    ]
    page.add_rows(grid, rows)


def add_account(page: Page, decision: Decision) -> None:
    """Add what the solver did, stage by stage."""
    account = decision.solver
    page.heading("Solve")
    page.space()
    if account.stages:
        names = ("STAGE", "STATUS", "OBJECTIVE", "BOUND", "GAP", "TIME")
        grid = table(names, right=names[2:], whole=("STATUS",))
        for stage in account.stages:
            figures = (f"{stage.objective:,.10g}", f"{stage.bound:,.10g}", share(stage.gap))
            grid.add_row(printable(stage.name), stage.status, *figures, seconds(stage.wall_s))
        page.add(grid)
    for stage in account.stages:
        if stage.price:
            told = f"the lower tiers could have at most {stage.price:,.10g} more"
            why = "had other runs of equal weight been chosen in the tiers above"
            page.add(words(f"{stage.name}: {told}, {why}"))
    size = account.model
    by_rule = ", ".join(f"{rule} {rows:,}" for rule, rows in sorted(size.by_rule.items()))
    model = f"{counted(size.variables, 'variable')}, {counted(size.constraints, 'constraint')}"
    page.add(words(f"model: {model}" + (f" ({by_rule})" if by_rule else "")))
    limit = f", {stopped(account.limit_hit)}" if account.limit_hit else ""
    page.add(words(f"{account.version}, seed {account.seed}{limit}, cycle {decision.cycle}"))


def _workers(workers: Sequence[Worker]) -> Iterator[str]:
    """Yield a line for each worker, or one for those of a run that get the same of each host."""
    alike: dict[tuple[int | None, str, str], list[Worker]] = {}
    for worker in workers:
        alone = worker.index if worker.element is not None else None
        alike.setdefault((alone, _of_each(worker), _access(worker)), []).append(worker)
    for (_, of_each, access), those in alike.items():
        if len(those) == 1:
            yield _worker(those[0])
        else:
            yield f"{folded((each.host for each in those), 400)}{of_each}{access}"


def _of_each(worker: Worker) -> str:
    """Return which GPUs a worker gets, the host's name aside."""
    if not worker.devices:
        return ""
    if worker.kind == "offering":
        return f": {counted(len(worker.devices), 'GPU')} of each"
    own = (device.removeprefix(f"{worker.host}/") for device in worker.devices)
    return f": {folded(own)} of each"


def _worker(worker: Worker) -> str:
    element = f"element {worker.element}: " if worker.element is not None else ""
    devices = f": {folded(worker.devices, 400)}" if worker.devices else ""
    if worker.kind == "offering" and worker.devices:  # named after the instance, all of them
        devices = f": {counted(len(worker.devices), 'GPU')}"
    return f"{element}{worker.host}{devices}{_access(worker)}"


def _access(worker: Worker) -> str:
    """Return what a worker gets for its network: "; RDMA on mlx5_[0-7]", or nothing."""
    got, told = worker.access, ""
    is_on_ethernet = "NCCL_IB_DISABLE" in worker.environment
    if got and got.imex_channel is not None:
        told += f"; IMEX channel {got.imex_channel}"
    if got and got.rdma_devices:
        unused = ", which NCCL doesn't use" if is_on_ethernet else ""
        return f"{told}; RDMA on {folded(got.rdma_devices)}{unused}"
    return told + ("; NCCL without RDMA" if is_on_ethernet else "")


def _value(value: Value) -> str:
    """Return what the run's profile chose by, and what the cycle left it."""
    unit = {"usd_per_hour": "USD an hour", "cost_usd": "USD in all", "finish_s": "s until done"}
    within = f", within {share(float(value.band))} of" if value.band else ", as good as"
    return f"{value.chosen:,f} {unit[value.measure]}{within} the {value.reference:,f} it was left"


def _scores(scores: Scores) -> str:
    named = {
        "fit": scores.fit,
        "time": scores.time_to_result,
        "cost": scores.cost_to_complete,
        "recovery": scores.recovery_value,
        "health": scores.health,
    }
    told = ", ".join(f"{name} {value:.2f}" for name, value in named.items())
    return f"points {scores.points:.1f}; {told}"


def _machine(machine: Machine, room: Room, runs: Sequence[str]) -> Sequence[str | Text]:
    gpus = machine.devices
    bad = {
        health: [device.index for device in gpus if device.health == health]
        for health in ("at_risk", "faulted")
    }
    in_use = len(gpus) - len(room.devices)
    return (
        words((machine.name, "bold")),
        words((machine.state, "" if machine.state == "up" else "yellow")),
        str(len(gpus) or ""),
        str(in_use) if gpus else "",
        ranged(bad["at_risk"]),
        ranged(bad["faulted"]),
        f"{room.millicores / 1000:,g}",
        f"{room.memory_bytes / GIB:,.0f}",
        folded(runs, 40),
    )


def _runs_after(decision: Decision, snapshot: Snapshot) -> dict[str, list[str]]:
    runs: dict[str, list[str]] = {}
    for run, worker in holding(snapshot):
        runs.setdefault(worker.host, []).append(run.name)
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            for host in dict.fromkeys(worker.host for worker in outcome.workers):
                runs.setdefault(host, []).append(outcome.run)
    return runs
