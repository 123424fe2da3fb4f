"""Untrained checkpoints of every family of translators, with the files that such folders have on the hub."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toy_language import bitext

SENTENCES = [source for source, _ in bitext(24, seed=5)]
"""Sentences to translate; no two models agree on them."""

_WIDTH = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4}
_WIDTH |= {"decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}


def write_checkpoint(name: str, folder: Path, **changes: Any) -> Path:
    """Write a random checkpoint of a kind in `KINDS`.

    Args:
        name: Its name.
        folder: New.
        **changes: Of the configuration of the model, such as its width.
    """
    import torch

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    KINDS[name](folder, changes)
    return folder


def _marian(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import MarianConfig, MarianMTModel

    _sentencepiece(folder / "source.spm", eos_id=0, unk_id=1, bos_id=-1, pad_id=-1)
    shutil.copyfile(folder / "source.spm", folder / "target.spm")
    pieces = [*_pieces(folder / "source.spm"), ">>fra<<", ">>deu<<", ">>zho_Hans<<", "<pad>"]
    _json(folder / "vocab.json", {piece: index for index, piece in enumerate(pieces)})
    _tokenizer_config(folder, "MarianTokenizer", source_lang="en", target_lang="ROMANCE")
    pad = len(pieces) - 1
    settings = {"pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad, "bos_token_id": 0}
    _save(folder, MarianMTModel, MarianConfig, len(pieces), settings | changes | {"forced_eos_token_id": None})


def _m2m100(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import M2M100Config, M2M100ForConditionalGeneration
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    codes = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    _sentencepiece(folder / "sentencepiece.bpe.model", model_type="bpe")
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *_pieces(folder / "sentencepiece.bpe.model")[3:]]
    _json(folder / "vocab.json", {piece: index for index, piece in enumerate(pieces)})
    _json(folder / "special_tokens_map.json", {"additional_special_tokens": codes, "eos_token": "</s>"})
    _tokenizer_config(folder, "M2M100Tokenizer", language_codes="m2m100", additional_special_tokens=codes)
    # Padding has a zero embedding, as in training, and languages small ones: no translation contains them. transformers
    # gives what follows padding in a translation the position of the padding, and CTranslate2 does not.
    _save(folder, M2M100ForConditionalGeneration, M2M100Config, len(pieces) + 108, changes, unlikely=len(pieces))


def _nllb(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import M2M100Config, M2M100ForConditionalGeneration
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES, NllbTokenizer

    tokenizer = NllbTokenizer(**_byte_pairs(["<s>", "<pad>", "</s>", "<unk>"]), src_lang="eng_Latn")
    tokenizer.save_pretrained(folder)
    _sentencepiece(folder / "sentencepiece.bpe.model", model_type="bpe")
    special = {"additional_special_tokens": FAIRSEQ_LANGUAGE_CODES, "eos_token": "</s>"}
    _json(folder / "special_tokens_map.json", special)
    _save(folder, M2M100ForConditionalGeneration, M2M100Config, len(tokenizer) + 2, changes)


def _mbart50(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import MBartConfig, MBartForConditionalGeneration
    from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES

    _sentencepiece(folder / "sentencepiece.bpe.model")
    special = {"additional_special_tokens": FAIRSEQ_LANGUAGE_CODES, "eos_token": "</s>"}
    _json(folder / "special_tokens_map.json", special)
    _tokenizer_config(folder, "MBart50Tokenizer", src_lang="en_XX", tgt_lang=None)
    size = len(_pieces(folder / "sentencepiece.bpe.model")) + 1 + 52 + 1
    settings = {"tokenizer_class": "MBart50Tokenizer", "normalize_before": True, "decoder_start_token_id": 2}
    _save(folder, MBartForConditionalGeneration, MBartConfig, size, settings | changes)


def _t5(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    _sentencepiece(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    T5Tokenizer.from_pretrained(folder).save_pretrained(folder)
    prefixes = {
        f"translation_en_to_{code}": {"prefix": f"translate English to {name}: "}
        for code, name in (("de", "German"), ("fr", "French"), ("ro", "Romanian"))
    }
    settings = {
        "decoder_start_token_id": 0,
        "task_specific_params": {"summarization": {"prefix": "summarize: "}, **prefixes},
        **_T5,
    }
    size = len(_pieces(folder / "spiece.model")) + 100 + 28
    _save(folder, T5ForConditionalGeneration, T5Config, size, settings | changes, width={})


def _mt5(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import MT5Config, MT5ForConditionalGeneration

    _sentencepiece(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    _json(folder / "special_tokens_map.json", {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"})
    _tokenizer_config(folder, "T5Tokenizer", extra_ids=0, additional_special_tokens=None)
    size = len(_pieces(folder / "spiece.model")) + 12
    _save(
        folder, MT5ForConditionalGeneration, MT5Config, size, {"decoder_start_token_id": 0, **_T5} | changes, width={}
    )


def _madlad(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    codes = ["<2en>", "<2de>", "<2fr>", "<2cs>", "<2zh>", "<2zh_Hant>", "<2tlh>"]
    _sentencepiece(folder / "spiece.model", pad_id=1, eos_id=2, unk_id=0, bos_id=-1, user_defined_symbols=codes)
    T5Tokenizer.from_pretrained(folder, extra_ids=0).save_pretrained(folder)
    settings = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 0, "feed_forward_proj": "gated-gelu"}
    settings |= {"tie_word_embeddings": False, **_T5}
    size = len(_pieces(folder / "spiece.model"))
    _save(folder, T5ForConditionalGeneration, T5Config, size, settings | changes, width={})


def _bart(folder: Path, changes: dict[str, Any]) -> None:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizer

    model = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    model.train_from_iterator(_corpus(), vocab_size=400, special_tokens=[*special, "<mask>"], show_progress=False)
    model.save_model(str(folder))
    tokenizer = BartTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = {"forced_bos_token_id": 0, "decoder_start_token_id": 2, "max_position_embeddings": 128}
    _save(folder, BartForConditionalGeneration, BartConfig, len(tokenizer), settings | changes)


def _pegasus(folder: Path, changes: dict[str, Any]) -> None:
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    _sentencepiece(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    _json(folder / "special_tokens_map.json", {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"})
    _tokenizer_config(folder, "PegasusTokenizer")
    size = len(_pieces(folder / "spiece.model")) + 105
    settings = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "max_position_embeddings": 128}
    _save(folder, PegasusForConditionalGeneration, PegasusConfig, size, settings | changes)


KINDS: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "marian": _marian,
    "m2m100": _m2m100,
    "nllb": _nllb,
    "mbart50": _mbart50,
    "madlad": _madlad,
    "t5": _t5,
    "mt5": _mt5,
    "bart": _bart,
    "pegasus": _pegasus,
}
"""Kind of checkpoint → what writes one into an existing folder."""


def _corpus() -> Iterator[str]:
    for source, target in bitext(400, seed=3):
        yield source
        yield target.capitalize()
    yield from ("translate English to German: summarize Romanian French", "0123456789 , ; : ! ?")


def _sentencepiece(path: Path, **settings: Any) -> None:
    import sentencepiece

    model = io.BytesIO()
    defaults = {"model_type": "unigram", "vocab_size": 300, "hard_vocab_limit": False, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_corpus(), model_writer=model, num_threads=1, **(defaults | settings)
    )
    path.write_bytes(model.getvalue())


def _pieces(path: Path) -> list[str]:
    import sentencepiece

    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(index) for index in range(model.get_piece_size())]


def _byte_pairs(special: list[str]) -> dict[str, Any]:
    """Vocabulary and merges of a BPE model with '▁'."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(_corpus(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(merge) for merge in model["merges"]]}


def _save(
    folder: Path,
    model_class: Any,
    config_class: Any,
    size: int,
    settings: dict[str, Any],
    width: Any = _WIDTH,
    unlikely: int | None = None,
) -> None:
    import torch

    model = model_class(config_class(vocab_size=size, **(width | settings))).eval()
    with torch.no_grad():
        width = model.config.d_model
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:  # far from uniform, so that rounding decides nothing, nor the input of a layer
                parameter.normal_(
                    0, 0.5 if "shared" in name or "embed" in name or "lm_head" in name else (32 / width) ** 0.5
                )
        if unlikely is not None:
            model.model.shared.weight[unlikely:] *= 0.1
            model.model.shared.weight[[0, model.config.pad_token_id, 3]] = 0
        if model.config.model_type == "marian":  # CTranslate2 starts from a zero embedding, as Marian does
            model.model.shared.weight[model.config.pad_token_id] = 0
    model.save_pretrained(folder)


def _tokenizer_config(folder: Path, name: str, **settings: Any) -> None:
    _json(folder / "tokenizer_config.json", {"tokenizer_class": name, **settings})


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
