"""Reads generated reports, for the tests of the reader."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from stowplan.adapters.findings import Imported
from stowplan.adapters.nvidia_smi import read_nvidia_smi
from stowplan.model.fleet import Device
from tests.adapters.smi_xml import Card, Dtd, random_card, write

DTDS: tuple[Dtd, ...] = (11, 12, 13)
dtds = st.sampled_from(DTDS)
cards = st.integers(0, 2**32).map(lambda seed: random_card(Random(seed)))
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder: Path, *gpus: Card, dtd: Dtd = 13) -> Imported:
    return read_nvidia_smi([write(folder, "gpu-01", gpus, dtd)])


def only(folder: Path, card: Card, dtd: Dtd = 13) -> Device:
    (machine,) = read(folder, card, dtd=dtd).machines
    (device,) = machine.devices
    return device


def read_text(folder: Path, text: str | bytes, name: str = "gpu-01.xml") -> Imported:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_nvidia_smi([path])


def found(imported: Imported, path: str) -> list[str]:
    return [finding.message for finding in imported.findings if finding.path == path]
