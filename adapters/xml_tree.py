"""Reads XML that strangers wrote: within limits, without entities, each element with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from stowplan.model.errors import InvalidInput, Problem

MOST_ELEMENTS = 1_000_000
DEEPEST = 100
LONGEST_TEXT = 4_096
"""Of an element's text no more than this is kept, give or take one piece."""


@dataclass(slots=True)
class Element:
    """One element: its own text, what is inside, and the line where it begins."""

    tag: str
    line: int
    text: str = ""
    inside: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of this tag directly inside."""
        return [element for element in self.inside if element.tag == tag]

    def find(self, path: str) -> Element | None:
        """Return the first element at a path such as `pci/replay_counter`, or None."""
        here: Element | None = self
        for tag in path.split("/"):
            here = next(iter(here.all(tag)), None) if here else None
        return here

    def read(self, path: str) -> str:
        """Return the text at a path, without white space around it; empty where it isn't."""
        found = self.find(path)
        return found.text.strip() if found else ""

    def walk(self, without: frozenset[str] = frozenset()) -> Iterator[Element]:
        """Yield this element and all below it, but none of these tags nor what is in them."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if element.tag not in without:
                yield element
                waiting.extend(reversed(element.inside))


def parse(content: bytes, *, root: str, file: str, drop: frozenset[str] = frozenset()) -> Element:
    """Return the root element of an XML document; elements tagged as in `drop` are left out.

    The document type is not fetched. Raises InvalidInput with file and line where the content
    isn't XML, its root is another, an entity is declared or used, or a limit is passed.
    """
    return _Builder(root, file, drop).build(content)


class _Builder:
    def __init__(self, root: str, file: str, drop: frozenset[str]) -> None:
        self.root, self.file, self.drop = root, file, drop
        self.open: list[Element] = []
        self.whole: Element | None = None
        self.dropped = 0
        """How many of the innermost open elements lie in one that is left out."""
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity

    def build(self, content: bytes) -> Element:
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            told = expat.ErrorString(error.code) or "not XML"
            raise self._wrong(f"isn't well-formed XML: {told}", _HINTS.get(error.code)) from None
        except (LookupError, ValueError) as error:  # an encoding that expat can't read
            if isinstance(error, InvalidInput):
                raise
            raise self._wrong(f"can't be decoded: {error}", "save it as UTF-8") from None
        assert self.whole is not None
        return self.whole

    def _start(self, tag: str, _attributes: dict[str, str]) -> None:
        if self.whole is None and tag != self.root:
            raise self._wrong(f"is <{tag[:40]}>, not <{self.root}>")
        if len(self.open) + self.dropped >= DEEPEST:
            raise self._wrong(f"is nested more than {DEEPEST} elements deep")
        if self.dropped or tag in self.drop:
            self.dropped += 1
            return
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise self._wrong(f"has more than {MOST_ELEMENTS:,} elements")
        element = Element(tag, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].inside.append(element)
        else:
            self.whole = element
        self.open.append(element)

    def _end(self, _tag: str) -> None:
        if self.dropped:
            self.dropped -= 1
        else:
            self.open.pop()

    def _text(self, text: str) -> None:
        if self.open and not self.dropped and len(self.open[-1].text) < LONGEST_TEXT:
            self.open[-1].text += text

    def _entity(self, name: str, *_declaration: object) -> None:
        raise self._wrong(f"the entity '{name[:40]}' isn't allowed", "nvidia-smi writes none")

    def _wrong(self, message: str, hint: str | None = None) -> InvalidInput:
        line = self.parser.CurrentLineNumber
        return InvalidInput([Problem((), message, hint, file=self.file, line=line)])


_HINTS = {
    expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]: "it ends too early: write it again",
    expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]: (
        "one report a file; a loop (-l) writes several"
    ),
    expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]: (
        "the XML declaration is the first thing in the file"
    ),
}
