"""What the models of GPUs are: the family and maker of each, and the memory it comes with."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

_NVIDIA = {
    "kepler": "K80=12 K520=4",
    "maxwell": "M40=12/24 M60=8 M4000=8",
    "pascal": "P4=8 P40=24 P100=12/16 P4000=8 P5000=16 P6000=24",
    "volta": "V100=16/32",
    "turing": "T4=16 T4G=16 RTX4000=8 RTX5000=16 RTX6000=24 RTX8000=48",
    "ampere": (
        "A2=16 A10=24 A10G=24 A16=16 A30=24 A40=48 A100=40/80 A800=40/80 A4000=16 A4500=20 A5000=24"
        " A6000=48 RTXA2000=6/12 RTXA4000=16 RTXA4500=20 RTXA5000=24 RTXA6000=48 RTX3060=8/12"
        " RTX3070=8 RTX3080=10/12 RTX3090=24"
    ),
    "ada": (
        "L4=24 L20=48 L40=48 L40S=48 RTX4000ADA=20 RTX4500ADA=24 RTX5000ADA=32 RTX5880ADA=48"
        " RTX6000ADA=48 RTX4060=8/16 RTX4070=12/16 RTX4080=16 RTX4090=24"
    ),
    "hopper": "H20=96/141 H100=80/94 H200=141 H800=80 GH200=96/144",
    "blackwell": (
        "B200=180/192 B300=288 GB200=186/192 GB300=288 RTX5060=8/16 RTX5070=12/16 RTX5080=16"
        " RTX5090=32 RTXPRO4500=32 RTXPRO5000=48 RTXPRO6000=96 RTXPRO6000WS=96"
    ),
}
_AMD = {
    "rdna": "RADEONPROV520=8",
    "cdna": "MI100=32",
    "cdna2": "MI210=64 MI250=128 MI250X=128",
    "cdna3": "MI300X=192 MI325X=256",
    "cdna4": "MI350X=288 MI355X=288",
}
"""By family: each model and its memory in GB, as its maker's data sheet states it."""

_OTHER_WORDS = re.compile(
    r"NVIDIA|TESLA|GEFORCE|QUADRO|AMD|INSTINCT|GPU|SXM\d?|PCIE|NVL|MEGA|WS|SE|TI|SUPER|HBM\dE?"
)
"""Words of a name that tell makers, boards and slots, not the family."""

_MEMORY = re.compile(r"(\d{1,4})GB")
_NO_GPU = re.compile(r"tpu|trainium|inferentia|gaudi|hl-\d", re.IGNORECASE)


@dataclass(frozen=True)
class Model:
    """A model of GPU."""

    family: str
    vendor: Literal["nvidia", "amd"]
    sizes_gb: tuple[int, ...]
    """The memory it comes with, smallest first."""

    def size_of(self, gib: Decimal) -> int | None:
        """Return the nominal size of a card that reports so many GiB, or None.

        A card reports from its nominal size in GB (10^9 bytes) to that number of GiB: an L4 of
        24 GB reports 22.5 GiB, an H100 of 80 GB 79.6 GiB.
        """
        half = Decimal("0.5")
        fits = (s for s in self.sizes_gb if s - half <= gib * 2**30 / 10**9 and gib <= s + half)
        return min(fits, key=lambda size: abs(size - gib), default=None)


@functools.cache
def model_of(name: str) -> Model | None:
    """Return what is known of a model, by the name a catalog gives it; None where nothing is."""
    words = [word for word in re.split(r"[^A-Z0-9]+", name.upper()) if word]
    told = (word for word in words if not _OTHER_WORDS.fullmatch(word))
    known = _models().get("".join(word for word in told if not _MEMORY.fullmatch(word)))
    stated = next((int(found[1]) for word in words if (found := _MEMORY.fullmatch(word))), None)
    if known and stated in known.sizes_gb:
        return Model(known.family, known.vendor, (stated,))
    return known


def is_no_gpu(name: str) -> bool:
    """Whether a name is that of an accelerator of another kind."""
    return _NO_GPU.match(name) is not None


@functools.cache
def _models() -> dict[str, Model]:
    models: dict[str, Model] = {}
    for vendor, families in (("nvidia", _NVIDIA), ("amd", _AMD)):
        for family, listed in families.items():
            for one in listed.split():
                name, sizes = one.split("=")
                gb = tuple(int(size) for size in sizes.split("/"))
                models[name] = Model(family, "nvidia" if vendor == "nvidia" else "amd", gb)
    return models
