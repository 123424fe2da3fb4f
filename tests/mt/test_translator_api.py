"""The public class Translator: loading by name, arguments, saving, languages, and its repr."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import Variant
from paraloom.mt import Beam, Translator

BUNDLED = bundled_path("de-en")
GREETING = "Guten Morgen"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("de-en")


def test_a_bundled_name_or_a_folder_is_loaded(translator: Translator) -> None:
    assert translator.folder == BUNDLED
    assert Translator.load(str(BUNDLED)).translate(GREETING) == translator.translate(GREETING)


def test_a_local_folder_takes_precedence_over_a_bundled_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy_translator: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "de-en").symlink_to(toy_translator)
    assert Translator.load("de-en").folder == Path("de-en")


@pytest.mark.parametrize("name", ["de-fr", "no/such/folder", ""])
def test_an_unknown_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="not found"):
        Translator.load(name)


def test_a_list_gives_a_list_of_variants_for_each_text(translator: Translator) -> None:
    groups = translator.translate([GREETING, "Ich bin müde."], decode="beam:12,nbest=3", seed=1)
    assert [len(group) for group in groups] == [3, 3]
    for group in groups:
        assert all(isinstance(variant, Variant) and variant.logprob < 0 < variant.tokens for variant in group)
    assert translator.translate([]) == []


def test_one_text_gives_its_variants(translator: Translator) -> None:
    assert translator.translate(GREETING) == translator.translate([GREETING])[0]
    assert translator.translate("") == [Variant("", 0.0, 0)]


@pytest.mark.parametrize("sentences", [(GREETING,), np.array([GREETING]), pa.array([GREETING]), iter([GREETING])])
def test_other_sequences_of_texts(translator: Translator, sentences: object) -> None:
    assert translator.translate(sentences) == translator.translate([GREETING])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        (5, "got int"),
        (None, "got NoneType"),
        (b"Guten Morgen", "got bytes"),
        ({GREETING: 1}, "got dict"),
        ([GREETING, 5], "got int at position 1"),
        ([[GREETING]], "got list at position 0"),
        (pa.array([GREETING, None]), "got NoneType at position 1"),
    ],
)
def test_anything_else_is_a_type_error(translator: Translator, sentences: object, reason: str) -> None:
    with pytest.raises(TypeError, match=f"expected a list of sentences, {reason}"):
        translator.translate(sentences)  # type: ignore[call-overload]


def test_the_decoding_of_a_call_does_not_load_the_model_again(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator.translate(GREETING)
    monkeypatch.setattr("paraloom.mt.batch_decoder.new_engine", lambda *_: pytest.fail("the model was loaded again"))
    assert len(translator.translate(GREETING, decode="beam:4,nbest=4")) == 4
    assert len(translator.translate(GREETING, decode=Beam(2, 2))) == 2
    assert len(translator.translate(GREETING)) == 1


@pytest.mark.parametrize("decode", ["beam:4,nbest=2", "nucleus:0.9,nbest=2"])
def test_the_decoding_of_a_call_equals_that_of_loading(translator: Translator, decode: str) -> None:
    loaded = Translator.load("de-en", decode=decode)
    assert translator.translate([GREETING], decode=decode, seed=3) == loaded.translate([GREETING], seed=3)
    assert translator.signature_of(decode) == loaded.signature != translator.signature


def test_an_invalid_decoding_is_refused(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="did you mean 'beam'"):
        translator.translate(GREETING, decode="baem:5")
    with pytest.raises(TypeError, match="'decode' must be text such as 'beam:5', or a Decoding, got int"):
        translator.translate(GREETING, decode=5)  # type: ignore[call-overload]


def test_the_batch_size_changes_no_beam(translator: Translator) -> None:
    sentences = [GREETING, "Ich bin müde.", "Der Hund schläft."] * 5
    texts = [[v.text for v in group] for group in translator.translate(sentences, batch_tokens=64)]
    assert texts == [[v.text for v in group] for group in translator.translate(sentences)]


def test_save_and_load(translator: Translator, tmp_path: Path) -> None:
    folder = translator.save(tmp_path / "copy")
    copy = Translator.load(folder)
    assert copy.translate(GREETING) == translator.translate(GREETING)
    assert copy.signature == translator.signature
    assert copy.save(folder) == folder  # onto itself
    assert translator.save(folder) == folder  # over a translator


def test_save_does_not_delete_other_files(translator: Translator, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="has other files in it"):
        translator.save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "model.bin").write_text("of another program")
    with pytest.raises(ConfigError, match="has other files in it"):
        translator.save(tmp_path)
    folder = translator.save(tmp_path / "copy")
    (folder / "data").mkdir()
    with pytest.raises(ConfigError, match="data: the folder holds something else, too"):
        translator.save(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "model.bin", "copy"}


def test_repr_says_what_it_is(translator: Translator) -> None:
    text = repr(translator)
    assert text.startswith("<Translator de → en: 4+2 layers of 256, 8.6 million parameters, 16,000 subwords; ")
    assert "decode='beam:5," in text and f"folder='{BUNDLED}'" in text


def test_repr_without_a_card_and_training_figures(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(BUNDLED, tmp_path / "bare"))
    (folder / "README.md").unlink()
    (folder / "training.json").unlink()
    assert repr(Translator.load(folder)).startswith("<Translator ? → ?: 8.9 MiB, 16,000 subwords; ")
    renamed = folder.rename(tmp_path / "Helsinki-NLP--opus-mt-de-en-int8")
    assert (Translator.load(renamed).source, Translator.load(renamed).target) == ("de", "en")


def test_languages_are_checked() -> None:
    assert Translator.load("de-en", source="de", target="en").target == "en"
    with pytest.raises(ConfigError, match="translates de → en, not with target language 'fr'"):
        Translator.load("de-en", target="fr")


def test_a_multilingual_model_is_told_the_target_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(BUNDLED, tmp_path / "many"))
    vocabulary = folder / "shared_vocabulary.json"
    pieces = json.loads(vocabulary.read_text(encoding="utf-8"))
    pieces[-3:-1] = [">>fra<<", ">>spa<<"]
    vocabulary.write_text(json.dumps(pieces), encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown target language 'fro'; did you mean 'fra'"):
        Translator.load(folder, target="fro")
    assert Translator.load(folder, target="fre")._codec.encode(["Guten"])[0][0] == ">>fra<<"  # ISO 639-2
    translator = Translator.load(folder, target="fra")
    rows: list[list[str]] = []
    encode = translator._codec._subwords.encode
    monkeypatch.setattr(translator._codec._subwords, "encode", lambda sentences: rows.extend(encode(sentences)) or rows)
    translator.translate(["Guten Morgen", ">>spa<< Guten Morgen"])
    assert [row[0] for row in rows] == [">>fra<<", ">>spa<<"]


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown device 'gpu'"):
        Translator.load("de-en", device="gpu")


def test_a_name_that_is_no_name() -> None:
    with pytest.raises(TypeError, match="'model' must be the name or folder of a translator, got NoneType"):
        Translator.load(None)
