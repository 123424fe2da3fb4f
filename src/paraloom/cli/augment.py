"""The command that back-translates monolingual text into bitext: augment."""

from __future__ import annotations

from paraloom.cli.declaration import Command

DECLARED = [
    Command(
        name="augment",
        of="augment",
        everyday="translators method outputs tag field min_words src_lang tgt_lang as_json",
        flags={"translators": "--translator"},
        settings={
            "text": {"role": "input", "help": "Sentences (.txt, .tsv, .jsonl, a corpus)."},
            "translators": {
                "role": "translator",
                "complete": "complete_translator",
                "help": "From TEXT's language: a bundled name, a folder, OWNER/NAME, or the address of an endpoint, "
                "with settings as in `translate`. Repeat it for `syntax`.",
            },
            "src_lang": {"help": "Language of the translations."},
            "tgt_lang": {"help": "Language of TEXT."},
        },
        device=True,
        then="train translator --bitext {output} -o translator",
        help="Back-translate monolingual text into training bitext: the translations are the source, the text is the "
        "target.",
        examples=(
            "news.en.txt --translator en-tr --method nucleus -o bitext.tsv",
            "news.en.txt --translator 'http://127.0.0.1:8000/v1?model=qwen3&from=en&to=tr' -o bitext.tsv",
        ),
        watched=True,
    )
]
