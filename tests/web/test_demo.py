"""The page to try the models: as functions over stand-ins of the models, and over HTTP."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from toy_demo import Toy

from paraloom.web.demo import EXAMPLES, LONGEST, Demo, DemoApp, demo_server, gallery, page


def get(app: DemoApp, **query: str) -> str:
    answer = app.get("/", {name: [value] for name, value in query.items()})
    assert answer.status == 200
    return answer.body.decode()


def test_only_the_box_that_was_asked_has_results() -> None:
    empty = get(DemoApp(Toy()))
    assert empty.count("<form") == 3 and "<figure" not in empty
    asked = get(DemoApp(Toy()), box="paraphrase", text="A dog.", template="(S (NP) (VP))")
    assert "A dog. (S (NP) (VP))!" in unescape(asked) and asked.count("<figure") == 1 and "<s><bdi" in asked
    assert 'aria-pressed="true"' in asked and "1 that were dropped" in asked and 'aria-pressed="true"' not in empty


def test_errors_are_told_in_their_box_and_texts_are_escaped_and_cut() -> None:
    assert "the model is gone" in get(DemoApp(Toy()), box="translate", text="x")
    hostile = get(DemoApp(Toy()), box="paraphrase", text="<script>alert(1)</script>" + "a" * 1000)
    assert "<script>alert" not in hostile and "&lt;script&gt;" in hostile and "a" * LONGEST not in hostile


def test_nothing_else_has_an_address() -> None:
    app = DemoApp(Toy())
    assert app.get("/pairs", {}).status == app.post("/", {}).status == app.get("/static/none", {}).status == 404
    assert app.get("/static/style.css", {}).status == app.get("/favicon.ico", {}).status == 200


def test_the_gallery_needs_no_server() -> None:
    shown = gallery(Toy())
    assert "<form" not in shown and "href=" not in shown and "<style>" in shown
    assert all(text in unescape(shown) for texts in EXAMPLES.values() for text in texts)
    assert "default-src 'none'" in unescape(shown) and "<script" not in shown and "http:" not in shown


def test_the_server_asks_for_the_token(tmp_path: Path) -> None:
    with demo_server(Toy()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(server.url.partition("?")[0])
        shown = urllib.request.urlopen(f"{server.url}").read().decode()
        assert "token" not in shown.partition("<body")[2]
        server.shutdown()


@pytest.mark.slow
def test_the_bundled_models_fill_all_boxes() -> None:
    demo = Demo()
    boxes: list[Any] = [demo.box(name, texts[0]) for name, texts in EXAMPLES.items()]
    assert all(box.results and not box.error for box in boxes)
    assert page(boxes, live=True).count("<figure") == sum(one.kept for box in boxes for one in box.results)
    (best, *_) = demo.box("similar", "He often comes to school late.").results or ()
    assert best.notes.startswith("cosine")


def test_a_file_without_sentences_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    box = Demo(sentences=tmp_path / "empty.txt").box("similar", "A dog.")
    assert "sentences not found" in box.error and "empty.txt" in box.error
