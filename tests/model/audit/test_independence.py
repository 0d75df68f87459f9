from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import stowplan.model.audit
from stowplan.model.audit import CHECKS

FOLDER = Path(stowplan.model.audit.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))
FORBIDDEN = (
    "stowplan.solver",
    "stowplan.model.room",
    "stowplan.model.shape",
    "stowplan.model.topology",
    "stowplan.model.workers",
    "ortools",
)
HERE = Path(__file__).parent


def _imported(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_check_shares_no_code_with_what_it_checks(module: Path) -> None:
    shared = [name for name in _imported(module) if name.startswith(FORBIDDEN)]
    assert shared == []


def test_every_module_with_a_check_is_in_the_list_and_has_its_tests() -> None:
    checked = {module.stem for module in MODULES if "\ndef check(" in module.read_text()}
    assert {check.__module__.rpartition(".")[2] for check in CHECKS} == checked
    tested = {path.stem.removeprefix("test_") for path in HERE.glob("test_*.py")}
    assert checked <= tested
