"""Every stage is exported, registered, and documented field by field; old names and keys name the new ones."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import paraloom.stages
from paraloom.core.stage import Stage
from paraloom.pipeline.registry import STAGES, load_stage, use_of
from paraloom.pipeline.stage_docs import describe_fields, parse_docstring


def test_exports_and_registry_agree() -> None:
    registered = {target.rpartition(":")[2] for target in STAGES.values()}
    assert set(paraloom.stages.__all__) == registered
    assert registered <= set(dir(paraloom.stages))
    for use in STAGES:
        kind = load_stage(use)
        assert getattr(paraloom.stages, kind.__name__) is kind
        assert use_of(kind) == use
    with pytest.raises(AttributeError, match="no attribute 'Bitext'"):
        paraloom.stages.Bitext  # noqa: B018


@pytest.mark.slow
def test_stages_are_loaded_when_they_are_used() -> None:
    script = (
        "import sys, paraloom.stages; before = 'pyarrow' in sys.modules; paraloom.stages.ReadPairs; "
        "print(before, 'pyarrow' in sys.modules, 'paraloom.stages.encoders' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False", "True", "False"]


@pytest.mark.parametrize("use", STAGES)
def test_a_stage_is_documented(use: str) -> None:
    kind = load_stage(use)
    docstring = parse_docstring(kind.__doc__ or "")
    assert docstring.paragraphs[0].endswith(".")
    assert ">>> " in docstring.sections["Example"]
    descriptions = describe_fields(kind)
    assert [name for name, text in descriptions.items() if not text.endswith((".", ".)"))] == []
    assert set(docstring.args) <= set(descriptions), "a field that does not exist is described"


@pytest.mark.parametrize("use", STAGES)
def test_inputs_are_fields(use: str) -> None:
    kind: type[Stage] = load_stage(use)
    names = {field.name for field in dataclasses.fields(kind)}
    assert {*kind.inputs, *kind.optional_fields} <= names
    assert not {*kind.removed_fields} & names
