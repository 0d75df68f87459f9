"""Each folder imports what it may, and a command that only talks starts without heavy libraries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY = {
    "model": {"model"},
    "solver": {"model", "solver"},
    "adapters": {"model", "adapters"},
    "cli": {"model", "solver", "adapters", "cli"},
}
ONLY_IN = {"ortools": {"solver"}, "click": {"cli"}, "rich": {"cli"}}
HEAVY = ("pandas", "pyarrow", "ortools", "pydantic", "rich", "yaml", "numpy")

FILES = sorted(path for layer in MAY for path in (ROOT / layer).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every module that a file imports, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import"
            assert node.module
            if node.module == "stowplan":
                yield from ((node.lineno, f"stowplan.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_folder_may(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    for line, module in imports(path):
        top, *rest = module.split(".")
        if top == "stowplan" and rest[0] != "__version__":
            assert rest[0] in MAY[layer], f"{path}:{line}: {layer} imports {module}"
        assert top not in MAY, f"{path}:{line}: import stowplan.{module}"
        if top in ONLY_IN:
            assert layer in ONLY_IN[top], f"{path}:{line}: {layer} imports {module}"


@pytest.mark.parametrize(
    "work",
    [
        "import stowplan",
        "import stowplan; stowplan.__version__",
        "from stowplan.cli.main import cli; cli(['--help'])",
        "from stowplan.cli.main import cli; cli(['--version'])",
        "from stowplan.cli.main import cli; cli(['solve', '--help'])",
        "from stowplan.cli.main import cli; cli(['completion', 'bash'])",
    ],
)
def test_what_needs_no_heavy_library_loads_none(work: str) -> None:
    script = (
        "import sys\n"
        f"try:\n    {work}\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_every_public_name_can_be_imported() -> None:
    import stowplan

    for name in stowplan.__all__:
        assert getattr(stowplan, name) is not None
    assert set(stowplan.__all__) <= set(dir(stowplan))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        stowplan.nothing  # noqa: B018
