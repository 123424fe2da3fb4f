"""The public sets of paraphrases that benchmarks measure paraphrasers on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from paraloom.core.errors import ConfigError, DataError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("public_paraphrases")


def test_the_public_sets(data: Path, public: ModuleType) -> None:
    read_paraphrase_set = public.read_paraphrase_set
    sizes = {name: len(read_paraphrase_set(data / "paraphrase", name)) for name in public.PARAPHRASE_SETS}
    # Quora has 863 rows, ACL 2,504, arXiv 2,549, WMT 3,785: some sentences are in several, or in both columns.
    assert sizes == {"quora": 859, "coco": 471, "parasci-acl": 1602, "parasci-arxiv": 2546, "mrpc": 1147, "wmt": 3747}
    captions = read_paraphrase_set(data / "paraphrase", "coco")
    assert max(len(one.references) for one in captions) >= 4
    assert all('""' not in one.source for one in read_paraphrase_set(data / "paraphrase", "quora"))


def test_sets_that_are_not_there(tmp_path: Path, public: ModuleType) -> None:
    read_paraphrase_set = public.read_paraphrase_set
    with pytest.raises(ConfigError, match="unknown set 'quoras' of paraphrases; did you mean 'quora'"):
        read_paraphrase_set(tmp_path, "quoras")
    with pytest.raises(DataError, match="set of paraphrases not found"):
        read_paraphrase_set(tmp_path, "quora")
    (tmp_path / "mrpc").mkdir()
    (tmp_path / "mrpc/msr_paraphrase_test.tsv").write_text("1\t2\t3\n")
    with pytest.raises(DataError, match="row 1: expected 5 columns, got 3"):
        read_paraphrase_set(tmp_path, "mrpc")
