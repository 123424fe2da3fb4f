"""COMET and MetricX: metrics of translation that were learned from human ratings, from local folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.devices import default_device
from paraloom.core.digests import digest, file_digest, signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.core.hub import quiet
from paraloom.text.sequences import distinct_values

if TYPE_CHECKING:
    from types import ModuleType

    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


Values: TypeAlias = Float32s

_HPARAMS = "hparams.yaml"
_CHECKPOINTS = ("model.safetensors", "checkpoints/model.safetensors", "checkpoints/model.ckpt")
_KINDS = {"referenceless_regression_metric": 4, "regression_metric": 6, "unified_metric": 1}
"""`class_identifier` of a COMET model, and how many vectors its estimator reads."""

_ENCODERS = ("xlm-roberta", "xlm-roberta-xl")
_POSITIONS_AFTER_PADDING = 2
_SEPARATORS = 2
_VARIANCE = 1e-12

_BATCH_TOKENS = 4096

_REGRESSION_TOKEN = 250089  # <extra_id_10> of mT5
WORST = 25.0  # Highest value of MetricX, in errors

_MAX_TOKENS = 1536


@dataclass(frozen=True, eq=False)
class Comet:
    """A COMET model (Rei et al. 2020, 2022): XLM-R, the mixture of its layers, and a feed-forward estimator."""

    kind: str
    hparams: dict[str, Any]
    encoder: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    weights: dict[str, torch.Tensor]
    digest: str

    @property
    def signature(self) -> str:
        return signature("comet", kind=self.kind, digest=self.digest)

    @property
    def needs_reference(self) -> bool:
        """True if it compares a translation with a reference, too."""
        return self.kind == "regression_metric"

    @classmethod
    def load(cls, folder: str | Path) -> Comet:
        """Load a model from its folder; nothing is downloaded, and nothing but tensors read from the checkpoint."""
        folder = Path(folder)
        auto = _transformers()
        hparams = _read_hparams(folder)
        kind, file = str(hparams["class_identifier"]), _checkpoint(folder)
        config = _of_encoder(auto.AutoConfig, folder, hparams)
        if config.model_type not in _ENCODERS:
            raise ModelError(
                f"an encoder of type '{config.model_type}' is unknown",
                file=folder,
                remedy=f"COMET models of the types {', '.join(_ENCODERS)} can be read.",
            )
        tensors = _tensors(file)
        encoder = auto.AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
        needed = [*_mixture_names(hparams, config.num_hidden_layers), *_estimator_names(hparams)]
        missing = [*_load_encoder(encoder, tensors), *(name for name in needed if name not in tensors)]
        if not missing and tensors["estimator.ff.0.weight"].shape[1] != _KINDS[kind] * config.hidden_size:
            missing = [f"an estimator that reads {_KINDS[kind]} vectors of {config.hidden_size} numbers"]
        if missing:
            raise ModelError(
                f"the checkpoint lacks {missing[0]}", file=file, remedy="Check that all files are of one model."
            )
        tokenizer = _of_encoder(auto.AutoTokenizer, folder, hparams)
        device = _device()
        weights = {name: tensors[name].float().to(device) for name in needed}
        content = digest([hparams, config.to_json_string(), tokenizer.get_vocab(), file_digest(file)])[:12]
        return cls(kind, hparams, encoder.float().eval().to(device), tokenizer, weights, content)

    def predict(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] = ()) -> Values:
        """Score n translations, about 0 to 1, higher is better, float32 `(n,)`; NaN where a text is empty."""
        sides = [translations, sources, *([references] if self.needs_reference else [])]
        return distinct_values(sides, self._scores).astype(np.float32)

    def _scores(self, rows: list[tuple[str, ...]]) -> Values:
        """Scores of distinct rows of translation, source and reference."""
        import torch

        if self.kind == "unified_metric":
            features = self._vectors([self._joined(*row) for row in rows])
        else:
            texts = sorted({text for row in rows for text in row})
            vectors = self._vectors([self._ids(text) for text in texts])
            number = {text: index for index, text in enumerate(texts)}
            sides = [vectors[[number[text] for text in side]] for side in zip(*rows, strict=True)]
            translation = sides[0]
            compared = [[translation * side, (translation - side).abs()] for side in sides[1:]]
            if self.needs_reference:
                features = torch.cat([translation, sides[2], *compared[1], *compared[0]], dim=1)
            else:
                features = torch.cat([translation, sides[1], *compared[0]], dim=1)
        with torch.inference_mode():
            return np.asarray(self._estimate(features)[:, 0].cpu().numpy(), np.float32)

    @property
    def _max_tokens(self) -> int:
        return int(self.encoder.config.max_position_embeddings) - _POSITIONS_AFTER_PADDING

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, truncation=True, max_length=self._max_tokens - 2).input_ids
        return ids

    def _joined(self, translation: str, source: str) -> list[int]:
        """Both texts in one sequence, as the encoder was trained on pairs."""
        first, second = self._ids(translation), self._ids(source)
        start, end = first[:1], first[-1:]
        return [*start, *first[1:-1], *end * _SEPARATORS, *second[1:-1], *end][: self._max_tokens]

    def _vectors(self, rows: Sequence[list[int]]) -> torch.Tensor:
        """One vector of each sequence of tokens, `(n, d)`."""
        import torch

        vectors: dict[int, torch.Tensor] = {}
        device = self.encoder.device
        for batch in _batches([len(row) for row in rows]):
            width = max(len(rows[index]) for index in batch)
            ids = torch.full((len(batch), width), self.encoder.config.pad_token_id, device=device)
            mask = torch.zeros((len(batch), width), device=device)
            for line, index in enumerate(batch):
                ids[line, : len(rows[index])] = torch.tensor(rows[index], device=device)
                mask[line, : len(rows[index])] = 1
            with torch.inference_mode():
                states = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
                vectors.update(zip(batch, self._pooled(self._mixed(states, mask), mask), strict=True))
        return torch.stack([vectors[index] for index in range(len(rows))])

    def _mixed(self, states: Sequence[torch.Tensor], mask: torch.Tensor) -> torch.Tensor:
        """The layers, each normalized over its sentence if the model says so, weighted and added up: `(n, t, d)`."""
        import torch

        layer = _layer(self.hparams)
        if layer != "mix":
            return states[int(layer)]
        if self.hparams.get("layer_norm", True):
            states = [_normalized(state, mask) for state in states]
        scalars = [self.weights[f"layerwise_attention.scalar_parameters.{index}"] for index in range(len(states))]
        logits = torch.cat(scalars)
        # Models of which the settings say something else than 'sparsemax' were trained with softmax.
        sparse = self.hparams.get("layer_transformation") == "sparsemax"
        shares = _sparsemax(logits) if sparse else torch.softmax(logits, 0)
        return self.weights["layerwise_attention.gamma"] * torch.einsum("l,lntd->ntd", shares, torch.stack([*states]))

    def _pooled(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        pool = "cls" if self.kind == "unified_metric" else self.hparams.get("pool", "avg")
        if pool == "avg":
            return (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        if pool == "max":
            return states.masked_fill(mask.unsqueeze(-1) == 0, float("-inf")).max(1).values
        return states[:, 0]

    def _estimate(self, features: torch.Tensor) -> torch.Tensor:
        import torch

        names = _estimator_names(self.hparams)
        for weight, bias in zip(names[::2], names[1::2], strict=True):
            features = torch.nn.functional.linear(features, self.weights[weight], self.weights[bias])
            last = weight == names[-2]
            if activation := self.hparams.get("final_activation" if last else "activations"):
                features = _activation(str(activation), features)
        return features


@dataclass(frozen=True, eq=False)
class MetricX:
    """MetricX-24 without references (Juraska et al. 2024): an mT5 whose logit of one token is the error."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    digest: str
    needs_reference: bool = False

    @property
    def signature(self) -> str:
        return signature("metricx-24", digest=self.digest)

    @classmethod
    def load(cls, folder: str | Path) -> MetricX:
        """Load a model from its folder: config.json, weights, and the tokenizer of mT5; nothing is downloaded."""
        folder = Path(folder)
        auto = _transformers()
        if "metricx-23" in f"{folder.absolute()}".lower():
            raise ConfigError("MetricX-23 reads its input in another order", remedy="Take a model of MetricX-24.")
        config = _loaded(auto.AutoConfig, folder)
        if config.model_type != "mt5" or config.vocab_size <= _REGRESSION_TOKEN:
            raise ModelError(
                f"not a model of MetricX-24: an {config.model_type} of {config.vocab_size:,} tokens",
                file=folder,
                remedy="Name the folder of a model such as google/metricx-24-hybrid-large-v2p6.",
            )
        tokenizer = _loaded(auto.AutoTokenizer, folder, "Copy those of google/mt5-large into the folder, too.")
        network = _loaded(auto.MT5ForConditionalGeneration, folder, weights_only=True, dtype="auto")
        files = sorted(path for pattern in ("*.safetensors", "*.bin") for path in folder.glob(pattern))
        content = digest([config.to_json_string(), tokenizer.get_vocab(), [file_digest(path) for path in files]])[:12]
        return cls(network.eval().to(_device()), tokenizer, content)

    def predict(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] = ()) -> Values:
        """Errors of n translations, 0 (none) to 25, lower is better, float32 `(n,)`; NaN where a text is empty."""
        return distinct_values([translations, sources], self._errors).astype(np.float32)

    def _errors(self, rows: list[tuple[str, ...]]) -> Values:
        import torch

        texts = [f"source: {source} candidate: {translation}" for translation, source in rows]
        ids = [self.tokenizer(text, truncation=True, max_length=_MAX_TOKENS).input_ids[:-1] for text in texts]
        errors = np.zeros(len(rows), np.float32)
        device = self.network.device
        for batch in _batches([len(row) for row in ids]):
            encoded = self.tokenizer.pad({"input_ids": [ids[index] for index in batch]}, return_tensors="pt").to(device)
            start = torch.zeros((len(batch), 1), dtype=torch.long, device=device)
            with torch.inference_mode():
                logits = self.network(**encoded, decoder_input_ids=start).logits[:, 0, _REGRESSION_TOKEN]
            errors[batch] = logits.float().clamp(0, WORST).cpu().numpy()
        return errors


