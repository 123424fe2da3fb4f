"""Configuration of an experiment on back-translation (Burchell et al. 2022), and its file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.mt.presets import method
from paraloom.papers.settings import read_config

Table = dict[str, Any]
"""Settings of a stage, as in a TOML file."""

NO_METHOD = "none"
"""The method without back-translation: the parallel text alone."""

_SMALL_TRAINING: Table = {"steps": 400, "batch_tokens": 1000, "evaluate_every": 100, "vocab_size": 4000}
_SMALL_TEST, _SMALL_DEVELOPMENT = 400, 60
_SMALL_SENTENCES, _SMALL_DIVERSITY = 2500, 1500
_SMALL_METHODS = (NO_METHOD, "base", "beam", "nucleus")


@dataclass(frozen=True, kw_only=True)
class Experiment(Config):
    """Configuration of an experiment: methods of back-translation, compared by the translators that they train.

    Relative paths in its file are resolved against the folder of the file. Every table of parallel text may have
    `sample`, a number of rows to draw from the whole file; the rest of the file may then be monolingual text, and the
    file of a test parallel text. A test may also have `sets`, a file with ranges of rows that are evaluated separately.
    See Burchell et al. (2022), §3.

    Args:
        src_lang: Source language of the final translators.
        tgt_lang: Target language of the final translators.
        parallel: Parallel text, as settings of `read-pairs` stages.
        monolingual: Text in the target language, as settings of `read-sentences` stages. Duplicates are dropped, and so
            are sentences that are in the parallel text.
        development: Settings of a `read-pairs` stage, whose loss stops each training.
        tests: Settings of `read-pairs` stages by name.
        methods: Names of `paraloom.mt.presets.METHODS`, and 'none' for the parallel text alone.
        outputs: Translations of each sentence, for methods with several.
        fairseq: Read BBH22's "beam size of five and no length penalty" as fairseq does (`paraloom.mt.presets.method`).
        sentences: Number of monolingual sentences; base-big takes `outputs` times as many.
        seeds: Trainings of each final translator.
        weights: Weights of the parallel and of the back-translated text in the final trainings; empty: each row counts
            once.
        tag: Token before each back-translated source, such as `<BT>`.
        clean: Settings of the `clean` stages. Test sentences are held out in any case.
        translator: Settings of all trainings.
        back: Settings of the back-translator that differ.
        final: Settings of the final translators that differ.
        first: Settings of a translator of the parallel text alone, one per seed, from which all final ones continue,
            those of 'none' too, so that few steps are enough for each. Empty: final translators start from scratch.
        parser: Parser of the source language, as `parse` takes it; adds tree kernels to the measures of diversity, and
            is required by the method 'syntax'.
        syntax: `min_rows` of the stage `syntax-groups`, and settings of the fine-tuned translators that differ.
        diversity_limit: Sentences whose translations are measured for diversity.
        comet: Folder of a COMET model, such as wmt20-comet-da; empty: COMET is not computed.

    Raises:
        ConfigError: Names the key that is wrong.
    """

    src_lang: str
    tgt_lang: str
    parallel: tuple[Table, ...]
    monolingual: tuple[Table, ...]
    development: Table
    tests: dict[str, Table]
    methods: tuple[str, ...] = (NO_METHOD, "base", "beam", "sampling", "nucleus")
    outputs: int = 3
    fairseq: bool = False
    sentences: int = 20_000
    seeds: int = 1
    weights: tuple[float, ...] = ()
    tag: str = ""
    clean: Table = field(default_factory=dict)
    translator: Table = field(default_factory=dict)
    back: Table = field(default_factory=dict)
    final: Table = field(default_factory=dict)
    first: Table = field(default_factory=dict)
    parser: str = ""
    syntax: Table = field(default_factory=dict)
    diversity_limit: int = 30_000
    comet: str = ""

    def validate(self) -> None:
        for key in ("parallel", "monolingual", "tests"):
            if not getattr(self, key):
                raise ConfigError(f"key '{key}' is empty")
        check_range(self, "outputs", "sentences", "seeds", "diversity_limit", low=1)
        if len(self.weights) not in (0, 2):
            raise ConfigError("key 'weights' must be two numbers: of the parallel and of the back-translated text")
        self._validate_methods()
        for key in ("first", "final"):
            if "vocab_size" in getattr(self, key):
                raise ConfigError(
                    f"table '{key}' has vocab_size, but all translators share one vocabulary",
                    remedy="Write it in [translator].",
                )
        self._validate_texts()

    def _validate_methods(self) -> None:
        for name in self.methods:
            if name != NO_METHOD:
                method(name, self.outputs)
        if len(set(self.methods)) < len(self.methods) or not self.methods:
            raise ConfigError("key 'methods' must name at least one method, and each only once")
        if "syntax" in self.methods and not self.parser:
            raise ConfigError("the method 'syntax' needs a 'parser'", remedy="Name one, or leave that method out.")

    def _validate_texts(self) -> None:
        for table in (*self.parallel, self.development, *self.tests.values()):
            if type(table.get("sample", 0)) is not int:
                raise ConfigError(f"key 'sample' must be a whole number, the rows to draw, not {table['sample']!r}")
        for name, test in self.tests.items():
            if not name or "-" in name:
                raise ConfigError(f"the name of a test must not be empty or contain '-', but it is '{name}'")
            sampled = "sample" in test or "sample" in self.development
            if sampled and test.get("source") == self.development.get("source"):
                raise ConfigError(
                    f"the development pairs and those of test '{name}' are drawn from the same file and may overlap",
                    remedy="Use 'skip' and 'limit' for both, or two files.",
                )

    @property
    def small(self) -> Experiment:
        """The experiment in half an hour: little text, few steps, one seed, methods none, base, beam and nucleus."""
        methods = tuple(name for name in self.methods if name in _SMALL_METHODS)
        if not methods:
            raise ConfigError(f"a small experiment needs one of the methods {', '.join(_SMALL_METHODS)}")
        return replace(
            self,
            methods=methods,
            sentences=min(self.sentences, _SMALL_SENTENCES),
            seeds=1,
            development=_limited(self.development, _SMALL_DEVELOPMENT),
            tests={name: _limited(table, _SMALL_TEST) for name, table in self.tests.items()},
            diversity_limit=min(self.diversity_limit, _SMALL_DIVERSITY),
            translator={**self.translator, **_SMALL_TRAINING},
            back={key: value for key, value in self.back.items() if key not in _SMALL_TRAINING},
            final={key: value for key, value in self.final.items() if key not in _SMALL_TRAINING},
            first={},
        )


def _limited(table: Table, rows: int) -> Table:
    key = "sample" if "sample" in table else "limit"
    return {**table, key: min(table.get(key) or rows, rows)}


def read_experiment(path: str | Path, *, small: bool = False) -> tuple[str, int, Experiment]:
    """Read an experiment from a TOML file."""
    path = Path(path)
    name, seed, experiment = read_config(path, Experiment)
    experiment = replace(
        experiment,
        parser=_parser(experiment.parser, path.parent),
        comet=_absolute(experiment.comet, path.parent, bool(experiment.comet)),
    )
    if not small:
        return name, seed, experiment
    try:
        return f"{name}-small", seed, experiment.small
    except ConfigError as error:
        error.at(file=path)
        raise


def _parser(parser: str, base: Path) -> str:
    """A parser whose folder, or that of its spaCy model, is relative to a folder."""
    kind, colon, name = parser.rpartition(":")
    is_folder = bool(name) and kind in ("", "spacy") and (base / name).is_dir()
    return f"{kind}{colon}{_absolute(name, base, is_folder)}"


def _absolute(path: str, base: Path, is_path: bool) -> str:
    return str((base / path).absolute()) if is_path else path
