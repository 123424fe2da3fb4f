"""Templates of a corpus: counts and suggestions by hand, files, damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.errors import ModelError
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.linearization import read_template
from paraloom.paraphrasing.templates import SCPN_TEMPLATES, TemplateTable, labels_of_trees

PLAIN, ORDER, QUESTION = "(S (NP) (VP) (.))", "(S (VP) (.))", "(SQ (VBZ) (NP) (.))"


def tree(template: str) -> str:
    """A tree with this template, and one more constituent."""
    return f"{template[:-1]} (X (Y x)))"


def pair(source: str | None, paraphrase: str | None, text: str = "text") -> ParsedPair:
    return ParsedPair("source", text, source and tree(source), paraphrase and tree(paraphrase))


@pytest.fixture
def table() -> TemplateTable:
    table = TemplateTable()
    table.add([pair(PLAIN, PLAIN, "first\t one"), pair(PLAIN, PLAIN), pair(PLAIN, ORDER), pair(ORDER, QUESTION)])
    table.add([pair(None, ORDER), pair(ORDER, None), pair(None, ORDER)])
    return table


def test_counts(table: TemplateTable) -> None:
    def with_x(template: str) -> str:
        return read_template(template.replace(".))", ".) (X))"))

    assert table.most_common() == [(with_x(ORDER), 3), (with_x(PLAIN), 2), (with_x(QUESTION), 1)]
    assert table.most_common(1) == [(with_x(ORDER), 3)]
    assert table.share(with_x(PLAIN)) == pytest.approx(2 / 6)
    assert table.examples[with_x(PLAIN)] == "first one"
    # After a plain sentence: plain twice, an order once; the question comes from the counts of all.
    assert table.suggest(with_x(PLAIN), 3) == [with_x(PLAIN), with_x(ORDER), with_x(QUESTION)]
    assert table.suggest(with_x(ORDER), 2) == [with_x(QUESTION), with_x(ORDER)]
    assert table.suggest("(NP)", 2) == table.suggest(None, 2) == [with_x(ORDER), with_x(PLAIN)]
    assert labels_of_trees([pair(PLAIN, None)]) == {"S", "NP", "VP", ".", "X", "Y"}


def test_files(table: TemplateTable, tmp_path: Path) -> None:
    table.save(tmp_path)
    assert TemplateTable.load(tmp_path) == table
    lines = (tmp_path / "templates.tsv").read_text().splitlines()
    assert lines[0] == "count\ttemplate\texample" and lines[1].startswith("3\t(S (VP)")


def test_damaged_files(table: TemplateTable, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"templates.tsv not found"):
        TemplateTable.load(tmp_path)
    table.save(tmp_path)
    with (tmp_path / "template_pairs.tsv").open("a") as stream:
        stream.write("many\t(S)\t(S)\n")
    with pytest.raises(ModelError, match="row 5: expected a count and two texts"):
        TemplateTable.load(tmp_path)


def test_scpn(data: Path) -> None:
    lines = (data / "scpn/templates-10.txt").read_text().splitlines()
    assert tuple(read_template(line) for line in lines if line.strip()) == SCPN_TEMPLATES
