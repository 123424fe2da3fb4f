"""Personal data in real text and planted in it: the score, the obvious patterns, and two peers.

    PARALOOM_DATA=… python benchmarks/personal_data.py sheet -o sheet.tsv
    PARALOOM_DATA=… python benchmarks/personal_data.py --readings benchmarks/readings/personal-data.tsv --write

`sheet` draws up to 25 items of each kind and of both methods, without saying which method; label 1 is an item that is
what its kind says. The readings that are kept have no text, which would be published personal data. Rules were chosen
on other lines (reviews, disasters, handbooks, newswire). Planted items are made without the library that finds them:
telephone numbers of four countries as people write them, IBANs and cards with computed check digits. Peers, where they
are installed: datatrove's PIIFormatter, scrubadub.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import lzma
import os
import random
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NamedTuple

from results_pages import FOLDER, put_result

from paraloom.text.personal import ACCOUNT, IP, MAIL, PHONE, find_personal

KINDS = {MAIL: "e-mail addresses", PHONE: "telephone numbers", ACCOUNT: "IBANs, card numbers", IP: "IP addresses"}
PATTERNS = {
    MAIL: r"[\w.+-]+@[\w-]+\.\w+",
    PHONE: r"\+?\d[\d ()/-]{6,}\d",
    ACCOUNT: r"\b(?:\d[ -]?){13,19}\b|\b[A-Z]{2}\d{2}[A-Z0-9 ]{11,30}\b",
    IP: r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
}
COMPILED = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
PLANTED, DRAWN, ROUNDS, TIMED = 200, 25, 3, 50_000
PEERS = ("datatrove", "scrubadub")
FROM_SCRUBADUB = {"email": MAIL, "phone": PHONE, "credit_card": ACCOUNT}


class Item(NamedTuple):
    """An item of a kind in a line of a source, and its position there."""

    source: str
    line: int
    kind: str
    at: int
    text: str


Finder = Callable[[str, str], list[tuple[str, str]]]


def score(text: str, language: str) -> list[tuple[str, str]]:
    """Kind and text of the items that the score counts."""
    return [(item.kind, text[item.start : item.stop]) for item in find_personal(text, language)]


def patterns(text: str, language: str) -> list[tuple[str, str]]:
    """Kind and text of what the obvious patterns match."""
    return [(kind, match[0]) for kind, pattern in COMPILED.items() for match in pattern.finditer(text)]


def datatrove() -> Finder | None:
    """datatrove's PIIFormatter, which knows e-mail and IP addresses."""
    try:
        from datatrove.pipeline.formatters.pii import PIIFormatter
    except ImportError:
        return None
    formatter = PIIFormatter(email_replacement="⟦m⟧", ip_replacement="⟦i⟧")

    def find(text: str, language: str) -> list[tuple[str, str]]:
        changed = formatter.format(text)
        return [(MAIL, "")] * changed.count("⟦m⟧") + [(IP, "")] * changed.count("⟦i⟧")

    return find


def scrubadub() -> Finder | None:
    """scrubadub with its default detectors."""
    try:
        import scrubadub
    except ImportError:
        return None
    scrubbers = {
        language: scrubadub.Scrubber(locale=locale)
        for language, locale in (("en", "en_US"), ("de", "de_DE"), ("gb", "en_GB"), ("fr", "fr_FR"))
    }

    def find(text: str, language: str) -> list[tuple[str, str]]:
        filths = scrubbers[language].iter_filth(text)
        return [(FROM_SCRUBADUB[filth.type], filth.text) for filth in filths if filth.type in FROM_SCRUBADUB]

    return find


def real_text() -> Iterator[tuple[str, str, list[str]]]:
    """Name, language and lines of each source."""
    data = Path(os.environ["PARALOOM_DATA"])

    def sentences(name: str) -> list[str]:
        return lzma.decompress((data / f"sentences-en/{name}.txt.xz").read_bytes()).decode().splitlines()

    def foreign(*names: str) -> list[str]:
        texts = (gzip.decompress((data / f"bitext/{name}-en.tsv.gz").read_bytes()).decode() for name in names)
        return [line.split("\t")[0] for text in texts for line in text.splitlines()]

    yield "forum posts", "en", sentences("forum.reddit-posts")[3::6]
    yield "questions", "en", sentences("questions.reddit-titles")[:100_000]
    yield "headlines", "en", sentences("headlines.reddit-press") + sentences("titles.reddit-other-links")[100_000:]
    yield "tweets", "en", sentences("tweets.tweeteval")[100_000:]
    news = ("mixed.brown", "news.nltk-abc", "news.trecqa-answers")
    yield "news and books", "en", [line for name in news for line in sentences(name)]
    software = ("python-docs", "gnome-help", "privacyguides", "phpmyadmin-docs", "tldr")
    yield "software, French", "fr", foreign(*(f"{name}/fr" for name in software))
    yield "software, Spanish", "es", foreign(*(f"{name}/es" for name in software if name != "gnome-help"))


