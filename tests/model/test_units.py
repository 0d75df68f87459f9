from __future__ import annotations

import pytest

from stowplan.model.units import read_amount, renamed


@pytest.mark.parametrize(
    ("field", "text", "amount"),
    [
        ("memory_bytes", "64GiB", str(64 * 2**30)),
        ("memory_bytes", "64 GB", str(64 * 10**9)),
        ("memory_bytes", "64Gi", str(64 * 2**30)),
        ("memory_bytes", "1.5k", "1500"),
        ("memory_mib", "24 gib", "24576"),
        ("memory_mib", "1 byte", None),
        ("memory_mib", "1b", None),
        ("min_memory_gb", "80GB", "80"),
        ("time_limit_s", "24h", "86400"),
        ("time_limit_s", "1.5 min", "90"),
        ("time_limit_s", "5 GB", None),
        ("power_budget_w", "1.2kW", "1200"),
        ("cpu_cores", "4 GB", None),
        ("memory_bytes", "lots", None),
        ("memory_bytes", "-5GB", None),
    ],
)
def test_an_amount_is_told_in_the_unit_of_its_field(
    field: str, text: str, amount: str | None
) -> None:
    assert read_amount(field, text) == amount


@pytest.mark.parametrize(
    ("name", "meant", "given", "amount"),
    [
        ("memory_gb", "memory_bytes", 64, "64000000000"),
        ("memory_gib", "memory_mib", 24, "24576"),
        ("time_limit_h", "time_limit_s", 0.5, "1800"),
        ("memory_bytes", "memory_bytes", 64, None),
        ("memory", "memory_bytes", 64, None),
        ("memory_gb", "memory_bytes", True, None),
        ("memory_gb", "memory_bytes", "64", None),
        ("memory_gb", "memory_bytes", float("inf"), None),
        ("memory_gb", "memory_bytes", float("nan"), None),
        ("memory_gb", "memory_bytes", 10**400, None),
    ],
)
def test_a_number_under_another_unit_is_converted(
    name: str, meant: str, given: object, amount: str | None
) -> None:
    assert renamed(name, meant, given) == amount
