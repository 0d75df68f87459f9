"""One `<gpu>` element of an `nvidia-smi -q -x` report, and the device it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from stowplan.adapters.findings import Finding
from stowplan.adapters.nvidia_smi_readings import plain, signs_of, told, watts, whole
from stowplan.adapters.xml_tree import Element
from stowplan.model.fleet import Device
from stowplan.model.health import Sign, classify

UNLISTED_MIB = 1024
"""Memory in use that no listed process holds, past which somebody unseen is taken to hold it.

The driver itself keeps a few hundred MiB; old versions count that as used."""

_UUID = re.compile(r"GPU-[0-9A-Za-z-]{1,80}")
_POWER = (
    "gpu_power_readings/current_power_limit",
    "power_readings/enforced_power_limit",
    "gpu_power_readings/power_limit",
    "power_readings/power_limit",
)
"""The limit in force: `enforced` up to v11, `current` later; what was asked for comes last."""


@dataclass(frozen=True)
class Gpu:
    """A GPU as reported: `index` is its position in the report, as nvidia-smi counts them."""

    file: str
    index: int
    element: Element

    @cached_property
    def uuid(self) -> str | None:
        """Its UUID, or None where the report doesn't tell it."""
        uuid = self.element.read("uuid")
        return uuid if _UUID.fullmatch(uuid) else None

    @cached_property
    def model(self) -> str | None:
        """Its product name, or None."""
        return told(self.element.read("product_name"))

    @cached_property
    def memory_mib(self) -> int | None:
        """Its whole memory, or None."""
        return whole(self.element.read("fb_memory_usage/total"))

    @cached_property
    def signs(self) -> dict[Sign, bool]:
        """What it tells about its health."""
        return signs_of(self.element)

    @cached_property
    def partitioned(self) -> bool:
        """Whether it is cut into MIG instances, or kept for them: then no run can have it whole."""
        mode = plain(self.element.read("mig_mode/current_mig"))
        instances = self.element.find("mig_devices/mig_device")
        return mode == "enabled" or (mode != "disabled" and instances is not None)

    def finding(self, tag: str, message: str) -> Finding:
        """Return a finding about what one tag of the element says."""
        line = (self.element.find(tag) or self.element).line
        path = f"gpu[{self.index}].{tag.replace('/', '.')}" if tag else f"gpu[{self.index}]"
        return Finding(self.file, line, path, message)


def device_of(
    gpu: Gpu, host: str, others: Sequence[Gpu], shared: bool
) -> tuple[Device, list[Finding]]:
    """Return the device that a GPU of a host is, with what was assumed about it.

    `others` are the host's GPUs; `shared` says that more than one GPU reports this UUID.
    """
    findings: list[Finding] = []
    verdict = classify(gpu.signs)
    device = Device(
        id=_id(gpu, host, shared, findings),
        index=gpu.index,
        model=(model := _model(gpu, others, findings)),
        vendor="nvidia",
        memory_mib=_memory(gpu, model, others, findings),
        used_by_others_mib=_used(gpu, findings),
        health=verdict.health,
        signs=verdict.signs,
        xid=verdict.xid,
        nvlink_clique=_clique(gpu.element),
        power_limit_w=next(filter(None, (watts(gpu.element.read(path)) for path in _POWER)), None),
    )
    if plain(gpu.element.read("mig_mode/pending_mig")) == "enabled":
        message = "MIG is off but will be on after its next reset; taken as a whole GPU until then"
        findings.append(gpu.finding("mig_mode/pending_mig", message))
    return device, findings


def left_out(gpu: Gpu) -> Finding:
    """Return the finding about a GPU in MIG mode."""
    instances = len((gpu.element.find("mig_devices") or gpu.element).all("mig_device"))
    message = (
        f"in MIG mode with {instances} instance{'' if instances == 1 else 's'}: left out, since "
        "only whole GPUs are placed"
    )
    return gpu.finding("mig_mode", message)


def _id(gpu: Gpu, host: str, shared: bool, findings: list[Finding]) -> str:
    if gpu.uuid and not shared:
        return gpu.uuid
    name = f"{host}/{gpu.index}"
    why = f"several GPUs report {gpu.uuid}" if gpu.uuid else "no UUID is reported"
    findings.append(gpu.finding("uuid", f"{why}; its id is {name}"))
    return name


def _model(gpu: Gpu, others: Sequence[Gpu], findings: list[Finding]) -> str:
    if gpu.model:
        return gpu.model
    models = {other.model for other in others if other.model}
    model = models.pop() if len(models) == 1 else None
    whose = "taken as the machine's other GPUs" if model else "taken as 'unknown'"
    findings.append(gpu.finding("product_name", f"no model is reported; {whose}"))
    return model or "unknown"


def _memory(gpu: Gpu, model: str, others: Sequence[Gpu], findings: list[Finding]) -> int:
    if gpu.memory_mib is not None:
        return gpu.memory_mib
    sizes = {other.memory_mib for other in others if other.model in (model, None)} - {None}
    size = sizes.pop() if len(sizes) == 1 else None
    whose = f"taken as {size} MiB, as its like here" if size else "taken as 0"
    findings.append(gpu.finding("fb_memory_usage/total", f"no memory is reported; {whose}"))
    return size or 0


def _used(gpu: Gpu, findings: list[Finding]) -> int:
    """Return the MiB that programs hold.

    It is what the listed processes hold, of any type: a desktop's memory is as gone as a
    trainer's. `fb_memory_usage/used` isn't that, since up to driver 510 it has the driver's own
    reserve in it, and later some of it still. It counts only where the list can't be whole: a
    process hides its figure, or much more is used than the list explains, as in a container,
    which doesn't see the host's processes.
    """
    processes = gpu.element.find("processes")
    listed = processes.all("process_info") if processes else []
    figures = [whole(process.read("used_memory")) for process in listed]
    held = sum(figure or 0 for figure in figures)
    in_use = whole(gpu.element.read("fb_memory_usage/used")) or 0
    if in_use > held + UNLISTED_MIB or (None in figures and in_use > held):
        message = (
            f"{in_use} MiB are in use and the processes listed account for {held}: all of it "
            "counts as used by others"
        )
        findings.append(gpu.finding("processes", message))
        return in_use
    if listed:
        who = "1 process holds" if len(listed) == 1 else f"{len(listed)} processes hold"
        message = (
            f"{who} {held} MiB, counted as used by others; make used_by_others_mib 0 "
            "where they are runs of yours"
        )
        findings.append(gpu.finding("processes", message))
    return held


def _clique(gpu: Element) -> str | None:
    """Return the NVLink domain that spans machines, or None.

    All zeros with the state Completed is the switch inside one machine, which is no such domain.
    """
    cluster = told(gpu.read("fabric/clusterUuid"))
    clique = whole(gpu.read("fabric/cliqueId"))
    joined = plain(gpu.read("fabric/state")) == "completed"
    failed = told(gpu.read("fabric/status")) not in (None, "Success")
    if not joined or failed or cluster is None or clique is None:
        return None
    return f"{cluster}.{clique}" if cluster.strip("0-") else None


def unknown_health(gpus: Sequence[Gpu], untold: Sequence[Sign]) -> Finding:
    """Return the finding about GPUs whose health can't be told for want of the same readings."""
    which = ", ".join(str(gpu.index) for gpu in gpus)
    message = (
        f"the health of GPU{'' if len(gpus) == 1 else 's'} {which} is unknown; not reported: "
        f"{', '.join(untold)}"
    )
    return Finding(gpus[0].file, gpus[0].element.line, "gpu", message)