def planted(kind: str, draw: random.Random) -> tuple[str, str]:
    """An item of a kind as people write it, and the language of its text."""
    digits = lambda count: "".join(draw.choices("0123456789", k=count))  # noqa: E731
    if kind == MAIL:
        name = draw.choice(["ada", "jo.miller", "k_novak", "info+list", "m-berg"]) + draw.choice(["", digits(2)])
        host = draw.choice(["example.org", "mail.example.com", "beispiel.de", "uni-koeln.example.net", "corp.co.uk"])
        return draw.choice(["{}", "<{}>", "[{}]", "mailto:{}", "({})"]).format(f"{name}@{host}"), "en"
    if kind == PHONE:
        return _phone(draw, digits)
    if kind == IP:
        version = draw.choice([4, 4, 4, 6])
        number = draw.getrandbits(125) | 1 << 125 if version == 6 else draw.getrandbits(32)
        address = IPv6Address(number) if version == 6 else IPv4Address(number)
        if not address.is_global or address.is_multicast:
            return planted(kind, draw)
        forms = ["{}", "({})", "http://{}/", "{}:8080"] if version == 4 else ["{}", "[{}]"]
        return draw.choice(forms).format(address), "en"
    if draw.random() < 0.5:
        country, account = draw.choice([("DE", digits(18)), ("AT", digits(16)), ("CH", digits(17))])
        check = 98 - int("".join(str(int(sign, 36)) for sign in f"{account}{country}00")) % 97
        number = f"{country}{check:02}{account}"
        return draw.choice([number, " ".join(re.findall(".{1,4}", number))]), "de"
    stem = draw.choice(["4", "51", "55", "2221", "6011"])
    stem += digits(15 - len(stem))
    doubled = [int(sign) * (2 - index % 2) for index, sign in enumerate(stem)]
    number = f"{stem}{-sum(value - 9 * (value > 9) for value in doubled) % 10}"
    return draw.choice(["", " ", "-"]).join(re.findall(".{4}", number)), "en"


def _phone(draw: random.Random, digits: Callable[[int], str]) -> tuple[str, str]:
    country = draw.choice(["en", "gb", "de", "fr"])
    if country == "en":
        area, exchange = (
            draw.choice(["212", "310", "404", "617", "702", "312"]),
            f"{draw.choice('23456789')}{digits(2)}",
        )
        form = draw.choice(["({}) {}-{}", "{}-{}-{}", "{}.{}.{}", "+1 {} {} {}", "1-{}-{}-{}", "{}{}{}", "{} {} {}"])
        return form.format(area, exchange, digits(4)), country
    if country == "gb":
        form = draw.choice(["020 7{} {}", "+44 20 7{} {}", "(020) 7{} {}", "0207 {} {}"])
        return form.format(digits(3), digits(4)), country
    if country == "de":
        forms = ["030 {}", "030/{}", "(030) {}", "+49 30 {}", "030-{}", "+49 (0)30 {}"]
        number = draw.choice("23456789") + digits(6)
        return draw.choice(forms).format(
            draw.choice([number, f"{number[:3]} {number[3:]}", f"{number}-{digits(2)}"])
        ), country
    pairs = [digits(2) for _ in range(4)]
    return draw.choice(["01 4{}", "+33 1 4{}", "01.4{}"]).format(
        f"{digits(1)} {pairs[0]} {pairs[1]} {pairs[2]}"
    ), country


def planted_lines() -> list[tuple[str, str, str, str]]:
    """Kind, language, line and item of each planted item, in sentences without digits."""
    draw = random.Random(7)
    carriers = [line for _, _, lines in real_text() for line in lines[:2000] if line and not re.search(r"[\d@]", line)]
    rows = []
    for kind in KINDS:
        for _ in range(PLANTED):
            item, language = planted(kind, draw)
            words = draw.choice(carriers).split()
            position = draw.randrange(len(words) + 1)
            rows.append((kind, language, " ".join([*words[:position], item, *words[position:]]), item))
    return rows


def recall(find: Finder, rows: list[tuple[str, str, str, str]], british: str) -> Counter[str]:
    """Number of planted items in whose line an item of the kind was found."""
    hits: Counter[str] = Counter()
    for kind, language, line, _ in rows:
        hits[kind] += any(name == kind for name, _ in find(line, british if language == "gb" else language))
    return hits


