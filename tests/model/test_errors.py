from __future__ import annotations

from stowplan.model.errors import SHOWN, Again, InvalidInput, Item, Problem, dotted


def test_a_path_is_written_with_names_and_indices_in_brackets() -> None:
    path = ("fleet", "machines", Item("gpu-02"), "devices", 1, "memory_mib")
    assert dotted(path) == "fleet.machines[gpu-02].devices[1].memory_mib"
    assert dotted(("runs", Again("a"))) == "runs[a]"
    assert dotted(()) == ""


def test_a_problem_says_file_line_field_message_and_hint() -> None:
    problem = Problem(("runs", 3, "gpus"), "is wrong", "at least 1")
    assert str(problem) == "runs[3].gpus: is wrong; at least 1"
    placed = problem.at("a.yaml", 7, "runs[train].gpus")
    assert str(placed) == "a.yaml:7: runs[train].gpus: is wrong; at least 1"
    assert placed.path == problem.path
    assert str(Problem((), "is empty", file="a.yaml")) == "a.yaml: is empty"
    assert str(Problem((), "is empty")) == "is empty"


def test_a_problem_is_one_line_that_a_terminal_does_not_act_on() -> None:
    problem = Problem(("\x1b[31m",), "has a\nbreak and \ud800")
    assert str(problem) == "\\x1b[31m: has a\\nbreak and \\ud800"


def test_an_error_lists_its_first_problems_and_counts_the_rest() -> None:
    problems = [Problem((index,), "is wrong") for index in range(SHOWN + 1500)]
    lines = str(InvalidInput(problems)).splitlines()
    assert len(lines) == SHOWN + 1
    assert lines[-1] == "... and 1,500 more"
    assert len(InvalidInput(problems).problems) == SHOWN + 1500
