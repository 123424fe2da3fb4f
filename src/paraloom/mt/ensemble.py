"""Ensembles: several Marian models with the same subwords that translate together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.devices import default_device, parse_device, worker_number
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError
from paraloom.core.paths import path_below
from paraloom.core.progress import loading
from paraloom.core.protocols import Variant
from paraloom.core.seeds import spawn_seed
from paraloom.mt.checkpoint import CHECKPOINT, copy_file
from paraloom.mt.choice import choose
from paraloom.mt.data import END_ID, pad
from paraloom.mt.decoding import Beam, Decoding, as_decoding, describe_decoding
from paraloom.mt.download import download
from paraloom.mt.engine import by_max_length
from paraloom.mt.families.base import Codec
from paraloom.mt.families.marian import open_checkpoint
from paraloom.mt.splitting import join_variants, split_text
from paraloom.mt.subwords import SUBWORD_FILES, UNKNOWN, read_vocabulary
from paraloom.mt.texts import as_texts
from paraloom.text.normalize import normalize

ENSEMBLE_FILE = "ensemble.json"
"""File by which a folder is known as an ensemble: the subfolders of its members, and the digests of their weights."""

JOINER = "+"
"""Between the names of the members of an ensemble."""

_BATCH_WORDS = 2048
"""Subwords of all hypotheses that are decoded at a time."""


class EnsembleTranslator:
    """Several translators that choose each word together, by the average of their log-probabilities.

    Better than any of its members, usually by about a point of BLEU, and as slow as all of them together, in torch:
    CTranslate2 does not have ensembles. That is for training data which is made once, as by Burchell et al. (2022).
    Average the checkpoints of one training instead (`average_checkpoints`) to have a single model.

    Reference:
        Marian sums the log-probabilities of its models (Junczys-Dowmunt et al. 2018, "Marian: Fast neural machine
        translation in C++"), which ranks translations as their average does; fairseq averages probabilities.
    """

    def __init__(
        self,
        checkpoints: Sequence[str | Path],
        decode: str | Decoding | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        device: str | None = None,
        threads: int = 1,
    ) -> None:
        self.checkpoints = [Path(folder) for folder in checkpoints]
        self.decoding: Decoding = Beam() if decode is None else as_decoding(decode)
        if getattr(self.decoding, "shortlist", 0):
            raise ConfigError("an ensemble has no shortlist", remedy="Decode without shortlist=1.")
        parts = parse_device(device or default_device()).parts()
        self.device = str(parts[worker_number() % len(parts)])
        self.threads = threads
        check_members(self.checkpoints)
        self._codec: Codec = open_checkpoint(self.checkpoints[0], source, target)
        self.source, self.target = self._codec.source, self._codec.target
        self._pieces = read_vocabulary(self.checkpoints[0])
        self._ids = {piece: number for number, piece in enumerate(self._pieces)}
        self._networks: Any = None

    @classmethod
    def load(
        cls, models: Sequence[str | Path], *, decode: str | Decoding = "beam:5", **options: Any
    ) -> EnsembleTranslator:
        """Load an ensemble by the names or folders of its members."""
        with loading(f"the ensemble {JOINER.join(map(str, models))}"):
            return cls([find_checkpoint(model) for model in models], decode, **options)

    @classmethod
    def open(cls, folder: str | Path, decode: str | Decoding | None = None, **options: Any) -> EnsembleTranslator:
        """Open a folder that `save` wrote."""
        folder = Path(folder)
        try:
            saved = json.loads((folder / ENSEMBLE_FILE).read_text(encoding="utf-8"))
            members = [path_below(folder, member["folder"], folder / ENSEMBLE_FILE) for member in saved["members"]]
            languages = {"source": saved["source"], "target": saved["target"]}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ModelError(f"not an ensemble: {error}", file=folder, remedy="Make the ensemble again.") from None
        return cls(members, decode, **languages | options)

    def save(self, folder: str | Path) -> Path:
        """Copy the members to a folder that `open` reads."""
        folder = Path(folder)
        members = []
        for number, checkpoint in enumerate(self.checkpoints, 1):
            own = folder / f"member-{number}"
            own.mkdir(parents=True, exist_ok=True)
            for path in sorted(path for path in checkpoint.iterdir() if path.suffix in (".json", ".spm", ".md")):
                shutil.copyfile(path, own / path.name)
            copy_file(checkpoint / "model.safetensors", own / "model.safetensors")
            members.append({"folder": own.name, "weights": file_digest(own / "model.safetensors")})
        saved = {"members": members, "source": self.source, "target": self.target}
        (folder / ENSEMBLE_FILE).write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
        return folder

    @property
    def signature(self) -> str:
        """Digest of the weights of all members, and the decoding."""
        weights = [file_digest(folder / "model.safetensors")[:12] for folder in self.checkpoints]
        return signature(
            "ensemble",
            models=JOINER.join(weights),
            languages=f"{self.source}-{self.target}",
            decode=describe_decoding(self.decoding),
        )

    def with_decoding(self, decode: str | Decoding) -> EnsembleTranslator:
        """The same models with another decoding."""
        options: dict[str, Any] = {"source": self.source, "target": self.target}
        other = EnsembleTranslator(self.checkpoints, decode, device=self.device, threads=self.threads, **options)
        other._networks = self._networks
        return other

    def __repr__(self) -> str:
        members = JOINER.join(folder.name for folder in self.checkpoints)
        return (
            f"<EnsembleTranslator {self.source or '?'} → {self.target or '?'}: {members}; "
            f"decode='{describe_decoding(self.decoding)}', device='{self.device}'>"
        )

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """Translate sentences; one that is longer than the models take is split."""
        texts: list[str] = normalize(as_texts(sentences)).to_pylist()
        limit = self._codec.max_source
        parts = [[text] for text in texts]
        # No text has more subwords than bytes.
        for row in [row for row, text in enumerate(texts) if len(text.encode()) + 2 > limit]:
            parts[row] = split_text(texts[row], limit, self._lengths)
        flat = iter(self._decoded([part for row in parts for part in row], self.decoding, seed))
        groups = [list(islice(flat, len(row))) for row in parts]
        return [group[0] if len(group) == 1 else join_variants(group, self.target) for group in groups]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Score given translations."""
        rows = self._codec.encode(normalize(as_texts(sources)).to_pylist())
        translations = self._codec.encode_target(normalize(as_texts(targets)).to_pylist())
        ends = [[*row, self._pieces[END_ID]] for row in translations]
        limit = self._codec.max_target
        fits = [row for row, pair in enumerate(zip(rows, ends, strict=True)) if max(map(len, pair)) <= limit]
        scores = [(nan, len(row)) for row in ends]
        for batch in _batches(fits, [len(rows[row]) + len(ends[row]) for row in fits], 1):
            source, mask = self._padded([rows[row] for row in batch])
            target, _ = self._padded([ends[row] for row in batch])
            sums = sum(network.score(source, mask, target).double().sum(1) for network in self._loaded())
            for row, value in zip(batch, (sums / len(self.checkpoints)).tolist(), strict=True):
                scores[row] = (value, len(ends[row]))
        return scores

    def _lengths(self, texts: list[str]) -> list[int]:
        return [len(row) for row in self._codec.encode(texts)]

    def _decoded(self, texts: Sequence[str], decoding: Decoding, seed: int) -> list[list[Variant]]:
        if decoding.proposal is not None:
            return choose(decoding, lambda drawn: self._decoded(texts, drawn, seed))
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        nonempty = [row for row, text in enumerate(texts) if text]
        rows = self._codec.encode([texts[row] for row in nonempty])
        jobs = [
            (max_length, batch)
            for max_length, indices in by_max_length(decoding, rows, self._codec.max_target)
            for batch in _batches(indices, [len(rows[index]) for index in indices], _hypotheses(decoding))
        ]
        self._loaded()
        with ThreadPoolExecutor(self.threads) as pool:
            results = pool.map(
                lambda number: self._batch(
                    [rows[index] for index in jobs[number][1]], decoding, jobs[number][0], spawn_seed(seed, number)
                ),
                range(len(jobs)),
            )
            for (_, batch), groups in zip(jobs, results, strict=True):
                for index, group in zip(batch, groups, strict=True):
                    variants[nonempty[index]] = group
        return variants

    def _batch(self, rows: list[list[str]], decoding: Any, max_length: int, seed: int) -> list[list[Variant]]:
        import torch

        from paraloom.mt.ensemble_search import beam_search, draw_samples

        torch.set_num_threads(1)  # in this thread: a sum over several has other last digits
        source, mask = self._padded(rows)
        if isinstance(decoding, Beam):
            groups = beam_search(self._loaded(), source, mask, decoding, max_length)
        else:
            groups = draw_samples(self._loaded(), source, mask, decoding, max_length, seed % 2**31)
        pieces = [[self._pieces[word] for word in hypothesis.words] for group in groups for hypothesis in group]
        texts = iter(self._codec.decode(pieces))
        return [[Variant(next(texts), one.logprob, one.tokens, one.cut) for one in group] for group in groups]

    def _padded(self, rows: Sequence[Sequence[str]]) -> tuple[Any, Any]:
        """Ids (n, length) and whether they are not padding."""
        unknown, padding = self._ids[UNKNOWN], self._loaded()[0].padding
        ids = [np.array([self._ids.get(piece, unknown) for piece in row], np.int32) for row in rows]
        table = pad(ids, padding).to(self._loaded()[0].device)
        return table, table != padding

    def _loaded(self) -> Any:
        if self._networks is None:
            try:
                from paraloom.mt.incremental import IncrementalNetwork
            except ImportError:
                raise MissingExtraError.for_verb("translating by an ensemble", "train") from None
            self._networks = [IncrementalNetwork(folder, self.device) for folder in self.checkpoints]
        return self._networks


def find_checkpoint(model: str | Path) -> Path:
    """The folder of a Marian checkpoint of transformers."""
    folder = Path(model)
    if (folder / CHECKPOINT).is_dir():
        return folder / CHECKPOINT
    if not folder.is_dir():
        if str(model).count("/") != 1:
            raise ModelError(
                f"translator '{model}' not found, or it has only converted weights",
                remedy="Name folders of translators that Paraloom trained, or Marian checkpoints of Hugging Face.",
            )
        folder = download(str(model), None)
    if not (folder / "model.safetensors").is_file():
        raise ModelError(
            "model.safetensors not found",
            file=folder,
            remedy="A translator that is only converted to CTranslate2 does not do: name its checkpoint.",
        )
    return folder


def check_members(checkpoints: Sequence[Path]) -> None:
    """Check that checkpoints can translate together: Marian models with the same subwords."""
    if len(checkpoints) < 2:
        raise ConfigError(f"expected two checkpoints or more, got {len(checkpoints)}", remedy="Name each of them.")
    for folder in checkpoints:
        for name in ("config.json", "model.safetensors", *SUBWORD_FILES):
            if not (folder / name).is_file():
                raise ModelError(f"{name} not found", file=folder, remedy="Name a Marian checkpoint of transformers.")
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except ValueError:
            raise ModelError("config.json is not valid JSON", file=folder, remedy="Copy the folder again.") from None
        if config.get("model_type") != "marian":
            raise ModelError(f"expected a Marian model, got {config.get('model_type')}", file=folder)
        if not all(config.get(name, True) for name in ("share_encoder_decoder_embeddings", "tie_word_embeddings")):
            raise ModelError("models whose sides have different vocabularies are not supported", file=folder)
        for name in SUBWORD_FILES:
            if file_digest(folder / name) != file_digest(checkpoints[0] / name):
                raise ModelError(
                    f"its subwords ({name}) are not those of {checkpoints[0]}",
                    file=folder,
                    remedy="Train the models with the same subwords: `train translator --subwords-from`.",
                )


def is_ensemble(translator: object) -> bool:
    """Whether what names a translator names an ensemble: A+B, unless a folder has that name."""
    named = isinstance(translator, str) and JOINER in translator and "://" not in translator
    return named and not Path(str(translator)).exists()


def _hypotheses(decoding: Decoding) -> int:
    return decoding.size if isinstance(decoding, Beam) else decoding.nbest


def _batches(indices: Sequence[int], lengths: Sequence[int], hypotheses: int) -> Iterator[list[int]]:
    """Cut rows, sorted by length, into batches of at most `_BATCH_WORDS` padded subwords of all hypotheses."""
    batch: list[int] = []
    for index, length in sorted(zip(indices, lengths, strict=True), key=lambda pair: pair[1]):
        if batch and length * hypotheses * (len(batch) + 1) > _BATCH_WORDS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