def load_metric(name: str, folder: Path) -> Comet | MetricX:
    """The metric of a folder; name is `comet` or `metricx`."""
    return Comet.load(folder) if name == "comet" else MetricX.load(folder)


def compares_references(folder: Path) -> bool:
    """True if the COMET model of a folder reads references; asked without loading it."""
    return _read_hparams(folder)["class_identifier"] == "regression_metric"


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows of each batch, from short to long."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _normalized(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """States with mean 0 and variance 1 over all tokens and dimensions of each sentence."""
    there = mask[:, :, None]
    count = (mask.sum(1) * states.shape[2])[:, None, None]
    mean = (states * there).sum((1, 2), keepdim=True) / count
    variance = (((states - mean) * there) ** 2).sum((1, 2), keepdim=True) / count
    return (states - mean) / (variance + _VARIANCE).sqrt()


def _sparsemax(logits: torch.Tensor) -> torch.Tensor:
    """The projection of a vector onto the probability simplex (Martins and Astudillo 2016)."""
    import torch

    ordered = logits.sort(descending=True).values
    numbers = torch.arange(1, len(logits) + 1, device=logits.device)
    excess = ordered.cumsum(0) - 1
    support = int((numbers * ordered > excess).sum())
    return (logits - excess[support - 1] / support).clamp(min=0)


def _activation(name: str, values: torch.Tensor) -> torch.Tensor:
    if name.lower() not in ("tanh", "sigmoid"):
        raise ModelError(f"unknown activation '{name}'", remedy="COMET models with Tanh and Sigmoid can be read.")
    return values.tanh() if name.lower() == "tanh" else values.sigmoid()


def _layer(hparams: Mapping[str, object]) -> str:
    return str(hparams.get("sent_layer" if hparams["class_identifier"] == "unified_metric" else "layer", "mix"))


def _mixture_names(hparams: Mapping[str, object], layers: int) -> list[str]:
    """Names of the weights of the mixture of an encoder's layers; none where a single layer is read."""
    if _layer(hparams) != "mix":
        return []
    return ["layerwise_attention.gamma", *(f"layerwise_attention.scalar_parameters.{n}" for n in range(layers + 1))]


