"""Where models run: the processor or GPUs, and the number formats that suit them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from paraloom.core.errors import ConfigError, nearest

DEVICE_VARIABLE = "PARALOOM_DEVICE"
"""Environment variable with the device of translators that are loaded without one; worker processes inherit it."""

DEVICES = ("auto", "cpu", "cuda")


class Device(NamedTuple):
    """A processor, or GPUs of one machine.

    Args:
        kind: 'cpu' or 'cuda'.
        indices: Numbers of the GPUs; (0,) for the processor.
    """

    kind: str
    indices: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        if self.kind == "cpu" or self.indices == (0,):
            return self.kind
        return f"{self.kind}:{','.join(map(str, self.indices))}"

    def parts(self) -> list[Device]:
        """Each GPU by itself.

        Example:
            >>> [str(part) for part in Device("cuda", (0, 1)).parts()]
            ['cuda', 'cuda:1']
        """
        return [Device(self.kind, (index,)) for index in self.indices]


def default_device() -> str:
    """$PARALOOM_DEVICE, or 'cpu'."""
    return os.environ.get(DEVICE_VARIABLE) or "cpu"


def parse_device(text: str) -> Device:
    """Read a device as options name it, and check that it is there.

    Args:
        text: 'cpu'; 'cuda', the first GPU; 'cuda:0,1', several; or 'auto', all GPUs if there are any, else the
            processor.

    Raises:
        ConfigError: Unknown device, or a GPU that this machine does not have.

    Example:
        >>> parse_device("cpu")
        Device(kind='cpu', indices=(0,))
    """
    match = re.fullmatch(r"(auto|cpu)|cuda(?::(\d+(?:,\d+)*))?", text.strip())
    if match is None:
        raise ConfigError(
            f"unknown device '{text}'{nearest(text, DEVICES)}", remedy="Devices: auto, cpu, cuda, cuda:0,1."
        )
    if text.strip() == "cpu":
        return Device("cpu")
    count = gpu_count()
    if match[1]:
        return Device("cuda", tuple(range(count))) if count else Device("cpu")
    indices = tuple(dict.fromkeys(int(index) for index in (match[2] or "0").split(",")))
    if absent := [index for index in indices if index >= count]:
        there = f"this machine has {count} GPU{'s' * (count != 1)}, numbered from 0" if count else "no GPU is available"
        raise ConfigError(
            f"GPU {', '.join(map(str, absent))} of device '{text}' not found: {there}",
            remedy="Write --device cpu, or auto for a GPU if there is one; CTranslate2 needs the CUDA libraries.",
        )
    return Device("cuda", indices)


def gpu_count() -> int:
    """Number of GPUs that CTranslate2 can use; 0 without CUDA."""
    import ctranslate2

    try:
        return int(ctranslate2.get_cuda_device_count())
    except (RuntimeError, ValueError):
        return 0
