"""What can be done, how sure the answer is, and how much came of the cycle, in words."""

from __future__ import annotations

from collections.abc import Mapping

from stowplan.cli.render.text import counted, printable, seconds, share
from stowplan.model.decision import Decision, PlacedRun, SolverAccount, Stage
from stowplan.model.holds import holding
from stowplan.model.reasons import Action, Code, Reason
from stowplan.model.snapshot import Snapshot

ACTIONS: Mapping[Action, str] = {
    Action.NONE: "",
    Action.WAIT: "wait: it clears by itself",
    Action.RUN: "run it again",
    Action.WAIT_OR_STOP_WORKLOAD: "wait, or stop a run that holds the room",
    Action.INSTALL_MODEL: "install the model there",
    Action.REINSTALL_MODEL: "install the model again",
    Action.VERIFY_MODEL: "verify the model",
    Action.REDUCE_CONTEXT: "ask for a smaller context",
    Action.CHOOSE_SMALLER_MODEL: "choose a smaller model",
    Action.RUN_DOCTOR: "find out why no GPU is reported",
    Action.FIX_INPUT: "change what the run asks for",
    Action.CHECK_NODE: "look at the machine",
    Action.UNDRAIN_MACHINE: "undrain the machine",
    Action.UPDATE_RUNTIME: "update the runtime there",
    Action.REVIEW_ENTITLEMENT: "review what the plan includes",
    Action.REVIEW_QUOTA: "wait for the workspace's other runs, or review its quota",
    Action.REVIEW_POLICY: "review the policy that keeps it out",
    Action.RELAX_RULE: "relax the rule",
    Action.LABEL_MACHINES: "label the machines",
    Action.RAISE_BUDGET: "raise the budget",
    Action.EXTEND_DEADLINE: "extend the deadline",
    Action.ADD_CAPACITY: "add capacity",
    Action.CONTACT_SUPPORT: "report it to us",
}
"""What to do, for each action there is."""

LIMITS: Mapping[str, str] = {
    "wall_time": "the time limit",
    "deterministic_time": "its share of the time limit (counted in work)",
    "interrupted": "Ctrl-C",
}
"""What ended a search before its proof."""


def advice(reason: Reason) -> str:
    """Return what to do about a reason: of its action, or closer where its code or numbers tell."""
    need, quota = reason.numbers.get("need"), reason.numbers.get("quota")
    match reason.code, reason.action:
        case Code.QUOTA_EXCEEDED, Action.REVIEW_QUOTA if (
            isinstance(need, int) and isinstance(quota, int) and need > quota
        ):
            return "review its quota: it is smaller than the run"
        case Code.SOLVER_LIMIT, Action.WAIT:
            return "raise --time-limit, or wait"
        case Code.EXCEEDS_MAX_RATE, Action.RAISE_BUDGET:
            return "raise its max_rate_usd_per_hour"
        case Code.PRICE_ABOVE_ESTIMATE, Action.RAISE_BUDGET:
            return "wait until it is cheaper, or estimate it again"
        case Code.SITE_SPAN, Action.RELAX_RULE if reason.numbers.get("rule"):
            return "choose machines of one site, or ask for less"
        case Code.SITE_SPAN, Action.RELAX_RULE if reason.numbers.get("empty"):
            return "ask for less, or add machines to one site"
        case Code.SITE_SPAN, Action.RELAX_RULE:
            return "wait for room in one site, or ask for less"
        case Code.GANG_INFEASIBLE, Action.RELAX_RULE if reason.numbers.get("rule"):
            return f"relax {_rule(reason)}"
        case Code.TOPOLOGY_NO_ROOM, Action.RELAX_RULE:
            return _relax(reason)
        case Code.TOPOLOGY_UNLABELLED, Action.LABEL_MACHINES if (
            reason.numbers.get("unit") == "nvlink_domain"
        ):
            return f"let all GPUs of a machine report one nvlink_clique, or relax {_rule(reason)}"
        case Code.TOPOLOGY_UNLABELLED, Action.RELAX_RULE:
            return f"relax {_rule(reason)}: of offerings it is never known"
        case Code.NO_RDMA, Action.RELAX_RULE:
            return "look at the ports, or ask for another network"
        case Code.RDMA_TOO_SLOW, Action.RELAX_RULE:
            return "lower its min_gbps"
        case Code.PATIENCE, Action.WAIT:
            return "wait, or lower its patience_s"
        case Code.SPREAD_CONFLICT, Action.RELAX_RULE:
            return "ask for fewer workers, or add machines"
        case _, Action.ADD_CAPACITY if reason.numbers.get("like"):
            return f"ask for less, or add {_more(reason)}"
        case _, Action.ADD_CAPACITY if reason.code.startswith("INSUFFICIENT_"):
            return "ask for less, or add a larger machine"
        case _:
            return ACTIONS[reason.action]


