"""The stage that trains a judge of meaning on labeled pairs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError, ModelError, imports_of_extra
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.io import Corpus

if TYPE_CHECKING:
    from paraloom.pairs.judging.fitting import Base

_LABEL = "label"
_MAX_TOKENS = 2**16
_UNKNOWN = 255


@dataclass(frozen=True, kw_only=True)
class TrainJudge(Fit):
    """Trains a judge of meaning, the small cross-encoder of the score `judge`, on labeled pairs.

    The pairs have `src`, `tgt` and `label`, 1 for the same meaning and 0 for another one. They may have `forward` (the
    first side says all that the second says), `backward` (the reverse), `src_formed` and `tgt_formed` (the side is well
    formed), each 0, 1 or null where it is not known, and `weight`. A missing `forward` or `backward` is taken from the
    label. Half of the pairs are read with their sides exchanged.

    Args:
        pairs: Corpora of labeled pairs.
        base: Folder of a sentence-transformers model of the family of BERT, such as all-MiniLM-L6-v2, or, for another
            language, of a multilingual one with the tokenizer of XLM-R, such as paraphrase-multilingual-MiniLM-L12-v2:
            the judge starts from its embeddings and its lowest layers. Or folder of a judge, whose training continues
            without dropout: it keeps its layers and its tokens, and its weights become the mean of those before and
            after.
        layers: Number of layers.
        teacher_layers: Layers of a larger judge that is trained first and teaches the small one; 0 for none.
        vocab_size: Number of tokens that are kept, the most frequent ones of the pairs; 0 keeps all.
        epochs: Passes over the pairs.
        batch_size: Pairs of a batch.
        learning_rate: Highest learning rate.
        max_length: Maximum number of tokens of a pair in training.

    Raises:
        DataError: When it runs: there are fewer than 50 right or 50 wrong pairs, or a column is missing.
        ModelError: When it runs: the base is neither a judge nor a sentence-transformers model of the family of BERT.
        MissingExtraError: When it runs: the extras `distill`, `onnx` or `cross-encoder` are not installed.

    Example:
        >>> TrainJudge(pairs=["labeled"], base="all-MiniLM-L6-v2").layers
        3
    """

    sentinel: ClassVar[str] = "model.onnx"
    version: ClassVar[str] = "2"  # Pairs that are set aside are cut at max_length, not at 160 tokens

    pairs: tuple[Ref, ...]
    base: Ref
    layers: int = 3
    teacher_layers: int = 0
    vocab_size: int = 14000
    epochs: float = 5.0
    batch_size: int = 256
    learning_rate: float = 2e-4
    max_length: int = 160

    def validate(self) -> None:
        if (
            min(self.layers, self.batch_size) < 1
            or min(self.vocab_size, self.teacher_layers) < 0
            or min(self.epochs, self.learning_rate) <= 0
        ):
            raise ConfigError("'layers' and 'batch_size' are 1 or more, 'epochs' and 'learning_rate' above 0")
        if not 8 <= self.max_length <= 256:
            raise ConfigError(f"key 'max_length' must be from 8 to 256, not {self.max_length}")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the judge; the figures are of pairs that were set aside."""
        with imports_of_extra("distill", "training a judge"):
            from paraloom.pairs.judging.fitting import JudgedPairs, fit_judge
            from paraloom.pairs.judging.training import JudgeConfig
        table = pa.concat_tables([_labeled(path) for path in context.paths("pairs")])
        pairs = JudgedPairs(
            sources=table["src"].to_pylist(),
            targets=table["tgt"].to_pylist(),
            labels=np.stack([_bytes(table[name]) for name in table.column_names[2:-1]], axis=1),
            weights=table["weight"].to_numpy().astype(np.float32),
        )
        pairs.check()
        config = JudgeConfig(
            epochs=self.epochs,
            batch=self.batch_size,
            learning_rate=self.learning_rate,
            max_length=self.max_length,
            seed=context.seed,
        )
        base = _base(context.inputs["base"], [*pairs.sources, *pairs.targets], self.vocab_size)
        if base.judge is not None and self.teacher_layers:
            raise ConfigError("a judge that is trained further has no teacher", remedy="Leave out 'teacher_layers'.")
        figures: dict[str, Json] = fit_judge(
            pairs, base, config, folder, layers=self.layers, teacher_layers=self.teacher_layers
        )
        return figures


