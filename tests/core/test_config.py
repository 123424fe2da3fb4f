"""Configurations: values are checked against annotations, and keys are checked."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from paraloom.core.config import Config, FieldTypeError, base_config, check_keys, check_range, coerce, describe_type
from paraloom.core.errors import ConfigError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training(Config):
    """Settings of a training."""

    spec: str
    epochs: int = 5
    learning_rate: float = 0.1
    names: tuple[str, ...] = ()
    folder: Path | None = None
    mode: Literal["fast", "exact"] = "fast"

    def validate(self) -> None:
        super().validate()
        if self.epochs < 1:
            raise ConfigError(f"key 'epochs' must be 1 or more, not {self.epochs}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stage(Training):
    """A stage with these settings."""

    name: str = ""


def test_values_are_coerced() -> None:
    config = Training(spec="word", learning_rate=1, names=["a", "b"], folder="models")  # type: ignore[arg-type]
    assert (config.learning_rate, type(config.learning_rate)) == (1.0, float)
    assert config.names == ("a", "b")
    assert config.folder == Path.cwd() / "models"
    assert dataclasses.replace(config, folder=None).folder is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"spec": 5}, "key 'spec' must be text, not 5"),
    ({"spec": None}, "key 'spec' must be text, not None"),
    ({"epochs": "five"}, "key 'epochs' must be a whole number, not 'five'"),
    ({"epochs": True}, "key 'epochs' must be a whole number, not True"),
    ({"epochs": 2.0}, "key 'epochs' must be a whole number, not 2.0"),
    ({"learning_rate": float("nan")}, "key 'learning_rate' must be a finite number, not nan"),
    ({"names": "ab"}, "key 'names' must be a list of texts, not 'ab'"),
    ({"names": ["a", 1]}, "key 'names' must be text, not 1"),
    ({"folder": 5}, "key 'folder' must be a path, not 5"),
    ({"mode": "slow"}, "key 'mode' must be 'fast' or 'exact', not 'slow'"),
    ({"epochs": 0}, "key 'epochs' must be 1 or more, not 0"),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_a_wrong_value_names_its_key(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Training(**{"spec": "word", **values})
    assert raised.value.what == message


def test_keys_are_checked() -> None:
    check_keys(Stage, {"spec": "word", "name": "x"})
    check_keys(Stage, {"spec": "word", "use": "train"}, also=("use",))
    with pytest.raises(ConfigError, match="unknown key 'epoch'; did you mean 'epochs'"):
        check_keys(Stage, {"spec": "word", "epoch": 5})
    with pytest.raises(ConfigError, match="key 'spec' is missing"):
        check_keys(Stage, {"epochs": 5})


def test_the_part_of_a_base_class() -> None:
    stage = Stage(spec="word", epochs=2, name="train")
    assert base_config(Training, stage) == Training(spec="word", epochs=2)


DESCRIBED = [
    (str, "text"),
    (int | None, "a whole number"),
    (float, "a finite number"),
    (bool, "true or false"),
    (Path, "a path"),
    (tuple[str, ...], "a list of texts"),
    (list[int], "a list of whole numbers"),
    (tuple[str, int], "a list of 2: text, a whole number"),
    (dict[str, float], "a table of finite numbers"),
    (Literal["a", "b"], "'a' or 'b'"),
    (int | float, "a whole number or a finite number"),
]


@pytest.mark.parametrize(("annotation", "words"), DESCRIBED)
def test_types_in_words(annotation: Any, words: str) -> None:
    assert describe_type(annotation) == words
    with pytest.raises(FieldTypeError, match=words):
        coerce(object(), annotation, Path())


def test_instances_of_other_classes_are_kept() -> None:
    config = Training(spec="word")
    assert coerce(config, Training, Path()) is config
    assert coerce(config, Any, Path()) is config
    with pytest.raises(FieldTypeError, match="must be Training, not 5"):
        coerce(5, Training, Path())


@pytest.mark.parametrize(
    ("bounds", "value", "message"),
    [
        ({"low": 1}, 0, "'x' must be 1 or more, not 0"),
        ({"low": 0, "high": 1}, 1.5, "'x' must be from 0 to 1, not 1.5"),
        ({"above": 0, "high": 1}, 0, "'x' must be above 0 and at most 1, not 0"),
        ({"low": 0.5, "below": 1}, 1, "'x' must be 0.5 or more and below 1, not 1"),
        ({"low": 0}, float("nan"), "'x' must be 0 or more, not nan"),
        ({"low": 0}, float("inf"), "'x' must be 0 or more, not inf"),
        ({"high": 0}, float("-inf"), "'x' must be at most 0, not -inf"),
    ],
)
def test_values_out_of_range_are_named(bounds: dict[str, float], value: float, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_range(SimpleNamespace(y=bounds.get("low", 0.25), x=value), "x", **bounds)
    assert error.value.what == message


def test_bounds_are_in_range() -> None:
    check_range(SimpleNamespace(x=0, y=1), "x", "y", low=0, high=1)
    check_range(SimpleNamespace(x=10**400), "x", low=0)
