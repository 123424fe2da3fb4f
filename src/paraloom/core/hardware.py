"""Memory of this machine, and features of its processor."""

from __future__ import annotations

import os


def main_memory() -> int:
    """Main memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def supports_bfloat16() -> bool:
    """True if the processor multiplies bfloat16 in hardware; emulated, it is slower than float32. Needs torch."""
    import torch

    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
