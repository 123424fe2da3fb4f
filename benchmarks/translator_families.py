"""Compare the speed of each family of translators with that of transformers' generate.

    python benchmarks/translator_families.py --families nllb,t5 --lines 200

The models are random ones of a size between the tiny and the real: what is compared is the work, not the translations.
Both decode the same lines in float32 to the same number of tokens on the same cores; generate in batches of 64 lines
sorted by length. Loading does not count. The two alternate, and the ratio is the median over rounds; int8 is what
Paraloom uses on processors by default, and is printed beside.

The row `llama` is a language model without an encoder, of about 60 million numbers, prompted in a chat template. It
decodes greedily; generate pads its prompts on the left.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tiny_translators import KINDS, write_checkpoint
from toy_language import bitext

from paraloom.mt import Translator
from paraloom.mt.decoding import Decoding
from paraloom.mt.language_model import LanguageModelTranslator, load_language_model
from paraloom.mt.streams import translate_stream

LANGUAGES: dict[str, dict[str, str]] = {
    "marian": {"target": "fr"},
    "m2m100": {"source": "en", "target": "de"},
    "nllb": {"source": "en", "target": "de"},
    "mbart50": {"source": "en", "target": "de"},
    "madlad": {"target": "de"},
}
TOKENS = 24
BART_SHAPE = {
    "d_model": 256,
    "encoder_layers": 4,
    "decoder_layers": 4,
    "encoder_ffn_dim": 1024,
    "decoder_ffn_dim": 1024,
}
LLAMA_SHAPE = {
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "max_position_embeddings": 512,
}
LLAMA_WORDS = 16_000
T5_SHAPE = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_decoder_layers": 4}


def generate(folder: Path, lines: list[str], beams: int) -> Callable[[], object]:
    """Decoding of all lines by transformers."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    ordered = sorted(lines, key=len, reverse=True)
    options = {"num_beams": beams, "do_sample": False, "min_new_tokens": TOKENS, "max_new_tokens": TOKENS}

    def run() -> object:
        with torch.no_grad():
            for start in range(0, len(ordered), 64):
                inputs = tokenizer(ordered[start : start + 64], return_tensors="pt", padding=True)
                tokenizer.batch_decode(model.generate(**inputs, **options), skip_special_tokens=True)
        return None

    return run


def ours(folder: Path, kind: str, lines: list[str], beams: int, precision: str, cores: int) -> Callable[[], object]:
    """Decoding of all lines by Paraloom."""
    languages: dict[str, Any] = LANGUAGES.get(kind, {})
    translator = FixedLength.load(folder, decode=f"beam:{beams}", precision=precision, check_costs=False, **languages)
    size = min(200, -(-len(lines) // (2 * cores)))
    chunks = [lines[start : start + size] for start in range(0, len(lines), size)]
    return lambda: list(translate_stream(translator, chunks, threads=cores))


def write_llama(folder: Path, lines: list[str]) -> Path:
    """Write a random Llama with a tokenizer of the words of the lines, and a chat template."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<unk>", "<s>", "</s>", *dict.fromkeys(word for line in lines for word in line.split())]
    words += [f"word{number}" for number in range(LLAMA_WORDS - len(words))]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left", **special)
    wrapped.chat_template = "{% for m in messages %}<s> {{ m['content'] }} </s> {% endfor %}"
    torch.manual_seed(1)
    tokens = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **LLAMA_SHAPE, **tokens)).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder


def prompted(folder: Path, precision: str) -> LanguageModelTranslator:
    """Paraloom's translator, whose answers have `TOKENS` tokens."""
    options = {"source": "de", "target": "en", "answer_tokens": TOKENS, "attempts": 1}
    loaded = load_language_model(folder, "greedy", precision=precision, **options)
    return FixedAnswers(loaded.folder, "greedy", config=loaded.config)


def generate_answers(folder: Path, lines: list[str]) -> Callable[[], object]:
    """The same prompts, answered by transformers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    prompts = [" ".join(prompted(folder, "float32").prompt_tokens(line)) for line in lines]
    prompts.sort(key=lambda prompt: -len(prompt.split()))
    options = {"do_sample": False, "min_new_tokens": TOKENS, "max_new_tokens": TOKENS, "pad_token_id": 2}

    def run() -> object:
        with torch.no_grad():
            for start in range(0, len(prompts), 64):
                part = prompts[start : start + 64]
                inputs = tokenizer(part, add_special_tokens=False, return_tensors="pt", padding=True)
                inputs.pop("token_type_ids", None)
                tokenizer.batch_decode(model.generate(**inputs, **options), skip_special_tokens=True)
        return None

    return run


class FixedAnswers(LanguageModelTranslator):
    """Answers of `TOKENS` tokens, as those of generate."""

    def _guarded(self, method: str, rows: Any, *, engine: Any = None, **options: Any) -> Any:
        return super()._guarded(method, rows, engine=engine, **options | {"min_length": TOKENS})


class FixedLength(Translator):
    """Translations of `TOKENS` tokens, as those of generate."""

    def engine_options(self, decode: str | Decoding | None = None) -> dict[str, Any]:
        """With a minimum length."""
        return super().engine_options(decode) | {"min_decoding_length": TOKENS}

    def _copy(self, decode: str | Decoding, device: str) -> Translator:
        other = FixedLength(self.folder, decode, source=self.source, target=self.target, device=device)
        other._codec.max_target = TOKENS
        return other


def seconds(run: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def print_row(kind: str, lines: int, runs: list[Callable[[], object]], rounds: int) -> None:
    """Time generate, float32 and int8 in turn, and print a line of the table."""
    times = [[seconds(run) for run in runs] for _ in range(rounds)]
    rates = [lines / median(column) for column in zip(*times, strict=True)]
    ratios = [median(row[0] / row[column] for row in times) for column in (1, 2)]
    print(
        f"| {kind} | {rates[0]:.0f} | {rates[1]:.0f} | {ratios[0]:.1f} | {rates[2]:.0f} | {ratios[1]:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print a table: lines per second of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--families", default=",".join([*KINDS, "llama"]), help="kinds of checkpoints, separated by commas"
    )
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    torch.set_num_threads(arguments.cores)
    lines = [source for source, _ in bitext(arguments.lines, seed=7)]
    print("| family | generate, lines/s | float32, lines/s | ratio | int8, lines/s | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PARALOOM_CACHE"] = f"{scratch}/cache"
        for kind in arguments.families.split(","):
            if kind == "llama":
                folder = write_llama(Path(scratch) / kind, lines)
                models = [prompted(folder, precision) for precision in ("float32", "int8")]
                calls = [partial(model.translate, lines) for model in models]
                print_row(kind, len(lines), [generate_answers(folder, lines), *calls], arguments.rounds)
                continue
            shape = T5_SHAPE if kind in ("t5", "mt5", "madlad") else BART_SHAPE
            folder = write_checkpoint(kind, Path(scratch) / kind, **shape)
            runs = [generate(folder, lines, arguments.beams)]
            runs += [
                ours(folder, kind, lines, arguments.beams, precision, arguments.cores)
                for precision in ("float32", "int8")
            ]
            print_row(kind, len(lines), runs, arguments.rounds)


if __name__ == "__main__":
    main()
