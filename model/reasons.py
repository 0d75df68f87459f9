"""Why: every code there is, what it means, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import model_validator

from stowplan.model.types import Frozen


class Action(StrEnum):
    """What the reader of a reason can do."""

    NONE = "NONE"
    WAIT = "WAIT"
    RUN = "RUN"
    WAIT_OR_STOP_WORKLOAD = "WAIT_OR_STOP_WORKLOAD"
    INSTALL_MODEL = "INSTALL_MODEL"
    REINSTALL_MODEL = "REINSTALL_MODEL"
    VERIFY_MODEL = "VERIFY_MODEL"
    REDUCE_CONTEXT = "REDUCE_CONTEXT"
    CHOOSE_SMALLER_MODEL = "CHOOSE_SMALLER_MODEL"
    RUN_DOCTOR = "RUN_DOCTOR"
    FIX_INPUT = "FIX_INPUT"
    CHECK_NODE = "CHECK_NODE"
    UNDRAIN_MACHINE = "UNDRAIN_MACHINE"
    UPDATE_RUNTIME = "UPDATE_RUNTIME"
    REVIEW_ENTITLEMENT = "REVIEW_ENTITLEMENT"
    REVIEW_QUOTA = "REVIEW_QUOTA"
    REVIEW_POLICY = "REVIEW_POLICY"
    RELAX_RULE = "RELAX_RULE"
    LABEL_MACHINES = "LABEL_MACHINES"
    RAISE_BUDGET = "RAISE_BUDGET"
    EXTEND_DEADLINE = "EXTEND_DEADLINE"
    ADD_CAPACITY = "ADD_CAPACITY"
    CONTACT_SUPPORT = "CONTACT_SUPPORT"


class Code(StrEnum):
    """One code means one thing in every view; `MEANINGS` says what, `ACTIONS` what helps."""

    OK = "OK"
    MODEL_NOT_INSTALLED = "MODEL_NOT_INSTALLED"
    MODEL_VERIFICATION_PENDING = "MODEL_VERIFICATION_PENDING"
    MODEL_ARTIFACT_INVALID = "MODEL_ARTIFACT_INVALID"
    MODEL_UNVERIFIED = "MODEL_UNVERIFIED"
    MODEL_UNSUPPORTED = "MODEL_UNSUPPORTED"
    GPU_TOO_SMALL = "GPU_TOO_SMALL"
    GPU_ALREADY_ALLOCATED = "GPU_ALREADY_ALLOCATED"
    GPU_UNAVAILABLE = "GPU_UNAVAILABLE"
    ACCELERATOR_SET_UNSUPPORTED = "ACCELERATOR_SET_UNSUPPORTED"
    HARDWARE_STALE = "HARDWARE_STALE"
    MACHINE_DRAINING = "MACHINE_DRAINING"
    TASK_UNKNOWN = "TASK_UNKNOWN"
    MODEL_CAPABILITY_UNSUPPORTED = "MODEL_CAPABILITY_UNSUPPORTED"
    RUNTIME_CAPABILITY_UNSUPPORTED = "RUNTIME_CAPABILITY_UNSUPPORTED"
    PLATFORM_CAPABILITY_UNSUPPORTED = "PLATFORM_CAPABILITY_UNSUPPORTED"
    WORKLOAD_STARTING = "WORKLOAD_STARTING"
    QUEUED = "QUEUED"
    WORKLOAD_STOPPED = "WORKLOAD_STOPPED"
    WORKLOAD_SUPERSEDED = "WORKLOAD_SUPERSEDED"
    FEATURE_NOT_ENTITLED = "FEATURE_NOT_ENTITLED"
    LIMIT_REACHED = "LIMIT_REACHED"
    ENTITLEMENT_INVALID = "ENTITLEMENT_INVALID"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    BATCH_QUOTA_EXHAUSTED = "BATCH_QUOTA_EXHAUSTED"
    POOL_RESTRICTED = "POOL_RESTRICTED"
    MODEL_NOT_PERMITTED = "MODEL_NOT_PERMITTED"
    BATCH_INPUT_INVALID = "BATCH_INPUT_INVALID"
    BATCH_FAILED = "BATCH_FAILED"
    BATCH_WORKER_UNAVAILABLE = "BATCH_WORKER_UNAVAILABLE"
    BATCH_CANCELLED = "BATCH_CANCELLED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    UNKNOWN = "UNKNOWN"
    UNEVEN_SHAPE = "UNEVEN_SHAPE"
    NOT_SELECTED = "NOT_SELECTED"
    LABEL_MISSING = "LABEL_MISSING"
    CAPABILITY_MISSING = "CAPABILITY_MISSING"
    NO_MATCHING_GPU = "NO_MATCHING_GPU"
    DRIVE_MISSING = "DRIVE_MISSING"
    INVALID_INPUT = "INVALID_INPUT"
    NO_RDMA = "NO_RDMA"
    RDMA_TOO_SLOW = "RDMA_TOO_SLOW"
    SPREAD_CONFLICT = "SPREAD_CONFLICT"
    SITE_SPAN = "SITE_SPAN"
    TOPOLOGY_NO_ROOM = "TOPOLOGY_NO_ROOM"
    GANG_INFEASIBLE = "GANG_INFEASIBLE"
    INTERRUPTION_POLICY = "INTERRUPTION_POLICY"
    TOPOLOGY_UNLABELLED = "TOPOLOGY_UNLABELLED"
    EXCEEDS_REMAINING_BUDGET = "EXCEEDS_REMAINING_BUDGET"
    EXCEEDS_MAX_RATE = "EXCEEDS_MAX_RATE"
    PRICE_ABOVE_ESTIMATE = "PRICE_ABOVE_ESTIMATE"
    MISSES_DEADLINE = "MISSES_DEADLINE"
    MACHINE_DOWN = "MACHINE_DOWN"
    MACHINE_PRESSURE = "MACHINE_PRESSURE"
    GPU_FAULTED = "GPU_FAULTED"
    DRIVE_UNREACHABLE = "DRIVE_UNREACHABLE"
    DRIVE_FULL = "DRIVE_FULL"
    MACHINE_CORDONED = "MACHINE_CORDONED"
    MACHINE_RESERVED = "MACHINE_RESERVED"
    GPU_DENIED = "GPU_DENIED"
    POWER_BUDGET = "POWER_BUDGET"
    MAX_ACCELERATORS = "MAX_ACCELERATORS"
    POOL_MISMATCH = "POOL_MISMATCH"
    INSUFFICIENT_CPU = "INSUFFICIENT_CPU"
    INSUFFICIENT_MEMORY = "INSUFFICIENT_MEMORY"
    INSUFFICIENT_GPUS = "INSUFFICIENT_GPUS"
    INSUFFICIENT_HEALTHY_GPUS = "INSUFFICIENT_HEALTHY_GPUS"
    PINNED_GPU_BUSY = "PINNED_GPU_BUSY"
    OUTCOMPETED = "OUTCOMPETED"
    QUEUED_BEHIND = "QUEUED_BEHIND"
    NEXT_TO_RUN = "NEXT_TO_RUN"
    ARRAY_LIMIT = "ARRAY_LIMIT"
    PATIENCE = "PATIENCE"
    NO_CAPACITY_NOW = "NO_CAPACITY_NOW"
    SOLVER_LIMIT = "SOLVER_LIMIT"
    NO_OFFERING_FITS = "NO_OFFERING_FITS"
    OUTRANKED = "OUTRANKED"


MEANINGS: Mapping[Code, str] = {
    Code.OK: "nothing is wrong",
    Code.MODEL_NOT_INSTALLED: "the weights aren't on the machine that would run them",
    Code.MODEL_VERIFICATION_PENDING: "its digest is being established; clears by itself",
    Code.MODEL_ARTIFACT_INVALID: "the file isn't the one that was pinned",
    Code.MODEL_UNVERIFIED: "of the right size, but its digest was never established",
    Code.MODEL_UNSUPPORTED: "nothing is known of the model, or of this configuration here",
    Code.GPU_TOO_SMALL: "by the arithmetic of memory it doesn't fit",
    Code.GPU_ALREADY_ALLOCATED: "a GPU that would do is held whole by a run",
    Code.GPU_UNAVAILABLE: "no healthy GPU is reported",
    Code.ACCELERATOR_SET_UNSUPPORTED: "the set of GPUs asked for can't be run, memory aside",
    Code.HARDWARE_STALE: "the machine's report is too old to be evidence",
    Code.MACHINE_DRAINING: "the machine deliberately takes nothing new",
    Code.TASK_UNKNOWN: "not a known task: a typo, or from a newer version",
    Code.MODEL_CAPABILITY_UNSUPPORTED: "these weights can't do the task",
    Code.RUNTIME_CAPABILITY_UNSUPPORTED: "this engine can't drive the task",
    Code.PLATFORM_CAPABILITY_UNSUPPORTED: "the engine's build on this machine lacks it",
    Code.WORKLOAD_STARTING: "coming up; not a refusal",
    Code.QUEUED: "an admitted service, right in every way, waits for a GPU",
    Code.WORKLOAD_STOPPED: "there is a record and no process; it holds nothing",
    Code.WORKLOAD_SUPERSEDED: "decided at a placement generation that the fleet has passed",
    Code.FEATURE_NOT_ENTITLED: "not in the plan",
    Code.LIMIT_REACHED: "the plan's number is spent",
    Code.ENTITLEMENT_INVALID: "present, but can't be accepted",
    Code.QUOTA_EXCEEDED: "the organisation's own limit of GPUs is used up",
    Code.BATCH_QUOTA_EXHAUSTED: "the organisation's own limit of batch records is used up",
    Code.POOL_RESTRICTED: "the workspace's pools leave no host",
    Code.MODEL_NOT_PERMITTED: "policy disallows the model",
    Code.BATCH_INPUT_INVALID: "records missing, unreadable, or not matching their digest",
    Code.BATCH_FAILED: "an infrastructure fault, and no attempts left",
    Code.BATCH_WORKER_UNAVAILABLE: "placed, but its container never started",
    Code.BATCH_CANCELLED: "you asked it to stop",
    Code.INTERNAL_ERROR: "our failure, the only one",
    Code.UNKNOWN: "a code that this version doesn't know",
    Code.UNEVEN_SHAPE: "the GPUs don't divide evenly over the workers asked for",
    Code.NOT_SELECTED: "the run names other hosts",
    Code.LABEL_MISSING: "the host lacks a label that the run selects",
    Code.CAPABILITY_MISSING: "the host lacks a capability, or takes only runs that need one",
    Code.NO_MATCHING_GPU: "no GPU here has the model, vendor or memory asked for",
    Code.DRIVE_MISSING: "a drive that the run names doesn't exist",
    Code.INVALID_INPUT: "the run can't be read as it is written",
    Code.NO_RDMA: "no RDMA network of the kind asked for",
    Code.RDMA_TOO_SLOW: "its RDMA ports are slower than asked for",
    Code.SPREAD_CONFLICT: "another worker of the run is there, and they must not share",
    Code.SITE_SPAN: "the run would span sites",
    Code.TOPOLOGY_NO_ROOM: "no group of machines has room for the whole run",
    Code.GANG_INFEASIBLE: "no set of offerings takes the whole run",
    Code.INTERRUPTION_POLICY: "the run accepts only the other kind, interruptible or not",
    Code.TOPOLOGY_UNLABELLED: "the machine lacks the label that the rule reads",
    Code.EXCEEDS_REMAINING_BUDGET: "its expected cost is more than what is left",
    Code.EXCEEDS_MAX_RATE: "dearer by the hour than the run allows",
    Code.PRICE_ABOVE_ESTIMATE: "dearer than the estimate that the run was made from",
    Code.MISSES_DEADLINE: "it would finish too late",
    Code.MACHINE_DOWN: "the machine is down, or reports no capacity",
    Code.MACHINE_PRESSURE: "the machine is short of memory or disk",
    Code.GPU_FAULTED: "it would be enough, if some GPUs weren't faulted",
    Code.DRIVE_UNREACHABLE: "the drive can't be reached from this host",
    Code.DRIVE_FULL: "the drive has too little room",
    Code.MACHINE_CORDONED: "the machine is closed for new work",
    Code.MACHINE_RESERVED: "the machine is kept for other work",
    Code.GPU_DENIED: "it would be enough, if some GPUs weren't withheld",
    Code.POWER_BUDGET: "over the machine's power budget",
    Code.MAX_ACCELERATORS: "more GPUs than one run may take on this machine",
    Code.POOL_MISMATCH: "the host is in another workspace's pool",
    Code.INSUFFICIENT_CPU: "too few free cores",
    Code.INSUFFICIENT_MEMORY: "too little free memory",
    Code.INSUFFICIENT_GPUS: "too few free GPUs",
    Code.INSUFFICIENT_HEALTHY_GPUS: "too few free GPUs that show no sign of failing",
    Code.PINNED_GPU_BUSY: "a GPU that the run pins isn't free",
    Code.OUTCOMPETED: "it fits alone; the room went to runs placed in this cycle",
    Code.QUEUED_BEHIND: "it would fit, but an earlier run of its queue goes first",
    Code.NEXT_TO_RUN: "it is the next of its queue",
    Code.ARRAY_LIMIT: "the array runs as many elements at once as it may",
    Code.PATIENCE: "it waits for a better network, as it asked",
    Code.NO_CAPACITY_NOW: "sold out at the moment",
    Code.SOLVER_LIMIT: "not proven either way in the time given",
    Code.NO_OFFERING_FITS: "no offering is large enough",
    Code.OUTRANKED: "it would do; a better host was chosen",
}

ACTIONS: Mapping[Code, tuple[Action, ...]] = {
    Code.OK: (Action.NONE,),
    Code.MODEL_NOT_INSTALLED: (Action.INSTALL_MODEL,),
    Code.MODEL_VERIFICATION_PENDING: (Action.WAIT,),
    Code.MODEL_ARTIFACT_INVALID: (Action.REINSTALL_MODEL,),
    Code.MODEL_UNVERIFIED: (Action.VERIFY_MODEL,),
    Code.MODEL_UNSUPPORTED: (
        Action.REDUCE_CONTEXT,
        Action.CHOOSE_SMALLER_MODEL,
    ),
    Code.GPU_TOO_SMALL: (
        Action.REDUCE_CONTEXT,
        Action.CHOOSE_SMALLER_MODEL,
    ),
    Code.GPU_ALREADY_ALLOCATED: (Action.WAIT_OR_STOP_WORKLOAD,),
    Code.GPU_UNAVAILABLE: (Action.RUN_DOCTOR,),
    Code.ACCELERATOR_SET_UNSUPPORTED: (Action.FIX_INPUT,),
    Code.HARDWARE_STALE: (Action.CHECK_NODE,),
    Code.MACHINE_DRAINING: (Action.UNDRAIN_MACHINE,),
    Code.TASK_UNKNOWN: (Action.FIX_INPUT,),
    Code.MODEL_CAPABILITY_UNSUPPORTED: (Action.FIX_INPUT,),
    Code.RUNTIME_CAPABILITY_UNSUPPORTED: (Action.FIX_INPUT,),
    Code.PLATFORM_CAPABILITY_UNSUPPORTED: (Action.UPDATE_RUNTIME,),
    Code.WORKLOAD_STARTING: (Action.WAIT,),
    Code.QUEUED: (Action.WAIT,),
    Code.WORKLOAD_STOPPED: (Action.RUN,),
    Code.WORKLOAD_SUPERSEDED: (Action.RUN,),
    Code.FEATURE_NOT_ENTITLED: (Action.REVIEW_ENTITLEMENT,),
    Code.LIMIT_REACHED: (Action.REVIEW_ENTITLEMENT,),
    Code.ENTITLEMENT_INVALID: (Action.REVIEW_ENTITLEMENT,),
    Code.QUOTA_EXCEEDED: (Action.REVIEW_QUOTA,),
    Code.BATCH_QUOTA_EXHAUSTED: (Action.REVIEW_QUOTA,),
    Code.POOL_RESTRICTED: (Action.REVIEW_POLICY,),
    Code.MODEL_NOT_PERMITTED: (Action.REVIEW_POLICY,),
    Code.BATCH_INPUT_INVALID: (Action.FIX_INPUT,),
    Code.BATCH_FAILED: (Action.RUN,),
    Code.BATCH_WORKER_UNAVAILABLE: (Action.RUN,),
    Code.BATCH_CANCELLED: (Action.NONE,),
    Code.INTERNAL_ERROR: (Action.CONTACT_SUPPORT,),
    Code.UNKNOWN: (Action.CONTACT_SUPPORT,),
    Code.UNEVEN_SHAPE: (Action.FIX_INPUT,),
    Code.NOT_SELECTED: (Action.FIX_INPUT,),
    Code.LABEL_MISSING: (Action.FIX_INPUT,),
    Code.CAPABILITY_MISSING: (Action.FIX_INPUT,),
    Code.NO_MATCHING_GPU: (Action.FIX_INPUT,),
    Code.DRIVE_MISSING: (Action.FIX_INPUT,),
    Code.INVALID_INPUT: (Action.FIX_INPUT,),
    Code.NO_RDMA: (Action.RELAX_RULE,),
    Code.RDMA_TOO_SLOW: (Action.RELAX_RULE,),
    Code.SPREAD_CONFLICT: (Action.RELAX_RULE,),
    Code.SITE_SPAN: (Action.RELAX_RULE,),
    Code.TOPOLOGY_NO_ROOM: (Action.RELAX_RULE,),
    Code.GANG_INFEASIBLE: (Action.RELAX_RULE,),
    Code.INTERRUPTION_POLICY: (Action.RELAX_RULE,),
    Code.TOPOLOGY_UNLABELLED: (Action.LABEL_MACHINES, Action.RELAX_RULE),
    Code.EXCEEDS_REMAINING_BUDGET: (Action.RAISE_BUDGET,),
    Code.EXCEEDS_MAX_RATE: (Action.RAISE_BUDGET,),
    Code.PRICE_ABOVE_ESTIMATE: (Action.RAISE_BUDGET,),
    Code.MISSES_DEADLINE: (Action.EXTEND_DEADLINE,),
    Code.MACHINE_DOWN: (Action.CHECK_NODE,),
    Code.MACHINE_PRESSURE: (Action.CHECK_NODE,),
    Code.GPU_FAULTED: (Action.CHECK_NODE,),
    Code.DRIVE_UNREACHABLE: (Action.CHECK_NODE,),
    Code.DRIVE_FULL: (Action.CHECK_NODE,),
    Code.MACHINE_CORDONED: (Action.REVIEW_POLICY,),
    Code.MACHINE_RESERVED: (Action.REVIEW_POLICY,),
    Code.GPU_DENIED: (Action.REVIEW_POLICY,),
    Code.POWER_BUDGET: (Action.REVIEW_POLICY,),
    Code.MAX_ACCELERATORS: (Action.REVIEW_POLICY,),
    Code.POOL_MISMATCH: (Action.REVIEW_POLICY,),
    Code.INSUFFICIENT_CPU: (Action.WAIT_OR_STOP_WORKLOAD, Action.ADD_CAPACITY),
    Code.INSUFFICIENT_MEMORY: (Action.WAIT_OR_STOP_WORKLOAD, Action.ADD_CAPACITY),
    Code.INSUFFICIENT_GPUS: (Action.WAIT_OR_STOP_WORKLOAD, Action.ADD_CAPACITY),
    Code.INSUFFICIENT_HEALTHY_GPUS: (Action.WAIT_OR_STOP_WORKLOAD,),
    Code.PINNED_GPU_BUSY: (Action.WAIT_OR_STOP_WORKLOAD,),
    Code.OUTCOMPETED: (Action.WAIT_OR_STOP_WORKLOAD,),
    Code.QUEUED_BEHIND: (Action.WAIT,),
    Code.NEXT_TO_RUN: (Action.WAIT,),
    Code.ARRAY_LIMIT: (Action.WAIT,),
    Code.PATIENCE: (Action.WAIT,),
    Code.NO_CAPACITY_NOW: (Action.WAIT,),
    Code.SOLVER_LIMIT: (Action.WAIT,),
    Code.NO_OFFERING_FITS: (Action.ADD_CAPACITY,),
    Code.OUTRANKED: (Action.NONE,),
}
"""What helps against a code; where there are several, the numbers decide which."""

type Figure = int | float | str | bool | tuple[str, ...] | None


class Reason(Frozen):
    """A code, the numbers behind it, a sentence that holds them, and what to do."""

    code: Code
    numbers: Mapping[str, Figure] = {}
    message: str
    action: Action
    original: str | None = None
    """The code as it was recorded, where this version doesn't know it."""
    original_action: str | None = None
    """The action as it was recorded, where this version doesn't know it."""

    @model_validator(mode="before")
    @classmethod
    def _keep_what_a_newer_version_wrote(cls, value: Any) -> Any:  # Any: raw input
        if not isinstance(value, Mapping):
            return value
        code, action = value.get("code"), value.get("action")
        if isinstance(code, str) and code not in Code:
            value = {**value, "code": Code.UNKNOWN, "original": code}
        if isinstance(action, str) and action not in Action:
            value = {**value, "action": Action.CONTACT_SUPPORT, "original_action": action}
        return value

    @classmethod
    def of(cls, code: Code, message: str, **numbers: Figure) -> Reason:
        """Return the reason of this code, with the action that goes with it and its numbers."""
        actions = ACTIONS[code]
        action = actions[0]
        if Action.ADD_CAPACITY in actions and _is_too_large(numbers):
            action = Action.ADD_CAPACITY
        elif Action.RELAX_RULE in actions and numbers.get("kind") == "offering":
            action = Action.RELAX_RULE  # nobody can label what is still to be bought
        return cls(code=code, numbers=numbers, message=message, action=action)


def _is_too_large(numbers: Mapping[str, Figure]) -> bool:
    """Whether the need is more than there is in all: waiting won't help."""
    for need, whole in (("need", "whole"), ("need_bytes", "whole_bytes")):
        asked, there = numbers.get(need), numbers.get(whole)
        if isinstance(asked, int | float) and isinstance(there, int | float):
            return asked > there
    return False
