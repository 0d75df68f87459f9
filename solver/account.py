"""The account of a solve: what each stage came to, how large the model was, what ended it."""

from __future__ import annotations

from collections import Counter

from stowplan.model.decision import ModelSize, SolverAccount
from stowplan.solver.chain import Chain
from stowplan.solver.search import PARAMETERS, VERSION
from stowplan.solver.settings import Settings


def account_of(chain: Chain, settings: Settings) -> SolverAccount:
    """Return the account of a chain of stages."""
    program = chain.choices.program
    by_rule = Counter(program.rules)
    by_rule["points"] += len(program.products)
    return SolverAccount(
        status="OPTIMAL" if all(each.status == "OPTIMAL" for each in chain.stages) else "FEASIBLE",
        stages=tuple(chain.stages),
        model=ModelSize(
            variables=len(program.upper),
            constraints=len(program.rows) + len(program.products),
            by_rule={rule: count for rule, count in sorted(by_rule.items()) if count},
        ),
        seed=settings.seed,
        version=VERSION,
        limit_hit=chain.cut if any(each.status == "FEASIBLE" for each in chain.stages) else None,
        parameters={
            **PARAMETERS,
            "num_workers": settings.workers,
            "random_seed": settings.seed,
            "time_limit_s": settings.time_limit_s,
            "gap": settings.gap,
        },
        log="\n".join(chain.logs),
    )
