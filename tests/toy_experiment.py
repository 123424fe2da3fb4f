"""A small experiment on back-translation in a made-up language pair."""

from __future__ import annotations

import random
from pathlib import Path

from toy_documents import words

_SETTINGS = """src_lang = "xx"
tgt_lang = "yy"
methods = ["none", "base", "nucleus"]
outputs = 2
sentences = 30
[[parallel]]
source = "parallel.tsv"
[[monolingual]]
text_files = ["mono.txt"]
[development]
source = "dev.tsv"
[tests.news]
source = "test.tsv"
sets = "sets.tsv"
[translator]
vocab_size = 150
d_model = 16
heads = 2
ffn_dim = 16
encoder_layers = 1
decoder_layers = 1
steps = 4
evaluate_every = 2
"""


def write_experiment(folder: Path) -> Path:
    """Write parallel text, more text of the target language, development pairs, a test, and `toy.toml`."""
    rng = random.Random(3)
    source_words, target_words = words(rng, 60, "bdgklm"), words(rng, 60, "fhnprst")
    dictionary = dict(zip(source_words, target_words, strict=True))

    def lines(count: int) -> list[str]:
        sentences = (rng.choices(source_words, k=rng.randint(3, 7)) for _ in range(count))
        return [f"{' '.join(line)}\t{' '.join(dictionary[word] for word in line)}" for line in sentences]

    for name, count in (("parallel", 120), ("dev", 20), ("test", 30)):
        (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines(count)))
    (folder / "mono.txt").write_text("".join(f"{line.partition(chr(9))[2]}\n" for line in lines(60)))
    (folder / "sets.tsv").write_text("set\tfirst_row\tlast_row\nfrom-ours\t1\t15\nfrom-theirs\t16\t30\n")
    (folder / "toy.toml").write_text(_SETTINGS)
    return folder / "toy.toml"
