"""The model that is trained: a MarianMTModel of transformers, new or from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paraloom.core.errors import ModelError
from paraloom.mt.checkpoint import quiet
from paraloom.mt.network import EMBEDDING

if TYPE_CHECKING:
    from paraloom.mt.training import TranslatorConfig


def new_model(config: TranslatorConfig, vocabulary: int, seed: int) -> Any:
    """A MarianMTModel of the configured sizes with random weights: a zero row for `<pad>`, the last word."""
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(seed)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=vocabulary,
            decoder_vocab_size=vocabulary,
            d_model=config.width,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            encoder_ffn_dim=config.inner,
            decoder_ffn_dim=config.inner,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            dropout=config.dropout,
            activation_function=config.activation,
            max_position_embeddings=512,
            pad_token_id=vocabulary - 1,
            decoder_start_token_id=vocabulary - 1,
            eos_token_id=0,
            bos_token_id=0,
            forced_eos_token_id=None,
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
        )
    )
    # `<pad>` starts a sentence and never stands in one: outside of the softmax in training, forbidden in generation.
    model.generation_config.bad_words_ids = [[vocabulary - 1]]
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name == EMBEDDING:
                value.normal_(std=config.width**-0.5)
                value[-1] = 0
            elif value.dim() == 2 and "embed_positions" not in name:
                torch.nn.init.xavier_uniform_(value)
    return model


def load_model(checkpoint: Path) -> Any:
    """The MarianMTModel in a checkpoint folder of ours."""
    from transformers import MarianMTModel

    if not (checkpoint / "model.safetensors").is_file():
        raise ModelError(
            "model.safetensors is missing", file=checkpoint, remedy="Start from a translator folder of ours."
        )
    with quiet():
        return MarianMTModel.from_pretrained(checkpoint)
