"""What an experiment with back-translated text is made of, and its file."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from paraloom.core.config import FieldTypeError, coerce
from paraloom.core.errors import ConfigError
from paraloom.mt.presets import method
from paraloom.workflows.settings import read_settings

Table = dict[str, Any]

NONE = "none"
"""The method of the parallel text alone."""

_SMALL: Table = {"steps": 400, "batch_tokens": 1000, "evaluate_every": 100, "vocab_size": 4000}
_SMALL_TEST, _SMALL_DEVELOPMENT = 400, 60
_SMALL_SENTENCES, _SMALL_MEASURED = 2500, 1500
_SMALL_METHODS = ("base", "beam", "nucleus")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is compared, and on what.  Paths in its file are seen from there.

    src_lang, tgt_lang: of the final translators.  parallel: tables of `bitext` stages, source and target.
    monolingual: tables of `sentences` stages, of the target's language; duplicates among them go.  development: such
    a bitext; its loss stops each training.  tests: tables of `bitext` stages by name.  All bitexts may have `sample`,
    so many rows drawn from all of the file: what is left may be monolingual text, and a test's file parallel text.
    A test may have `sets`, a table of sets and rows, each of which is then measured by itself (run.stages.translation).
    methods: of mt.methods, and `none` for the parallel text alone.  outputs: translations of a sentence, where a
    method has several.  sentences: monolingual ones; base-big takes `outputs` times as many.
    seeds: trainings of each final translator.  weights: parallel and back-translated text in a final training, as they
    are to each other; none: each row once.  tag: before back-translated sources, as <BT>.
    clean: settings of the stage that cleans; test sentences are held out in any case, and what stands in the parallel
    text is not taken from the monolingual one.
    translator: settings of all trainings; back, final: of the one that back-translates, and of the final ones, that
    differ.  first: such settings of one of the parallel text alone, a seed, from which all final ones go on, `none`
    too, so that few steps are enough for each method; none: the final ones begin anew.
    parser: of the source's language (a folder, or a model as `spacy:NAME`): then tree kernels are measured, and
    `syntax` can be among the methods.  syntax: `min_rows` of syntax-groups, and the settings of fine-tuning.
    measured: groups of translations whose diversity is measured.
    comet_python, comet_model: see run.stages.translation.
    """

    src_lang: str
    tgt_lang: str
    parallel: tuple[Table, ...]
    monolingual: tuple[Table, ...]
    development: Table
    tests: dict[str, Table]
    methods: tuple[str, ...] = (NONE, "base", "beam", "sampling", "nucleus")
    outputs: int = 3
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
    measured: int = 30_000
    comet_python: str = ""
    comet_model: str = "wmt20-comet-da"

    def __post_init__(self) -> None:
        for name in ("parallel", "monolingual", "tests"):
            if not getattr(self, name):
                raise ConfigError(f"there is no '{name}'")
        for name in self.methods:
            if name != NONE:
                method(name, self.outputs)
        if len(set(self.methods)) < len(self.methods) or not self.methods:
            raise ConfigError("'methods' names each method once, and one at least")
        if "syntax" in self.methods and not self.parser:
            raise ConfigError("the method 'syntax' needs a 'parser'", remedy="Name one, or leave that method out.")
        for name in ("first", "final"):
            if "vocab_size" in getattr(self, name):
                raise ConfigError(
                    f"'{name}' has a vocabulary of its own, and all translators have one",
                    remedy="Write it under [translator].",
                )
        for name in ("outputs", "sentences", "seeds", "measured"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' is 1 or more, not {getattr(self, name)}")
        if len(self.weights) not in (0, 2):
            raise ConfigError("'weights' are two numbers: of the parallel and of the back-translated text")
        for table in (*self.parallel, self.development, *self.tests.values()):
            if not isinstance(table.get("sample", 0), int):
                raise ConfigError(f"'sample' counts rows, and is not {table['sample']}")
        for name, test in self.tests.items():
            if not name or "-" in name:
                raise ConfigError(f"a test's name is without '-', not '{name}'")
            drawn = "sample" in test or "sample" in self.development
            if drawn and test.get("source") == self.development.get("source"):
                raise ConfigError(
                    f"the development pairs and those of test '{name}' are drawn from one file, and may be the same",
                    remedy="Take both by 'skip' and 'limit', or from two files.",
                )

    @property
    def small(self) -> Experiment:
        """The same with little text, few steps, one seed, and of methods none, base, beam and nucleus: half an hour."""
        known = tuple(name for name in self.methods if name in (NONE, *_SMALL_METHODS))
        if not known:
            raise ConfigError(f"a small experiment has methods among {', '.join((NONE, *_SMALL_METHODS))}")
        return replace(
            self,
            methods=known,
            sentences=min(self.sentences, _SMALL_SENTENCES),
            seeds=1,
            development=_limited(self.development, _SMALL_DEVELOPMENT),
            tests={name: _limited(table, _SMALL_TEST) for name, table in self.tests.items()},
            measured=min(self.measured, _SMALL_MEASURED),
            translator={**self.translator, **_SMALL},
            back={key: value for key, value in self.back.items() if key not in _SMALL},
            final={key: value for key, value in self.final.items() if key not in _SMALL},
            first={},
        )


def _limited(table: Table, most: int) -> Table:
    key = "sample" if "sample" in table else "limit"
    return {**table, key: min(table.get(key) or most, most)}


def read_experiment(path: Path, *, small: bool = False) -> tuple[str, int, Experiment]:
    """Name, seed and experiment in a TOML file, or of its small relative; ConfigError for an unknown key, naming the
    nearest.
    """
    needed = ("src_lang", "tgt_lang", "parallel", "monolingual", "development", "tests")
    name, seed, table = read_settings(path, [each.name for each in fields(Experiment)], needed)
    try:
        hints = get_type_hints(Experiment)
        if isinstance(parser := table.get("parser"), str):
            kind, colon, rest = parser.rpartition(":")
            folder = path.parent / rest
            table["parser"] = (
                f"{kind}{colon}{folder.absolute()}" if kind in ("", "spacy") and folder.is_dir() else parser
            )
        if isinstance(python := table.get("comet_python"), str) and "/" in python:
            table["comet_python"] = str((path.parent / python).absolute())
        if isinstance(model := table.get("comet_model"), str) and model.endswith(".ckpt"):
            table["comet_model"] = str((path.parent / model).absolute())
        experiment = Experiment(**{key: _fitted(key, value, hints[key]) for key, value in table.items()})
        return (f"{name}-small", seed, experiment.small) if small else (name, seed, experiment)
    except ConfigError as error:
        raise error.at(file=path) from None


def _fitted(key: str, value: object, annotation: Any) -> Any:
    try:
        return coerce(value, annotation, Path())
    except FieldTypeError as error:
        raise ConfigError(f"'{key}' {error}") from None