def seconds_per_million(find: Finder, lines: list[tuple[str, str]]) -> float:
    """Processor seconds for a million lines."""
    start = time.process_time()
    for text, language in lines:
        find(text, language)
    return (time.process_time() - start) / len(lines) * 1e6


def real_items(find: Finder) -> tuple[list[Item], int, dict[str, int]]:
    """The items of real text, the number of lines, and how many lines of each source have one."""
    items, count, rows = [], 0, {}
    for source, language, lines in real_text():
        count += len(lines)
        rows[source] = 0
        for number, text in enumerate(lines):
            here = [Item(source, number, kind, text.find(item), item) for kind, item in find(text, language)]
            items += here
            rows[source] += bool(here)
    return items, count, rows


def drawn(items: list[Item]) -> list[Item]:
    """Up to 25 items of each kind, at random."""
    by_kind = defaultdict(list)
    for item in items:
        by_kind[item.kind].append(item)
    draw = random.Random(20)
    return [one for kind in KINDS for one in draw.sample(by_kind[kind], min(DRAWN, len(by_kind[kind])))]


def write_sheet(path: Path) -> None:
    """Items of both methods to label, each once, mixed."""
    texts = {name: lines for name, _, lines in real_text()}
    chosen = sorted({*drawn(real_items(score)[0]), *drawn(real_items(patterns)[0])})
    random.Random(3).shuffle(chosen)
    with path.open("w", encoding="utf-8") as file:
        for item in chosen:
            line = texts[item.source][item.line]
            context = line[max(0, item.at - 60) : item.at + len(item.text) + 40].replace("\t", " ")
            print("", *item, context, sep="\t", file=file)


def measure(readings: Path) -> dict[str, Any]:
    """The table."""
    with readings.open(encoding="utf-8") as file:
        labels = {(row[1], int(row[2]), row[3], int(row[4])): row[0] == "1" for row in csv.reader(file, delimiter="\t")}
    rows = planted_lines()
    peers = {name: find for name, find in (("datatrove", datatrove()), ("scrubadub", scrubadub())) if find}
    methods: dict[str, Finder] = {"score": score, "patterns": patterns}
    hits = {
        name: recall(find, rows, "gb" if name == "scrubadub" else "en") for name, find in {**methods, **peers}.items()
    }
    totals, right = {}, {}
    for name, find in methods.items():
        items, count, with_items = real_items(find)
        totals[name] = Counter(item.kind for item in items)
        sample = drawn(items)
        right[name] = {kind: [labels[item[:4]] for item in sample if item.kind == kind] for kind in KINDS}
        if name == "score":
            print({source: number for source, number in with_items.items()}, count)
    lines = [(line, language) for _, language, all_lines in real_text() for line in all_lines]
    random.Random(1).shuffle(lines)
    timed = {name: (find, lines[:TIMED]) for name, find in (*methods.items(), *peers.items()) if name != "scrubadub"}
    if "scrubadub" in peers:
        english = [(line, "en") for line, language in lines if language == "en"]
        timed["scrubadub"] = (peers["scrubadub"], english[:1000])
    times = defaultdict(list)
    for _ in range(ROUNDS):
        for name, (find, some) in timed.items():
            times[name].append(seconds_per_million(find, some))

    def share(name: str, kind: str) -> str:
        votes = right[name][kind]
        return f"{sum(votes)} of {len(votes)}" if votes else "–"

    table = []
    for kind, what in KINDS.items():
        real = [(f"{totals[name][kind]:,}", share(name, kind)) for name in methods]
        seen = [str(hits[name][kind]) if name in hits and hits[name][kind] else "–" for name in (*methods, *PEERS)]
        table.append([what, *real[0], *real[1], *seen])
    seconds = {name: f"{statistics.median(values):,.1f}" for name, values in times.items()}
    peer_seconds = [seconds.get(name, "–") for name in PEERS]
    table.append(
        ["processor s for a million lines", seconds["score"], "", seconds["patterns"], "", "", "", *peer_seconds]
    )
    return {"lines": count, "rows": table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", choices=["sheet"])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--readings", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.task:
        write_sheet(options.output)
        return
    result = measure(options.readings)
    print(result)
    if options.write:
        put_result(FOLDER / "scores.json", {**DESCRIPTION, "rows": result["rows"]})


DESCRIPTION: dict[str, Any] = {
    "heading": "Personal data",
    "command": ["python benchmarks/personal_data.py --readings benchmarks/readings/personal-data.tsv --write"],
    "machine": "cores",
    "seeds": "1; times: median of 3, in turn",
    "columns": [
        *("kind", "found", "right", "by patterns", "right"),
        *("planted: score", "patterns", "datatrove", "scrubadub"),
    ],
    "align": "lrrrrrrrr",
}


if __name__ == "__main__":
    main()
