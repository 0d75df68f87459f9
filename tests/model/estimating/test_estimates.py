"""The columns say what the scalar says, host by host, to the unit."""

from collections.abc import Mapping
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.columns import column, product
from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.estimates import Outlooks, outlooks, startups, tariffs_of
from stowplan.model.estimating.outlook import outlook, risked
from stowplan.model.estimating.parts import first_start, needs_of
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.fleet import Starts
from stowplan.model.runs import Run
from tests.hosts import asked, offering, runs, spans, tariffs, work
from tests.strategies import examples

families = st.sampled_from(("hopper", "ada", None))
times = st.none() | spans()


def assert_alike(
    seen: Outlooks,
    run: Run,
    hosts: list[tuple[Tariff, str | None]],
    running: Mapping[str | None, Likely | None],
) -> None:
    for index, (tariff, family) in enumerate(hosts):
        alone = outlook(run, tariff, running[family])
        assert bool(seen.is_total[index]) == alone.is_total
        assert tuple(seen.cost[:, index].tolist()) == alone.cost
        assert tuple(seen.finish_s[:, index].tolist()) == alone.finish_s
        assert (seen.rate[index], seen.ranked_rate[index]) == (alone.rate, alone.ranked_rate)
        assert seen.risked[index] == risked(alone.cost.p50, tariff.starts)


@examples(100)
@given(
    runs(),
    st.lists(st.tuples(tariffs(), families), min_size=1, max_size=8),
    st.fixed_dictionaries({"hopper": times, "ada": times, None: times}),
)
def test_many_hosts_at_once_are_as_one_by_one(
    run: Run,
    hosts: list[tuple[Tariff, str | None]],
    running: Mapping[str | None, Likely | None],
) -> None:
    table = tariffs_of(*zip(*hosts, strict=True))
    assert_alike(outlooks(run, table, running), run, hosts, running)


@examples(100)
@given(runs(), st.lists(tariffs(), min_size=1, max_size=8))
def test_starts_of_many_hosts_are_as_one_by_one(run: Run, hosts: list[Tariff]) -> None:
    table = tariffs_of(hosts, [None] * len(hosts))
    alone = [
        [first_start(needs_of(run), host, level).seconds for host in hosts] for level in (0, 1)
    ]
    assert startups(run, table).tolist() == alone


def test_figures_beyond_64_bits_are_exact() -> None:
    # A billion dollars an hour for three centuries, taken back a thousand times an hour.
    host = offering(
        rate_usd_per_hour=Decimal("999999999.999999"),
        interruptible=True,
        reclaims={"per_hour": 1000},
        starts=Starts(attempts=40, failures=2).model_dump(),
    )
    hosts: list[tuple[Tariff, str | None]] = [(asked(host), None)]
    running: dict[str | None, Likely | None] = {None: Likely(10**10, 10**10)}
    run = work(checkpoint=None)
    seen = outlooks(run, tariffs_of(*zip(*hosts, strict=True)), running)
    assert seen.cost[0, 0] > 2**63
    assert_alike(seen, run, hosts, running)


def test_no_host_has_no_outlook() -> None:
    seen = outlooks(work(), tariffs_of([], []), {})
    assert seen.cost.shape == (2, 0)


@examples(100)
@given(st.integers(0, 2**62), st.integers(0, 2**62))
def test_a_product_is_exact(one: int, other: int) -> None:
    assert product(column([one]), column([other])).tolist() == [one * other]
