"""Problems with their file, line and field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FolderPath
from typing import Any, Literal

from stowplan.adapters.json_text import json_place
from stowplan.adapters.places import Place
from stowplan.adapters.tables import Table
from stowplan.adapters.yaml_text import yaml_place
from stowplan.model.errors import Again, Item, Path, Problem


@dataclass
class Document:
    """A file that was read, with the tables that it names."""

    file: str
    folder: FolderPath
    """What the paths of its tables are relative to."""
    text: str
    form: Literal["yaml", "json"]
    value: Any  # raw input
    tables: dict[Path, Table] = field(default_factory=dict)
    """By the path in this document of the list that each gives."""

    @cached_property
    def place(self) -> Place:
        """Where the whole document stands, and all that is in it."""
        make = json_place if self.form == "json" else yaml_place
        return make(self.text, self.file)


@dataclass(frozen=True)
class _Spot:
    """A place in one of the documents that a path leads to."""

    document: Document
    path: Path
    place: Place

    def below(self, part: str | int, place: Place) -> _Spot:
        path = (*self.path, part)
        table = self.document.tables.get(path)
        return _Spot(self.document, path, table.place() if table else place)


class Locator:
    """Finds the place of a problem in documents that are read as one."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._roots = tuple(_Spot(document, (), document.place) for document in documents)
        self._seen: dict[Path, tuple[Sequence[_Spot], str]] = {(): (self._roots, "")}

    def located(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return problems with their file, line and field, in the order of the files.

        One that has its place stays as it is. What is wrong with a range of names is told once.
        """
        told: dict[object, Problem] = {}
        for problem in problems:
            if problem.file is not None:
                told[problem] = problem
                continue
            spots, name, found = self._walk(problem.path)
            place, hint = spots[0].place, problem.hint
            if found and len(spots) > 1 and isinstance(problem.path[-1], Again):
                place, hint = spots[1].place, f"{hint}; the first is in {place}"
            if place.note:
                name = f"{name} ({place.note})"
                hint = "make it a column of text" if hint == "write it in quotes" else hint
            key = (id(place), problem.message, hint)
            told.setdefault(key, replace(problem, hint=hint).at(place.file, place.line, name))
        return _in_order(told.values())

    def all(self, path: Path) -> Sequence[Place]:
        """Return every place that a path leads to: one in each document that has it."""
        spots, _, found = self._walk(path)
        return [spot.place for spot in spots] if found else []

    def _walk(self, path: Path) -> tuple[Sequence[_Spot], str, bool]:
        """Return where a path leads as far as it can be followed, and how it is shown."""
        if path in self._seen:
            return *self._seen[path], True
        spots, name, found = self._walk(path[:-1])
        part = path[-1]
        below = (
            _below(spots[:1] if len(path) > 1 and isinstance(path[-2], Item) else spots, part)
            if found
            else ()
        )
        if isinstance(part, Item):
            name = f"{name}[{part}]"
        elif isinstance(part, int):
            name = f"{name}[{(below[0].place.name if below else None) or part}]"
        else:
            name = f"{name}.{part}" if name else part
        if not below:
            return spots, name, False
        self._seen[path] = below, name
        return below, name, True


def _below(spots: Sequence[_Spot], part: str | int) -> Sequence[_Spot]:
    """Return what stands under a part of a path; lists of several documents are joined."""
    if isinstance(part, Item):
        return [
            spot.below(index, item)
            for spot in spots
            for index, item in spot.place.items_by_name.get(part, ())
        ]
    if isinstance(part, str):
        return [
            spot.below(part, spot.place.inside.fields[part])
            for spot in spots
            if part in spot.place.inside.fields
        ]
    for spot in spots:
        items = spot.place.inside.items
        if part < len(items):
            return [spot.below(part, items[part])]
        part -= len(items)
    return ()


def _in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems file by file, each in the order of its lines."""
    told = list(problems)
    files = {file: order for order, file in enumerate(dict.fromkeys(p.file for p in told))}
    return sorted(told, key=lambda problem: (files[problem.file], problem.line or 0))