def _more(reason: Reason) -> str:
    """Return how many machines would be enough, and like which."""
    more, like = reason.numbers.get("more"), reason.numbers.get("like")
    machines = counted(more, "machine") if isinstance(more, int) else "machines"
    return f"{machines} like {printable(like) if isinstance(like, str) else 'those'}"


def _rule(reason: Reason) -> str:
    rule = reason.numbers.get("rule")
    return printable(rule) if isinstance(rule, str) else "the rule"


def _relax(reason: Reason) -> str:
    """Return what to do where no group has room: wait, if it could have, or relax its rules."""
    rules = reason.numbers.get("rules")
    named = " or ".join(printable(rule) for rule in rules) if isinstance(rules, tuple) else ""
    waits = "wait, or " if reason.numbers.get("empty") is False else ""
    return f"{waits}relax {named or 'the rule'}"


def stopped(limit: str) -> str:
    """Return what ended the search, of a limit's name."""
    return f"stopped by {_limit(limit)}"


def _limit(limit: str) -> str:
    return LIMITS.get(limit, printable(limit))


def fleet(snapshot: Snapshot) -> str:
    """Return how large the fleet is: "8 machines, 34 GPUs", and what else could be bought."""
    machines = snapshot.fleet.machines
    gpus = sum(len(machine.devices) for machine in machines)
    told = f"{counted(len(machines), 'machine')}, {counted(gpus, 'GPU')}"
    offerings = len(snapshot.fleet.offerings)
    if offerings and not machines:
        return counted(offerings, "offering")
    return f"{told}, {counted(offerings, 'offering')}" if offerings else told


def outcomes(decision: Decision) -> str:
    """Return how many runs came out how, leaving out what there is none of."""
    summary = decision.summary
    counts = {
        "placed": summary.placed,
        "kept": summary.kept,
        "held": summary.held,
        "waiting": summary.waiting,
        "refused": summary.refused,
        "withdrawn": summary.withdrawn,
    }
    told = [f"{count:,} {name}" for name, count in counts.items() if count]
    return ", ".join(told) or "no runs"


def gpus_in_use(decision: Decision, snapshot: Snapshot) -> str:
    """Return how many GPUs this cycle gives out, and how many of all are then in use."""
    known = {
        (machine.name, device.id)
        for machine in snapshot.fleet.machines
        for device in machine.devices
    }
    taken = {(w.host, device) for _, w in holding(snapshot) for device in w.devices}
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            taken |= {(w.host, device) for w in outcome.workers for device in w.devices}
    if not known and snapshot.fleet.offerings:
        return f"{counted(decision.summary.gpus_placed, 'GPU')} placed"
    use = f"{len(taken & known):,} of {len(known):,} in use"
    return f"{counted(decision.summary.gpus_placed, 'GPU')} placed, {use}"


def proof(account: SolverAccount, took_s: float | None = None) -> str:
    """Return how good the decision is known to be, and what it took to know it.

    This is about what is placed, the first stage; `wide` shows the finer stages.
    `took_s` is the time of the whole cycle; without it, that of the search alone is said.
    """
    if not account.stages:
        return "nothing to decide"
    searched = sum(stage.wall_s for stage in account.stages)
    time = seconds(searched if took_s is None else took_s)
    return _proof(account.stages[0], account.limit_hit, time)


def _proof(place: Stage, limit: str | None, time: str) -> str:
    if place.status == "OPTIMAL":
        if place.gap <= 0:
            return f"proven optimal in {time}"
        return f"proven within {share(place.gap)} of the best possible in {time}"
    told = f"stopped after {time} by {_limit(limit)}" if limit else f"not proven in {time}"
    return f"{told}, at most {share(place.gap)} from the best possible"
