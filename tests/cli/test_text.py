import pytest

from stowplan.cli.render.text import broken, folded, printable, ranged, seconds, share


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], ""),
        (["gpu-01"], "gpu-01"),
        (["gpu-01", "gpu-02", "gpu-03", "gpu-04"], "gpu-[01-04]"),
        (["gpu-01", "gpu-03", "gpu-04"], "gpu-[01,03-04]"),
        (["gpu-9", "gpu-10", "gpu-11"], "gpu-[9,10-11]"),
        (["login", "gpu-2", "gpu-1"], "login, gpu-[1-2]"),
        (["a-1", "a-1"], "a-1"),
        (["rack-1-node", "rack-2-node"], "rack-[1-2]-node"),
        (["x١", "x²"], "x١, x²"),
    ],
)
def test_names_that_differ_by_a_number_are_folded(names: list[str], said: str) -> None:
    assert folded(names) == said


def test_names_that_find_no_room_are_counted() -> None:
    names = [f"n{number * 7919 % 100_003}" for number in range(3000)]
    text = folded(names, 40)
    assert len(text) <= 40
    shown, more = text.split("], +")
    assert len(shown.split("[")[1].split(",")) + int(more.split()[0].replace(",", "")) == 3000


def test_one_name_is_written_however_long_it_is() -> None:
    assert folded(["a" * 200, "b"], 20) == "a" * 200 + ", +1 more"


def test_the_order_of_first_sight_is_kept_and_numbers_are_sorted() -> None:
    assert folded(["z-3", "a-2", "z-1", "a-1"]) == "z-[1,3], a-[1-2]"


def test_numbers_are_folded() -> None:
    assert ranged([6, 0, 1, 2, 3, 2]) == "0-3,6"
    assert ranged(range(12)) == "0-11"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("one\ntwo\ttab\r", "one\\ntwo\\ttab\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edcb", "abc\\u202edcb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("[red]plain[/red]", "[red]plain[/red]"),
        ("réseau-日本-шкаф", "réseau-日本-шкаф"),
    ],
)
def test_nothing_a_terminal_would_act_on_is_left(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_figures_have_two_telling_digits() -> None:
    assert [share(value) for value in (0, 0.0008, 0.03, 0.5, 1e-9)] == [
        "0 %", "0.08 %", "3 %", "50 %", "under 0.001 %",
    ]  # fmt: skip
    assert [seconds(value) for value in (0.004, 0.25, 3.21, 1234)] == [
        "0.00 s", "0.25 s", "3.2 s", "1,234 s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "room", "said"),
    [
        ("gpu-01", 3, "gpu-\n01"),
        ("gpu01", 3, "gpu01"),
        ("aws/east/a/p4d/8xA100", 12, "aws/east/a/\np4d/8xA100"),
        ("aws/east/p4d#1, +3 more", 15, "aws/east/p4d#1,\n+3 more"),
        ("a/long-name_of.one/b", 8, "a/long-\nname_of.\none/b"),
        ("", 8, ""),
    ],
)
def test_long_names_are_cut_after_slashes(names: str, room: int, said: str) -> None:
    assert broken(names, room) == said
