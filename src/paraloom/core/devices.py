"""Devices that models run on: the processor or GPUs, and the number formats that suit them."""

from __future__ import annotations

import multiprocessing
import os
import re
from typing import NamedTuple

from paraloom.core.errors import ConfigError, nearest

DEVICE_VARIABLE = "PARALOOM_DEVICE"
"""Environment variable with the device of translators that are loaded without one; worker processes inherit it."""

DEVICES = ("auto", "cpu", "cuda")


class Device(NamedTuple):
    """A processor, or GPUs of one machine."""

    kind: str
    indices: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        if self.kind == "cpu" or self.indices == (0,):
            return self.kind
        return f"{self.kind}:{','.join(map(str, self.indices))}"

    def parts(self) -> list[Device]:
        return [Device(self.kind, (index,)) for index in self.indices]


def default_device() -> str:
    """$PARALOOM_DEVICE, or 'cpu'."""
    return os.environ.get(DEVICE_VARIABLE) or "cpu"


def parse_device(text: str, gpus: int | None = None) -> Device:
    """Read a device as options name it, and check that it is there."""
    match = re.fullmatch(r"(auto|cpu)|cuda(?::(\d+(?:,\d+)*))?", text.strip())
    if match is None:
        raise ConfigError(
            f"unknown device '{text}'{nearest(text, DEVICES)}", remedy="Devices: auto, cpu, cuda, cuda:0,1."
        )
    if text.strip() == "cpu":
        return Device("cpu")
    count = gpu_count() if gpus is None else gpus
    if match[1]:
        return Device("cuda", tuple(range(count))) if count else Device("cpu")
    indices = tuple(dict.fromkeys(int(index) for index in (match[2] or "0").split(",")))
    if absent := [index for index in indices if index >= count]:
        there = f"this machine has {count} GPU{'s' * (count != 1)}, numbered from 0" if count else "no GPU is available"
        raise ConfigError(
            f"GPU {', '.join(map(str, absent))} of device '{text}' not found: {there}",
            remedy="Write --device cpu, or auto for a GPU if there is one; CTranslate2 needs the CUDA libraries, and "
            "training a build of torch with CUDA.",
        )
    return Device("cuda", indices)


def use_device(device: str | None) -> Device | None:
    """Let translators that are loaded without a device run on this one, also in processes that are started later."""
    if device is None:
        return None
    parsed = parse_device(device)
    os.environ[DEVICE_VARIABLE] = str(parsed)
    return parsed


def precision_on(device: Device | None, precision: str | None) -> str | None:
    """The precision to ask for: what suits a GPU that was named, unless a precision was named, too."""
    return precision or ("auto" if device is not None and device.kind != "cpu" else None)


def workers_on(device: Device | None, workers: int | None) -> int | None:
    """Number of worker processes: one for each GPU that was named, unless a number was named, too."""
    if workers is not None:
        return workers
    return len(device.indices) if device is not None and device.kind != "cpu" else None


def worker_number() -> int:
    """Number of this worker process, from 0, so that each of several takes another GPU; 0 in a main process."""
    identity = multiprocessing.current_process()._identity  # type: ignore[attr-defined]
    return int(identity[-1]) - 1 if identity else 0


def gpu_count() -> int:
    """Number of GPUs that CTranslate2 can use; 0 without CUDA."""
    import ctranslate2

    try:
        return int(ctranslate2.get_cuda_device_count())
    except (RuntimeError, ValueError):
        return 0


def training_devices(text: str) -> tuple[str, ...]:
    """Parse the devices of a training: 'cpu', 'cuda' (every GPU) or a list such as 'cuda:0,cuda:2'."""
    names = [name.strip() for name in text.split(",")]
    if all(name == "cpu" for name in names):
        return tuple(names)
    import torch

    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if names == ["cuda"] and gpus:
        return tuple(gpus)
    missing = [name for name in names if name not in gpus]
    if missing:
        raise ConfigError(
            f"device '{missing[0]}' not found; available: {', '.join(['cpu', *gpus])}",
            remedy="" if gpus else "For GPUs, install a build of torch with CUDA.",
        )
    return tuple(names)


def main_memory() -> int:
    """Main memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def supports_bfloat16() -> bool:
    """True if the processor multiplies bfloat16 in hardware; emulated, it is slower than float32. Needs torch."""
    import torch

    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
