"""Models by name, folder or object, as the fields of stages take them."""

from __future__ import annotations

from pathlib import Path

from paraloom.bundled import bundled_path
from paraloom.core.protocols import EncoderLike


def named_encoder(encoder: EncoderLike | str | Path | None) -> tuple[Path | None, str, EncoderLike | None]:
    """An encoder of ours by its folder, one of another library by its name, or an object of this process."""
    if encoder is None:
        return None, "", None
    if not isinstance(encoder, (str, Path)):
        from paraloom.embed.average import SentenceEncoder
        from paraloom.embed.encoder import Encoder

        if not isinstance(encoder, EncoderLike):
            raise TypeError(
                f"expected an encoder (a name, a folder, or an object with encode, dimension and signature), "
                f"got {type(encoder).__name__}"
            )
        if not (isinstance(encoder, Encoder) and isinstance(encoder.model, SentenceEncoder)):
            return None, "", encoder
        folder = encoder_folder(encoder.name) if encoder.name else None
        return (folder, "", None) if folder is not None else (None, "", encoder)
    folder = encoder_folder(encoder)
    return (folder, "", None) if folder is not None else (None, str(encoder), None)


def encoder_folder(name: str | Path) -> Path | None:
    """The folder of an encoder of ours, or None."""
    folder = model_path(name)
    return folder if (folder / "config.json").is_file() and not (folder / "modules.json").is_file() else None


def model_path(name: str | Path) -> Path:
    """What a name stands for: a path that exists, or a bundled model, or else a path that does not exist."""
    path = Path(name).absolute()
    return path if path.exists() else bundled_path(str(name)) or path


def model_folder(name: str | Path | None) -> Path | None:
    """The folder of a model, or None if none is given."""
    return None if name is None else model_path(name)


def absolute_path(model: str | Path | None) -> Path | None:
    return None if model is None else Path(model).absolute()
