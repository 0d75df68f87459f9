"""The file of an `nvidia-smi -q -x` report: found, named, limited, parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.adapters.findings import Finding
from stowplan.adapters.nvidia_smi_gpu import Gpu
from stowplan.adapters.text_files import read_stdin_bytes
from stowplan.adapters.xml_tree import Element, parse
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.ranges import expand

LARGEST_BYTES = 64 * 2**20
"""The largest report that is read; one of 8 GPUs takes about 0.2 MiB."""
MOST_GPUS = 1024

_UNUSED = frozenset({"supported_clocks"})
"""Half of a report or more, and of no use here."""
_HINT = "nvidia-smi -q -x > HOST.xml"


@dataclass(frozen=True)
class Report:
    """One host's report: `name` is the host, `log` the root element."""

    file: str
    name: str
    log: Element
    gpus: tuple[Gpu, ...]

    def finding(self, tag: str, message: str) -> Finding:
        """Return a finding about one tag of the report, or about all of it."""
        line = (self.log.find(tag) or self.log).line if tag else None
        return Finding(self.file, line, tag, message)


def reports(paths: Sequence[Path]) -> list[Report]:
    """Return the reports in files; raises InvalidInput with every file that isn't a good one."""
    read: list[Report] = []
    problems: list[Problem] = []
    if not paths:
        problems.append(Problem((), "no report given", _HINT))
    files: dict[str, Path] = {}
    for path in paths:
        try:
            name = _host(path)
            if name in files:
                message = f"is the report of '{name}', and so is {files[name]}"
                hint = "a host's name is its file's, without the ending: one report a host"
                raise InvalidInput([Problem((), message, hint, file=str(path))])
            files[name] = path
            read.append(_report(path, name))
        except InvalidInput as invalid:
            problems.extend(invalid.problems)
    if problems:
        raise InvalidInput(problems)
    return read


def _host(path: Path) -> str:
    name = "stdin" if str(path) == "-" else path.stem
    plain = name.isprintable() and 0 < len(name) <= 253
    try:
        plain = plain and expand(name) == (name,)
    except ValueError:
        plain = False
    if not plain:
        hint = "a host is named after its file: rename it, as in gpu-01.xml"
        raise InvalidInput([Problem((), f"{name!r} can't be a host's name", hint, file=str(path))])
    return name


def _report(path: Path, name: str) -> Report:
    file = str(path)
    content = _content(path)
    text = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text:
        raise _wrong(file, "is empty", _HINT)
    if not text.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        begins = text[:60].decode("ascii", "replace").splitlines()[0]
        begins = "".join(letter if letter.isprintable() else "?" for letter in begins)
        raise _wrong(file, f"isn't XML: it begins '{begins}'", _HINT)
    log = parse(content, root="nvidia_smi_log", file=file, drop=_UNUSED)
    if len(log.all("gpu")) > MOST_GPUS:
        raise _wrong(file, f"has {len(log.all('gpu'))} GPUs; at most {MOST_GPUS:,} are read")
    gpus = tuple(Gpu(file, index, element) for index, element in enumerate(log.all("gpu")))
    return Report(file, name, log, gpus)


def _content(path: Path) -> bytes:
    try:
        if str(path) == "-":
            content = read_stdin_bytes(LARGEST_BYTES + 1)
        else:
            with path.open("rb") as opened:
                content = opened.read(LARGEST_BYTES + 1)
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise _wrong(str(path), f"can't be read: {told}") from None
    if len(content) > LARGEST_BYTES:
        raise _wrong(str(path), f"is larger than {LARGEST_BYTES >> 20} MiB")
    return content


def _wrong(file: str, message: str, hint: str | None = None) -> InvalidInput:
    return InvalidInput([Problem((), message, hint, file=file)])
