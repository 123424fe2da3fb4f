# Set-up and the runs that people repeat; each target makes .venv when it is missing.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
XDIST := --numprocesses auto --dist worksteal
BUNDLED := src/paraloom/bundled
EWT = $(PARALOOM_DATA)/treebank/ud-english-ewt/en_ewt-ud

.PHONY: quickstart test test-all shake fuzz lint docs wheel bench reproduce clean

$(VENV)/base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(INSTALL) -e .
	touch $@

$(VENV)/dev: $(VENV)/base
	$(INSTALL) -e '.[dev]'
	touch $@

$(VENV)/docs: $(VENV)/base
	$(INSTALL) -e '.[docs]'
	touch $@

$(VENV)/bench: $(VENV)/dev
	$(INSTALL) -e '.[bench]'
	touch $@

quickstart: $(VENV)/base
	$(BIN)/paraloom quickstart runs/quickstart

# The tests without the slow ones, on all cores.
test: $(VENV)/dev
	$(BIN)/pytest -m "not slow" $(XDIST)

# All tests; those of real corpora need PARALOOM_DATA.
test-all: $(VENV)/dev
	$(BIN)/pytest $(XDIST)

# The tests with other seeds of toy trainings and samples, and with the instructions of other processors.
shake: $(VENV)/dev
	for seed in 1 2 3 4 5; do PARALOOM_TEST_SEED=$$seed $(BIN)/pytest tests -m "not slow" $(XDIST) || exit 1; done
	for isa in GENERIC AVX AVX2 $(shell grep -qs avx512f /proc/cpuinfo && echo AVX512); do CT2_FORCE_CPU_ISA=$$isa \
	    ATEN_CPU_CAPABILITY=default $(BIN)/pytest tests/mt tests/paraphrasing tests/stages tests/cli $(XDIST) || exit 1; done

# The fuzzers for SECONDS by group, with other examples each time; what they got goes to build/fuzz.jsonl.
SECONDS ?= 600
fuzz: $(VENV)/dev
	mkdir -p build && rm -f build/fuzz.jsonl
	PARALOOM_FUZZ_RESULTS=$(CURDIR)/build/fuzz.jsonl PARALOOM_FUZZ_SECONDS=$(SECONDS) \
	    PARALOOM_FUZZ_SEED=$$(date +%s) $(BIN)/pytest tests/fuzz -rN $(XDIST)

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/docs
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs

wheel: $(VENV)/dev
	$(BIN)/python -m build --wheel --outdir dist

# Hours on two cores; both need PARALOOM_DATA.  bench measures the translator that reproduce trains.
reproduce: $(VENV)/dev
	$(BIN)/paraloom run examples/multi30k-cs-en.toml -o runs/multi30k-cs-en
	$(BIN)/paraloom run examples/multi30k-cs-en.toml -o runs/multi30k-cs-en-2 --seed 2
	$(BIN)/paraloom run examples/german.toml -o runs/german
	GERMAN=runs/german $(BIN)/paraloom run examples/random-start.toml -o runs/random-start
	$(BIN)/paraloom run examples/bundled-multilingual.toml -o runs/bundled-multilingual
	$(BIN)/paraloom run examples/bundled-en-de.toml -o runs/bundled-en-de
	$(BIN)/paraloom run examples/bundled-de-en.toml -o runs/bundled-de-en
	DE_EN=$(CURDIR)/runs/bundled-de-en/430-de-en/artifact $(BIN)/paraloom run examples/general-translator.toml \
	    -o runs/general-translator
	$(BIN)/python examples/translator_ablation.py --backtranslations runs/bundled-de-en -o runs/translator-ablation
	$(BIN)/python examples/paraphrase_model.py -o runs/paraphrase-model
	$(BIN)/python examples/selected_pairs.py -o runs/selected-pairs
	$(BIN)/paraloom train parser $(PARALOOM_DATA)/treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz -o runs/parser
	$(BIN)/paraloom train parser $(EWT)-train.conllu.gz $(EWT)-dev.conllu.gz --method spans --encoder english \
	    --encoder-words 20000 -o runs/parser-en
	PARSER=$(CURDIR)/runs/parser-en $(BIN)/paraloom run examples/bundled-paraphraser.toml -o runs/bundled-paraphraser
	PARSER=$(CURDIR)/runs/parser-en BUNDLED=$(CURDIR)/runs/bundled-paraphraser \
	    $(BIN)/paraloom run examples/english-paraphraser.toml -o runs/english-paraphraser
	$(BIN)/paraloom papers run all --recipe examples/papers.toml -o runs/papers --page docs/explanations/papers
	$(BIN)/python examples/backtranslated_encoder.py -o runs/backtranslated-encoder
	$(BIN)/python benchmarks/bilingual.py --languages cs de tr ko is --seeds 1 2 3 -o runs/bilingual
ifdef TEACHER  # the folder of a sentence-transformers model, such as all-MiniLM-L6-v2
	$(BIN)/paraloom run examples/bundled-encoder.toml -o runs/bundled-encoder
	GERMAN=runs/german $(BIN)/paraloom run examples/english-encoder.toml -o runs/english-encoder
	ENGLISH=runs/english-encoder $(BIN)/paraloom run examples/english-curve.toml -o runs/english-curve
	$(BIN)/paraloom run examples/phrases.toml -o runs/phrases
endif

# Figures go into docs/explanations/results/*.json by hand; codebase.py writes its own, and results_pages.py all pages.
bench: $(VENV)/bench
	$(BIN)/python benchmarks/codebase.py --record after
	$(BIN)/python benchmarks/results_pages.py
	$(BIN)/python benchmarks/decoding.py --translator runs/multi30k-cs-en/40-translator/artifact
	$(BIN)/python benchmarks/encoders.py
	$(BIN)/python benchmarks/encoder_ladder.py english english-small $(if $(TEACHER),--teacher $(TEACHER))
	$(BIN)/python benchmarks/scores.py
	$(BIN)/python benchmarks/alignment.py
	$(BIN)/python benchmarks/extraction.py en ko
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/readers.py
	$(BIN)/python benchmarks/contract.py --translator $(BUNDLED)/de-en
ifdef PARAPHRASER  # a folder of `paraloom train paraphraser`
	$(BIN)/python benchmarks/paraphrasing.py --model ours=$(PARAPHRASER)
	$(BIN)/python benchmarks/paraphrase_speed.py $(PARAPHRASER)
endif

clean:
	rm -rf $(VENV) runs build dist
