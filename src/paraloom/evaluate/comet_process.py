"""Script for an interpreter with COMET and without Paraloom: JSON {model, sentences} in, {scores, version} out."""

from __future__ import annotations

import json
import os
import sys

MISSING, NO_MODEL = 3, 4
"""Exit statuses: unbabel-comet is not installed, or the model cannot be loaded."""


def main() -> None:
    """Score each {src, mt, ref} of standard input with the model, a name or a checkpoint file, on the CPU."""
    # What the library prints must not mix with the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    question = json.load(sys.stdin)
    try:
        from importlib.metadata import version

        from comet import download_model, load_from_checkpoint
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(MISSING)
    try:
        name = question["model"]
        model = load_from_checkpoint(name if name.endswith(".ckpt") else download_model(name))
    except Exception as error:  # a network, a license or a path may be in the way
        print(error, file=sys.stderr)
        sys.exit(NO_MODEL)
    output = model.predict(question["sentences"], batch_size=question.get("batch", 16), gpus=0, progress_bar=False)
    scores = [float(score) for score in output["scores"]]
    json.dump({"scores": scores, "version": version("unbabel-comet")}, answer)
    answer.close()


if __name__ == "__main__":
    main()
