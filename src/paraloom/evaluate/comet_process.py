"""COMET for an interpreter of its own, which needs no Paraloom: {model, sentences} in, {scores, version} out."""

from __future__ import annotations

import json
import os
import sys

MISSING, NO_MODEL = 3, 4
"""Exit statuses: unbabel-comet is not there, or the model is not."""


def main() -> None:
    """Score each {src, mt, ref} of standard input with the model, a name or a checkpoint file, on the CPU."""
    # What the library prints must not get between the answer's bytes.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    try:
        from importlib.metadata import version

        from comet import download_model, load_from_checkpoint
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(MISSING)
    try:
        name = asked["model"]
        model = load_from_checkpoint(name if name.endswith(".ckpt") else download_model(name))
    except Exception as error:  # whatever stands between us and a model: a network, a licence, a path
        print(error, file=sys.stderr)
        sys.exit(NO_MODEL)
    found = model.predict(asked["sentences"], batch_size=asked.get("batch", 16), gpus=0, progress_bar=False)
    scores = [float(score) for score in found["scores"]]
    json.dump({"scores": scores, "version": version("unbabel-comet")}, answer)
    answer.close()


if __name__ == "__main__":
    main()
