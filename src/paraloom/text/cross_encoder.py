"""Cross-encoders: models that read both sides of a pair at once, such as entailment models, from ONNX files."""

from __future__ import annotations

import glob
import json
import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s
from paraloom.core.digests import digest, file_digest, signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.text.sequences import distinct_values

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

GRAPHS = ("model.onnx", "onnx/model.onnx")
"""Name of the graph's file."""

CONFIG, TOKENIZER = "config.json", "tokenizer.json"

Activation: TypeAlias = Literal["softmax", "sigmoid", "identity"]

# A batch has as many rows as fit into this number of tokens: what stays in the cache of a processor. With a model of 6
# layers of dimension 384, batches of 512 tokens are faster by a quarter than those of 64 or of 4,096.
_BATCH_TOKENS = 512

# A pair is padded to a multiple of this number of tokens, whatever it is batched with: the length of the padded row
# decides in which order its sums are added.
_LENGTH_STEP = 8

# A product with one row takes another path through the library than one with several, and is rounded in another way.
_MIN_ROWS = 2

_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_DEFAULT_MAX_LENGTH = 512
_PAD_TOKENS = ("[PAD]", "<pad>")

POSITIONS_AFTER_PADDING = frozenset(
    [
        *("camembert", "data2vec-text", "ibert", "longformer", "mpnet", "roberta", "roberta-prelayernorm"),
        *("xlm-roberta", "xlm-roberta-xl", "xmod"),
    ]
)
"""Values of `model_type` that number positions from the id of the padding + 1: those before are never used."""

_ENTAILMENT = re.compile(r"entail", re.IGNORECASE)
_PARAPHRASE = re.compile(r"(is[_ -]?)?(paraphrases?|duplicates?|equivalent)$", re.IGNORECASE)


@dataclass(frozen=True)
class Readout:
    """Conversion of the outputs of a cross-encoder to one value."""

    index: int
    activation: Activation
    label: str = ""

    def values(self, logits: npt.NDArray[np.floating]) -> Float32s:
        exact = logits.astype(np.float64)
        if self.activation == "softmax":
            powers = np.exp(exact - exact.max(axis=1, keepdims=True))
            return (powers[:, self.index] / powers.sum(axis=1)).astype(np.float32)
        chosen = exact[:, self.index]
        return (chosen if self.activation == "identity" else np.exp(-np.logaddexp(0, -chosen))).astype(np.float32)


