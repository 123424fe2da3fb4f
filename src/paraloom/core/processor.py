"""What this machine's processor can do."""

from __future__ import annotations


def has_bfloat16() -> bool:
    """Whether it multiplies bfloat16 in hardware; elsewhere that is emulated, slower than float32.  Needs torch."""
    import torch

    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