def _estimator_names(hparams: dict[str, Any]) -> list[str]:
    """Names of the weights of the estimator: a linear map, an activation and dropout for each hidden layer."""
    layers = range(len(hparams["hidden_sizes"]) + 1)
    return [f"estimator.ff.{3 * layer}.{part}" for layer in layers for part in ("weight", "bias")]


def _read_hparams(folder: Path) -> dict[str, Any]:
    import yaml

    path = folder / _HPARAMS
    try:
        hparams = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        raise ModelError(
            f"{_HPARAMS} not found",
            file=folder,
            remedy="Name the folder of a COMET model as it is published, such as Unbabel/wmt20-comet-qe-da.",
        ) from None
    except yaml.YAMLError as error:
        raise ModelError(f"the file is damaged: {error}", file=path, remedy="Copy it again.") from None
    kind = hparams.get("class_identifier") if isinstance(hparams, dict) else None
    if kind not in _KINDS:
        raise ModelError(
            f"a COMET model of class '{kind}' is unknown{nearest(str(kind), [*_KINDS])}",
            file=path,
            remedy=f"Classes: {', '.join(_KINDS)}.",
        )
    sizes = hparams.get("hidden_sizes")
    if not isinstance(sizes, list) or not sizes:
        raise ModelError("'hidden_sizes' is missing", file=path, remedy="Copy it again.")
    return dict(hparams)


