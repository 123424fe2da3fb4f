"""What the processor of this machine supports."""

from __future__ import annotations


def supports_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 in hardware; emulated, it is slower than float32. Needs torch."""
    import torch

    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
