"""How a user names a translator, and the stage that brings it in where one is needed."""

from __future__ import annotations

from pathlib import Path

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Ref, Stage
from paraloom.mt.translator import Translator
from paraloom.stages.translators import LoadTranslator


def translator_stages(
    translator: Translator | str | Path, *, name: str = "translator"
) -> tuple[list[Stage], Ref, str | None]:
    """The stages that bring a translator in, what later stages refer to, and the translator's own decoding.

    Args:
        translator: A loaded translator, the name of a bundled one, a folder, or a name of Hugging Face.
        name: Name of the stage that loads it.

    Returns:
        No stage where the translator is a folder that is ready for use, else one `LoadTranslator`; a reference to it;
        and the decoding string that a loaded translator came with.

    Example:
        >>> stages, reference, decode = translator_stages("Helsinki-NLP/opus-mt-de-en")
        >>> stages[0].name, translator_stages("de-en")[1].name
        ('translator', 'de-en')
    """
    if isinstance(translator, Translator):
        return [], Path(translator.folder).absolute(), translator.decode
    bundled = bundled_path(str(translator))
    path = Path(translator)
    if bundled is not None and not path.exists():
        return [], bundled, None
    if (path / "model.bin").is_file():
        return [], path.absolute(), None
    if path.is_dir() or (str(translator).count("/") == 1 and not path.parent.exists()):
        stage = LoadTranslator(name=name, model=str(translator))
        return [stage], stage, None
    raise ConfigError(
        f"translator '{translator}' not found",
        remedy="Name a bundled translator (paraloom models), a folder, or a model of Hugging Face as OWNER/NAME.",
    )
