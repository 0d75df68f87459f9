"""The account of a solve: what each stage came to, how large the model was, what ended it."""

from __future__ import annotations

from stowplan.model.decision import ModelSize, SolverAccount
from stowplan.solver.chain import Chain
from stowplan.solver.program.search import PARAMETERS, VERSION
from stowplan.solver.settings import Settings


def account_of(chain: Chain, settings: Settings) -> SolverAccount:
    """Return the account of a chain of stages."""
    return SolverAccount(
        status="OPTIMAL" if all(each.status == "OPTIMAL" for each in chain.stages) else "FEASIBLE",
        stages=tuple(chain.stages),
        model=ModelSize(
            variables=chain.variables,
            constraints=chain.sizes.total(),
            by_rule={rule: count for rule, count in sorted(chain.sizes.items()) if count},
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