def _checkpoint(folder: Path) -> Path:
    """The first of the files that can hold the weights of a model."""
    for name in _CHECKPOINTS:
        if (folder / name).is_file():
            return folder / name
    raise ModelError(f"no checkpoint found: {', '.join(_CHECKPOINTS)}", file=folder, remedy="Copy the whole folder.")


def _load_encoder(encoder: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """Give an encoder its weights; returns what is missing."""
    prefix = "encoder.model."
    state = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    try:
        return [*encoder.load_state_dict(state, strict=False).missing_keys]
    except RuntimeError:
        return ["shapes that the configuration says"]


def _tensors(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a checkpoint; whatever else it has is refused."""
    import pickle

    import torch
    from safetensors.torch import load_file

    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        saved = torch.load(file, map_location="cpu", weights_only=True)
        return dict(saved["state_dict"])
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"the checkpoint has more than tensors, which could run code: {str(error).splitlines()[0]}",
            file=file,
            remedy="Where you trust it, save its state_dict by safetensors.torch.save_file as model.safetensors, in "
            "the same folder.",
        ) from None
    except Exception as error:  # of torch, zipfile and safetensors
        raise ModelError(f"the checkpoint cannot be read: {error}", file=file, remedy="Copy it again.") from None


def _of_encoder(kind: object, folder: Path, hparams: Mapping[str, object]) -> Any:
    """Configuration or tokenizer of the encoder: beside the checkpoint, or in the local cache of Hugging Face."""
    name = str(hparams.get("pretrained_model"))
    beside = (folder / "config.json").is_file()
    return _loaded(
        kind,
        folder if beside else name,
        f"COMET models come without that of their encoder: `hf download {name} config.json tokenizer.json "
        f"tokenizer_config.json --local-dir {folder}`.",
    )


def _loaded(kind: Any, folder: Path | str, remedy: str = "Copy the whole folder.", **options: Any) -> Any:
    """What a class of transformers loads from a folder, without code from it."""
    try:
        with quiet():
            return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # of transformers, tokenizers and torch
        what = kind.__name__.removeprefix("Auto").lower()
        message = (str(error).splitlines() or [repr(error)])[0]
        raise ModelError(f"the {what} cannot be loaded: {message}", file=Path(folder), remedy=remedy) from None


def _device() -> str:
    return default_device().partition(",")[0]


def _transformers() -> ModuleType:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtraError.for_verb("a learned metric", "train") from None
    return transformers