@dataclass(frozen=True, eq=False)
class CrossEncoder:
    """A cross-encoder in ONNX format; the value of a pair does not depend on the pairs that are processed with it."""

    session: InferenceSession
    tokenizer: Tokenizer
    pad_id: int
    max_length: int
    readout: Readout
    one_by_one: bool
    token_types: bool
    file: Path
    digest: str = ""

    @property
    def signature(self) -> str:
        """Kind of the value, and the digest of the model."""
        value = f"{self.readout.activation}({self.readout.label or self.readout.index})"
        return signature("cross-encoder", value=value, max_length=self.max_length, digest=self.digest or "none")

    @classmethod
    def load(cls, folder: str | Path, *, file: str = "", label: str = "") -> CrossEncoder:
        """Load a cross-encoder from a folder with an ONNX graph, `config.json` and `tokenizer.json`."""
        folder = Path(folder)
        graph = find_graph(folder, file)
        config = _read_json(folder / CONFIG)
        if not (folder / TOKENIZER).is_file():
            raise ModelError(
                f"{TOKENIZER} not found",
                file=folder,
                remedy="Save the tokenizer as transformers' fast tokenizers do: AutoTokenizer.from_pretrained(…)"
                ".save_pretrained(FOLDER).",
            )
        session, tokenizer = _open(graph, folder / TOKENIZER)
        settings = _read_json(folder / "tokenizer_config.json", optional=True)
        pad_id = _pad_id(tokenizer, settings, config, folder / TOKENIZER)
        max_length = _max_length(settings, config, pad_id)
        if tokenizer.num_special_tokens_to_add(True) == 0:
            raise ModelError(
                "the tokenizer puts nothing between the two texts of a pair",
                file=folder / TOKENIZER,
                remedy="Give the folder of a cross-encoder, whose tokenizer has a template for pairs.",
            )
        if max_length < tokenizer.num_special_tokens_to_add(True) + 2:
            raise ModelError(
                f"a maximum length of {max_length} tokens leaves none to the texts",
                file=folder,
                remedy=f"Correct max_position_embeddings in {CONFIG} or model_max_length in tokenizer_config.json.",
            )
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length, strategy="longest_first")
        untested = cls(
            session=session,
            tokenizer=tokenizer,
            pad_id=pad_id,
            max_length=max_length,
            readout=Readout(0, "identity"),
            one_by_one=_contains(graph, b"DynamicQuantize"),
            token_types="token_type_ids" in (settings.get("model_input_names") or ["token_type_ids"]),
            file=graph,
            digest=_digest(folder, graph),
        )
        outputs = untested.logits([("a", "b")]).shape[1]
        readout = find_readout(config, outputs, folder, label, _sentence_transformers_activation(folder, config))
        return cls(**{**vars(untested), "readout": readout})

    def predict(self, firsts: Sequence[str], seconds: Sequence[str]) -> Float32s:
        """Values of ordered pairs: of entailment models, the probability that the first entails the second."""
        values = distinct_values([firsts, seconds], lambda pairs: self.readout.values(self.logits(pairs)))
        return values.astype(np.float32)

    def logits(self, pairs: Sequence[tuple[str, ...]]) -> Float32s:
        # One by one, as a batch of the tokenizer would start threads.
        encodings = [self.tokenizer.encode(first, second) for first, second in pairs]
        rows: dict[int, Float32s] = {}
        for batch, length in self._batches([len(encoding.ids) for encoding in encodings]):
            rows.update(zip(batch, self._run([encodings[row] for row in batch], length), strict=False))
        return np.stack([rows[row] for row in range(len(pairs))])

    def _batches(self, lengths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Rows of each batch and the length to which they are padded, from short to long."""
        if self.one_by_one:
            yield from (([row], length) for row, length in enumerate(lengths))
            return
        buckets: dict[int, list[int]] = {}
        for row, length in enumerate(lengths):
            padded = min(-(-length // _LENGTH_STEP) * _LENGTH_STEP, self.max_length)
            buckets.setdefault(padded, []).append(row)
        for padded, rows in sorted(buckets.items()):
            size = max(_BATCH_TOKENS // padded, _MIN_ROWS)
            for start in range(0, len(rows), size):
                batch = rows[start : start + size]
                yield batch * _MIN_ROWS if len(batch) < _MIN_ROWS else batch, padded

    def _run(self, encodings: Sequence[Encoding], length: int) -> Float32s:
        """Outputs `(rows, labels)` of one batch."""
        shape = (len(encodings), length)
        arrays = {
            "input_ids": np.full(shape, self.pad_id, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        for row, encoding in enumerate(encodings):
            tokens = slice(len(encoding.ids))
            arrays["input_ids"][row, tokens] = encoding.ids
            arrays["attention_mask"][row, tokens] = 1
            if self.token_types:
                arrays["token_type_ids"][row, tokens] = encoding.type_ids
        feed = {item.name: arrays[item.name].astype(_TYPES[item.type]) for item in self.session.get_inputs()}
        try:
            (logits,) = self.session.run(None, feed)
        except Exception as error:  # the library's errors have no base of their own
            raise ModelError(
                f"the graph cannot process a pair: {error}",
                file=self.file,
                remedy=f"Check that {CONFIG} and {TOKENIZER} belong to this graph.",
            ) from None
        values = np.asarray(logits, np.float32)
        if values.ndim == 1 and len(values) == len(encodings):
            values = values[:, None]
        if values.ndim != 2 or len(values) != len(encodings):
            raise ModelError(
                f"expected an output of the shape (pairs, labels), got {values.shape} for {len(encodings)} pairs",
                file=self.file,
                remedy="Export the model as a sequence classifier, with its classification head.",
            )
        if not np.isfinite(values).all():
            raise ModelError(
                "the graph returned infinite or undefined values", file=self.file, remedy="Use a float32 graph."
            )
        return values


def find_graph(folder: Path, file: str = "") -> Path:
    if not folder.is_dir():
        raise ModelError("folder not found", file=folder, remedy="Give the folder of a cross-encoder in ONNX format.")
    present = [
        path.relative_to(folder).as_posix() for path in sorted([*folder.glob("*.onnx"), *folder.glob("*/*.onnx")])
    ]
    if file:
        # A file elsewhere would not be part of the digest of the folder.
        if Path(file).is_absolute() or ".." in Path(file).parts or not (folder / file).is_file():
            listed = f"Graphs in the folder: {', '.join(present)}." if present else "The folder has no .onnx file."
            raise ModelError(f"{file} not found in the folder", file=folder, remedy=listed)
        return folder / file
    for name in GRAPHS:
        if name in present:
            return folder / name
    if not present:
        raise ModelError(
            "no .onnx file found",
            file=folder,
            remedy="Export the model first, with `optimum-cli export onnx --task text-classification` or torch.onnx.",
        )
    if len(present) > 1:
        raise ModelError(
            f"{len(present)} graphs found: {', '.join(present)}",
            file=folder,
            remedy=f"Name one of them: --judge '{folder}?file={present[0]}' (key 'judge_file').",
        )
    return folder / present[0]


def find_readout(
    config: Mapping[str, object], outputs: int, folder: Path, label: str = "", activation: str = ""
) -> Readout:
    """Decide which output of a cross-encoder is the value, by the labels in its configuration."""
    if outputs == 1:
        return _single_readout(folder, label, activation)
    labels = _labels(config, outputs, folder)
    kind: Activation = "sigmoid" if config.get("problem_type") == "multi_label_classification" else "softmax"
    remedy = (
        f"Name the label whose probability is the score: --judge '{folder}?label={labels[0]}' (key "
        f"'judge_label'); labels: {', '.join(labels)}."
    )
    if label:
        matches = [index for index, name in enumerate(labels) if name.lower() == label.lower()]
        if len(matches) != 1:
            raise ConfigError(f"unknown label '{label}'{nearest(label, labels)}", file=folder, remedy=remedy)
    else:
        matches = [index for index, name in enumerate(labels) if _ENTAILMENT.match(name)]
        if not matches and len(labels) == 2:
            matches = [index for index, name in enumerate(labels) if _PARAPHRASE.match(name)]
        if len(matches) != 1:
            problem = "several labels say" if matches else "no label says"
            raise ConfigError(f"{problem} 'entailment' or 'paraphrase'", file=folder, remedy=remedy)
    return Readout(matches[0], kind, labels[matches[0]])


def _single_readout(folder: Path, label: str, activation: str) -> Readout:
    if label:
        raise ConfigError(
            f"label '{label}' was given, but the model has one output", file=folder, remedy="Leave the label out."
        )
    if activation not in ("", "Sigmoid", "Identity"):
        raise ModelError(
            f"unknown activation '{activation}'", file=folder / CONFIG, remedy="Expected Sigmoid or Identity."
        )
    return Readout(0, "sigmoid" if activation == "Sigmoid" else "identity")


def _labels(config: Mapping[str, Any], outputs: int, folder: Path) -> list[str]:
    """Labels of the outputs in order; without any in the configuration, the names that transformers gives them."""
    given = config.get("id2label") or {str(index): f"LABEL_{index}" for index in range(outputs)}
    try:
        by_index = {int(index): str(name) for index, name in given.items()}
    except (AttributeError, ValueError):
        by_index = {}
    if sorted(by_index) != list(range(outputs)):
        raise ModelError(
            f"'id2label' does not name the {outputs} outputs of the graph",
            file=folder / CONFIG,
            remedy="Check that configuration and graph belong together.",
        )
    return [by_index[index] for index in range(outputs)]


def _open(graph: Path, tokenizer_file: Path) -> tuple[InferenceSession, Tokenizer]:
    """A session of the graph, checked, and the tokenizer."""
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError.for_verb("a cross-encoder", "cross-encoder") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised
    try:
        session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no base of their own
        raise ModelError(
            f"the graph cannot be loaded: {error}", file=graph, remedy="Export or download the model again."
        ) from None
    try:
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(
            f"the tokenizer cannot be read: {error}", file=tokenizer_file, remedy="Save or download the model again."
        ) from None
    _check_graph(session, graph)
    return session, tokenizer


def _check_graph(session: InferenceSession, graph: Path) -> None:
    known = ("input_ids", "attention_mask", "token_type_ids")
    inputs = {item.name: item.type for item in session.get_inputs()}
    unknown = [name for name, type_ in inputs.items() if name not in known or type_ not in _TYPES]
    if unknown or "input_ids" not in inputs:
        listed = ", ".join(f"{name} {type_}" for name, type_ in inputs.items())
        raise ModelError(
            f"expected the integer inputs {', '.join(known)}, of which the last two may be missing, got {listed}",
            file=graph,
            remedy="Export the model as a sequence classifier.",
        )
    outputs = session.get_outputs()
    if len(outputs) != 1:
        raise ModelError(
            f"expected one output, got {', '.join(item.name for item in outputs)}",
            file=graph,
            remedy="Export the logits only, without hidden states.",
        )


def _read_json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    if optional and not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ModelError(
            f"{path.name} not found", file=path.parent, remedy="Copy all files of the model into the folder."
        ) from None
    except ValueError as error:
        raise ModelError(
            f"the file is damaged: {error}", file=path, remedy="Save or download the model again."
        ) from None
    if not isinstance(value, dict):
        raise ModelError("the file is damaged: not a JSON object", file=path, remedy="Save the model again.")
    return value


def _pad_id(tokenizer: Tokenizer, settings: Mapping[str, Any], config: Mapping[str, Any], file: Path) -> int:
    """Id of the padding: of the tokenizer, or else of the model."""
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    token = settings.get("pad_token")
    token = token.get("content") if isinstance(token, dict) else token
    ids = [
        tokenizer.token_to_id(token) if token else None,
        config.get("pad_token_id"),
        *map(tokenizer.token_to_id, _PAD_TOKENS),
    ]
    known = [value for value in ids if value is not None]
    if not known:
        raise ModelError("the tokenizer has no padding token", file=file, remedy=f"Set 'pad_token_id' in {CONFIG}.")
    return int(known[0])


def _max_length(settings: Mapping[str, object], config: Mapping[str, object], pad_id: int) -> int:
    """Maximum number of tokens: the positions that the model has, or fewer if the tokenizer says so."""
    positions = config.get("max_position_embeddings") or config.get("n_positions")
    if isinstance(positions, int) and config.get("model_type") in POSITIONS_AFTER_PADDING:
        positions -= pad_id + 1
    # A tokenizer without a limit has a huge number.
    given = (positions, settings.get("model_max_length"))
    limits = [int(limit) for limit in given if isinstance(limit, (int, float)) and limit < 1_000_000]
    return min(limits, default=_DEFAULT_MAX_LENGTH)


def _sentence_transformers_activation(folder: Path, config: Mapping[str, object]) -> str:
    """Name of the activation that the configuration of sentence-transformers has, such as 'Sigmoid', or ''."""
    own = config.get("sentence_transformers")
    beside = _read_json(folder / "config_sentence_transformers.json", optional=True)
    name = (
        (own.get("activation_fn") if isinstance(own, dict) else None)
        or config.get("sbert_ce_default_activation_function")  # before version 4
        or beside.get("activation_fn")
        or ""
    )
    return str(name).rpartition(".")[2]


def _contains(path: Path, text: bytes) -> bool:
    """True if a file contains some bytes; graphs name their operators in plain text."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0


def _digest(folder: Path, graph: Path) -> str:
    """Digest of everything that the values depend on: the graph and the weights beside it, and the JSON files."""
    names = (CONFIG, TOKENIZER, "tokenizer_config.json")
    files = [*graph.parent.glob(f"{glob.escape(graph.name)}*"), *(folder / name for name in names)]
    return digest({path.name: file_digest(path) for path in files if path.is_file()})[:12]