def _labeled(path: Path) -> pa.Table:
    """Columns of `JudgedPairs` of a corpus, those that it lacks filled in."""
    corpus = Corpus.open(path)
    names = corpus.schema.names
    missing = [name for name in ("src", "tgt", _LABEL) if name not in names]
    if missing:
        raise DataError(
            f"column '{missing[0]}' not found",
            file=path,
            remedy="A judge is trained on pairs with the columns src, tgt and label: 1 for the same meaning, else 0.",
        )
    optional = ("forward", "backward", "src_formed", "tgt_formed", "weight")
    wanted = ["src", "tgt", _LABEL, *(name for name in optional if name in names)]
    table = pa.Table.from_batches(list(corpus.batches(wanted, label="reading")))
    known = pc.and_(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(table["src"])), 0),
                    pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(table["tgt"])), 0))  # fmt: skip
    table = table.filter(known)
    label = table[_LABEL].cast(pa.int16())
    columns = {"src": table["src"].cast(pa.string()), "tgt": table["tgt"].cast(pa.string()), "same": label}
    for name in optional[:4]:
        default = label if name in ("forward", "backward") else pa.nulls(len(table), pa.int16())
        columns[name] = table[name].cast(pa.int16()) if name in names else default
    weight = table["weight"].cast(pa.float32()) if "weight" in names else pa.array(np.ones(len(table), np.float32))
    return pa.table({**columns, "weight": pc.fill_null(weight, 1.0)})


def _bytes(column: pa.ChunkedArray) -> np.ndarray:
    values = np.asarray(pc.fill_null(column, _UNKNOWN).to_numpy())
    wrong = ~np.isin(values, (0, 1, _UNKNOWN))
    if wrong.any():
        raise DataError(f"a label is 0, 1 or null, not {values[wrong][0]}", remedy="Correct the labels.")
    return values.astype(np.uint8)


def _base(folder: Path, texts: list[str], vocab_size: int) -> Base:
    """Tokenizer and weights that a judge starts from, with the most frequent tokens."""
    from tokenizers import Tokenizer

    from paraloom.embed.transformer_vocabulary import prune, read_teacher, read_weights, transformer_config
    from paraloom.pairs.judging.export import CONFIG, JUDGE_TYPE, TOKENIZER, read_judge
    from paraloom.pairs.judging.fitting import Base
    from paraloom.text.cross_encoder import POSITIONS_AFTER_PADDING

    file = folder / CONFIG
    if file.is_file() and json.loads(file.read_text(encoding="utf-8")).get("model_type") == JUDGE_TYPE:
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        tokenizer = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
        return Base(tokenizer, _special_tokens(settings, folder), judge=read_judge(folder))
    vocabulary = read_teacher(folder)
    special_tokens = _special_tokens(vocabulary.special_tokens, folder)
    tokenizer = Tokenizer.from_str(json.dumps(vocabulary.tokenizer))
    counts = np.zeros(len(vocabulary.words), np.int64)
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        np.add.at(counts, encoding.ids, 1)
    if vocab_size:
        vocabulary = prune(vocabulary, counts, vocab_size)
    if len(vocabulary.words) > _MAX_TOKENS:
        raise ConfigError(
            f"the tokenizer has {len(vocabulary.words):,} tokens, a judge {_MAX_TOKENS:,} at most",
            file=folder,
            remedy="Set 'vocab_size' to 14000, say: the most frequent tokens of the pairs are kept.",
        )
    config, weights = transformer_config(folder), read_weights(folder)
    if "encoder.layer.0.attention.self.query.weight" not in weights:
        raise ModelError(
            "the base of a judge must be a model of the family of BERT",
            file=folder,
            remedy="Name the folder of another model, such as all-MiniLM-L6-v2.",
        )
    if config.get("model_type") in POSITIONS_AFTER_PADDING:
        # Its positions start after that of the padding.
        places = "embeddings.position_embeddings.weight"
        weights[places] = weights[places][vocabulary.pad_token_id + 1 :]
    weights["embeddings.word_embeddings.weight"] = vocabulary.words
    template = _pair_template(vocabulary.tokenizer, special_tokens)
    return Base(template, special_tokens, weights, int(config["num_attention_heads"]))


def _special_tokens(stated: dict[str, str], folder: Path) -> dict[str, str]:
    """Tokens that a judge puts around the sides."""
    from paraloom.pairs.judging.export import SPECIAL_TOKENS

    missing = [name for name in SPECIAL_TOKENS if name not in stated]
    if missing:
        raise ModelError(
            f"the base states no {missing[0]}",
            file=folder,
            remedy=f"Add {', '.join(missing)} to its tokenizer_config.json.",
        )
    return {name: stated[name] for name in SPECIAL_TOKENS}


def _pair_template(tokenizer: dict[str, Any], special_tokens: dict[str, str]) -> dict[str, Any]:
    """A tokenizer that puts the tokens around the sides as the training does, whatever its own template is."""
    from paraloom.embed.transformer_vocabulary import token_ids

    first, last, ids = special_tokens["cls_token"], special_tokens["sep_token"], token_ids(tokenizer)

    def special(token: str, side: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": side}}

    single = [special(first, 0), {"Sequence": {"id": "A", "type_id": 0}}, special(last, 0)]
    template = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}, special(last, 1)],
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in dict.fromkeys((first, last))
        },
    }
    return {**tokenizer, "post_processor": template}
