"""`stowplan estimate`: what one run would cost on every host, before it is asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import click

from stowplan.cli.formats import as_json
from stowplan.cli.talk import Failed, put, shown_working, warn

if TYPE_CHECKING:
    from stowplan.model.decision import Estimate
    from stowplan.model.runs import Profile, Run
    from stowplan.model.snapshot import Snapshot
    from stowplan.solver.gang_pricing import GangRanking
    from stowplan.solver.pricing import Ranking

NOWHERE = 3
"""The exit code where no host takes the run: as `solve --fail-on-waiting` has it."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="[SNAPSHOT] RUN")
@click.option(
    "--snapshot", "path", metavar="PATH", type=click.Path(allow_dash=True),
    help="The snapshot, where it isn't named before the run; `-` reads it from stdin.",
)  # fmt: skip
@click.option("--host", metavar="HOST", help="Estimate it on this host.  [default: the best]")
@click.option(
    "--top", metavar="N", type=click.IntRange(1), default=10, show_default=True,
    help="How many hosts to list.",
)  # fmt: skip
@click.option(
    "--profile", type=click.Choice(["balanced", "cost", "speed"]),
    help="What the run optimises if it doesn't say so itself.  [default: balanced]",
)  # fmt: skip
@click.option(
    "-o", "--output", "form", type=click.Choice(["table", "json"]), default="table",
    show_default=True, help="How to write it.",
)  # fmt: skip
@click.pass_context
def estimate(
    ctx: click.Context,
    names: tuple[str, ...],
    path: str | None,
    host: str | None,
    top: int,
    profile: str | None,
    form: str,
) -> None:
    """Say what RUN would cost on each host, and when it would end.

    As if it were alone: beside what runs already, with all that budgets have left. The estimate
    carries an If-Match token: a run whose placement.if_match holds it is kept from hosts that have
    become much dearer. Exits 3 where no host takes the run.

    \b
    Example:
      stowplan estimate by-cost --snapshot scenarios/profiles.yaml
      stowplan estimate scenarios/profiles.yaml by-cost --host fastest -o json
    """
    from stowplan.adapters.snapshot_file import load
    from stowplan.model.reasons import Reason
    from stowplan.solver.pricing import Market
    from stowplan.solver.settings import Settings

    *before, run = names
    given = [*before, *([] if path is None else [path])]
    if len(given) != 1:
        usage = "one RUN and one snapshot are needed: RUN --snapshot PATH, or SNAPSHOT RUN"
        raise click.UsageError(usage, ctx)
    (snapshot,) = given
    with shown_working("estimating") as say:
        if snapshot != "-":  # it may be typed
            say("reading")
        asked = load(snapshot)
        asked, wanted = _anew(asked, _run(asked, run))
        say("pricing")
        settings = Settings.of(asked, profile=cast("Profile | None", profile))  # one of the choices
        ranking = Market(asked, settings).ranked(wanted)
        if isinstance(ranking, Reason):
            if form == "json":
                put(_json(run, None, None, None))
            raise Failed([f"error: {run}: {ranking.code}: {ranking.message}"], code=NOWHERE)
        chosen = _host(ranking, host)
        told = ranking.estimate(chosen) if chosen else None
        token = _token(ranking, chosen, told) if chosen and told else None
        if form == "json":
            text, warnings = _json(run, chosen, told, token), [] if told else _reasons(ranking)
        else:
            text, warnings = _page(ranking, top, chosen, told, token), []
    put(text)
    warn(warnings)
    if told is None:
        ctx.exit(NOWHERE)


def _run(snapshot: Snapshot, name: str) -> Run:
    """Return the run of this name. Raises Failed with the nearest name where there is none."""
    runs = {each.name: each for each in snapshot.runs}
    if name not in runs:
        raise Failed([_unknown("run", name, list(runs))], code=2)
    return runs[name]


def _anew(snapshot: Snapshot, run: Run) -> tuple[Snapshot, Run]:
    """Return the snapshot and the run as if it weren't placed yet; an array goes on as it does.

    Else it would be kept off its own host by itself.
    """
    if run.placed is None or run.array:
        return snapshot, run
    waiting = {"state": "pending", "placed": None, "started_at": None}
    anew = run.model_copy(update=waiting)
    runs = tuple(anew if each is run else each for each in snapshot.runs)
    return snapshot.model_copy(update={"runs": runs}), anew


def _unknown(what: str, name: str, known: list[str]) -> str:
    from stowplan.cli.render.text import printable
    from stowplan.model.names import nearest

    close = nearest(name, known)
    hint = f"; did you mean '{close}'?" if close else ""
    return printable(f"error: the snapshot has no {what} '{name}'{hint}")


def _host(ranking: Ranking | GangRanking, asked: str | None) -> str | None:
    """Return the host to estimate on: the one asked for, else the best; None: none takes the run.

    Raises Failed where there is no such host, or it wouldn't take the run.
    """
    from stowplan.model.instances import offering_named

    if asked is None:
        best = ranking.best(1)
        return best[0].name if best else None
    named = ranking.market.named
    if asked not in named:
        offering = offering_named(asked) if offering_named(asked) in named else asked
        asked = next((host.name for host in named.values() if asked in host.instances), offering)
    if ranking.is_of_sets and asked in ranking.named:
        return ranking.named[asked].name
    if asked not in named:
        raise Failed([_unknown("host", asked, list(named))], code=2)
    reasons = ranking.reasons(asked)
    if ranking.is_of_sets and not reasons:
        text = f"error: {asked} has no room for all workers of {ranking.run.name}"
        raise Failed([text, "hint: leave --host out to see sets of hosts"], code=NOWHERE)
    if reasons:
        lines = [f"  {reason.code}: {reason.message}" for reason in reasons]
        raise Failed([f"error: {asked} wouldn't take {ranking.run.name}:", *lines], code=NOWHERE)
    return asked


def _token(ranking: Ranking | GangRanking, host: str, told: Estimate) -> str:
    from stowplan.model.estimating.token import token_of
    from stowplan.model.money import micro_of

    rate = micro_of(told.rate_usd_per_hour)
    return token_of(ranking.run, host, rate, told.valid_until)


def _json(run: str, host: str | None, told: Estimate | None, token: str | None) -> str:
    """Return what `-o json` writes; nulls where no host takes the run."""
    estimate = told.model_dump(mode="json") if told else None
    record = {"run": run, "host": host, "estimate": estimate, "if_match": token}
    return as_json(json.dumps(record, indent=1))


def _reasons(ranking: Ranking | GangRanking) -> list[str]:
    from stowplan.cli.render.estimate import by_code
    from stowplan.cli.render.text import counted

    return [
        f"{counted(sum(len(row.hosts) for row in alike), 'host')}, e.g. {alike[0].hosts[0]}: "
        f"{code}: {alike[0].reasons[0].message}"
        for code, alike in by_code(ranking.out)
    ]


def _page(
    ranking: Ranking | GangRanking,
    top: int,
    chosen: str | None,
    told: Estimate | None,
    token: str | None,
) -> str:
    from stowplan.cli.render.estimate import add_estimate, add_out, add_ranking
    from stowplan.cli.render.page import Page

    page = Page()
    add_ranking(page, ranking, top)
    if chosen and told and token:
        add_estimate(page, chosen, told, token)
    add_out(page, ranking.out)
    return page.text()
