"""Resources of a worker of a stage: processors, GPUs, memory."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from paraloom.core.config import Config
from paraloom.core.errors import ConfigError

_UNITS = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("kMGT", start=1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", start=1)},
}


@dataclass(frozen=True, kw_only=True)
class Resources(Config):
    """Resources of each worker of a stage. Results do not depend on it, and neither do digests.

    The Ray engine reserves it on a machine, for each worker. The local engine reserves nothing, but starts no more
    workers than fit the machine, one at least, and gives each one GPUs of its own.

    Args:
        cpus: Processors that a worker occupies, as the scheduler counts them: less than 1 for workers that mostly wait
            for a server, more for those that leave none to others. A worker computes in one thread in any case, unless
            `OMP_NUM_THREADS` is set.
        gpus: GPUs of a worker: a whole number, or a share of one, such as 0.5. Translators of such a worker run on
            them, whatever $PARALOOM_DEVICE is.
        memory: Bytes of main memory, or text such as '8 GB' or '512 MiB'; 0: not counted.
    """

    type_description: ClassVar[str] = "a table of cpus, gpus and memory"

    cpus: float = 1.0
    gpus: float = 0.0
    memory: int | str = 0

    def __post_init__(self) -> None:
        if isinstance(self.memory, str):
            object.__setattr__(self, "memory", parse_size(self.memory))
        super().__post_init__()

    def validate(self) -> None:
        if self.cpus <= 0:
            raise ConfigError(f"key 'cpus' must be more than 0, not {self.cpus:g}")
        for name, value in (("gpus", self.gpus), ("memory", self.memory_bytes)):
            if value < 0:
                raise ConfigError(f"key '{name}' must be 0 or more, not {value:g}")
        if self.gpus > 1 and not self.gpus.is_integer():
            raise ConfigError(f"key 'gpus' must be a whole number, or a share of one GPU, not {self.gpus:g}")

    @property
    def memory_bytes(self) -> int:
        assert isinstance(self.memory, int), "text is parsed when the object is made"
        return self.memory

    def workers_on(self, machine: Mapping[str, float]) -> int:
        """Number of workers that fit a machine at a time."""
        counts = [machine.get("CPU", 0) / self.cpus]
        if self.gpus >= 1:
            counts.append(machine.get("GPU", 0) // self.gpus)
        elif self.gpus:  # A share is of one GPU: three workers of 0.4 do not fit one and a fifth.
            counts.append(machine.get("GPU", 0) * math.floor(1 / self.gpus + 1e-9))
        if self.memory_bytes:
            counts.append(machine.get("memory", 0) / self.memory_bytes)
        return math.floor(min(counts) + 1e-9)

    def gpu_numbers(self, worker: int) -> range:
        """Numbers of the GPUs of one machine that a worker uses; empty without GPUs."""
        if not self.gpus:
            return range(0)
        if self.gpus < 1:
            worker //= math.floor(1 / self.gpus + 1e-9)
        count = max(1, int(self.gpus))
        return range(worker * count, (worker + 1) * count)

    def __str__(self) -> str:
        return describe_machine({"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory_bytes}, zeros=False)


ONE_CPU = Resources()  # Default resources of a worker


def describe_machine(machine: Mapping[str, float], *, zeros: bool = True) -> str:
    memory = machine.get("memory", 0)
    counts = [(machine.get(name, 0), name) for name in ("CPU", "GPU")]
    parts = [f"{count:g} {name}{'s' * (count != 1)}" for count, name in counts if count or zeros]
    parts += [f"{f'{memory / 1e9:,.1f}'.removesuffix('.0')} GB of memory"] if memory or zeros else []
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def parse_size(text: str) -> int:
    """Number of bytes of a size in words."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]+)", text.strip())
    units = {name.lower(): size for name, size in _UNITS.items()}
    if match is None or match[2].lower() not in units:
        raise ConfigError(
            f"key 'memory' must be a number of bytes or text such as '8 GB', not {text!r}",
            remedy=f"Units are {', '.join(_UNITS)}.",
        )
    return int(float(match[1]) * units[match[2].lower()])
