# SPDX-License-Identifier: MIT
# make           build everything into build/
# make demo      install what is missing, build, run the walkthrough with the real az
# make check     install what is missing, build, run every test; closes with "N passed, N failed"
# make install   PREFIX=/usr/local DESTDIR=
# make help      the rest

BUILD  ?= build
PREFIX ?= /usr/local
CC     ?= cc
PYTHON ?= /usr/bin/python3
VERSION := 0.1.0

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
          -Wvla -Wformat=2 -Werror
OPT    ?= -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
SAN    ?=
CFLAGS += -std=c11 -D_GNU_SOURCE $(WARN) $(OPT) $(SAN) -I. -I$(BUILD)/gen -DBATCHAID_VERSION='"$(VERSION)"' -MMD -MP
LDFLAGS += $(SAN)

# Rooms, lowest first; each may use only those before it (test/tools/check_layers.py keeps it so).
ROOMS  := lib model storage nodeagent-proto scheduler api daemon
PKGS   := libmicrohttpd libuv sqlite3 jansson libsodium libjwt libcyaml yaml-0.1 gnutls uuid libssh2
# What only the daemon's program needs: its command line is a client of the daemon.
DAEMON_PKGS := libcurl
DAEMON_LIBS := $(shell pkg-config --libs $(DAEMON_PKGS) 2>/dev/null)
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) $(DAEMON_PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lpthread -lcrypt
CFLAGS += $(PKG_CFLAGS)

# The agent's own sources live in nodeagent-proto/agent and link only lib/ and the codec, statically.
AGENT_SRCS := $(wildcard nodeagent-proto/agent/*.c)
AGENT_LIBS ?= -static
src_of  = $(filter-out nodeagent-proto/agent/%,$(shell find $(1) -name '*.c' 2>/dev/null | sort))
SRCS   := $(foreach r,$(ROOMS),$(call src_of,$(r))) $(AGENT_SRCS)
obj     = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib     = $(BUILD)/lib/lib$(1).a
ROOM_LIBS := $(foreach r,$(filter-out daemon,$(ROOMS)),$(call lib,$(r)))
# Highest room first, for the linker.
LINK_LIBS := $(call lib,api) $(call lib,scheduler) $(call lib,storage) \
             $(call lib,nodeagent-proto) $(call lib,model) $(call lib,lib)

# Agents for machines of other architectures: built where a cross compiler and static libraries for
# it are installed, of the same sources, without sanitizers. The daemon finds them beside its own.
CROSS_ARCHS := $(if $(filter aarch64,$(shell uname -m)),,aarch64)
cross_cc     = $(1)-linux-gnu-gcc
can_build    = $(shell echo 'int json_loads(), uuid_parse(); int main(void) { return json_loads() + uuid_parse(); }' | \
                 $(call cross_cc,$(1)) -static -xc - -o /dev/null -ljansson -luuid 2>/dev/null && echo $(1))
CROSS_AGENTS := $(foreach a,$(CROSS_ARCHS),$(addprefix $(BUILD)/batchai-node-,$(call can_build,$(a))))

.PHONY: all
all: $(BUILD)/batchaid $(BUILD)/batchai-node $(CROSS_AGENTS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@ || { echo "failed: $<" >&2; exit 1; }

define room_lib
$(call lib,$(1)): $(call obj,$(call src_of,$(1)))
	@mkdir -p $$(@D)
	@rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach r,$(filter-out daemon,$(ROOMS)),$(eval $(call room_lib,$(r))))

# Migrations are embedded: one C array out of migrations/NNNN_*.sql, in order.
MIGRATIONS := $(sort $(wildcard migrations/*.sql))
$(BUILD)/gen/migrations.inc: $(MIGRATIONS) test/tools/embed_sql.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sql.py $(MIGRATIONS) > $@.tmp && mv $@.tmp $@
$(call obj,$(call src_of,storage)): $(BUILD)/gen/migrations.inc

# What runs on nodes around docker and podman: short shell programs, embedded as text.
PROGRAMS := $(sort $(wildcard scheduler/programs/*.sh))
$(BUILD)/gen/programs.inc: $(PROGRAMS) test/tools/embed_sh.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sh.py $(PROGRAMS) > $@.tmp && mv $@.tmp $@
$(call obj,$(call src_of,scheduler)): $(BUILD)/gen/programs.inc

$(BUILD)/batchaid: $(call obj,$(call src_of,daemon)) $(LINK_LIBS)
	@$(CC) -o $@ $(call obj,$(call src_of,daemon)) $(LINK_LIBS) $(LDFLAGS) $(PKG_LIBS) $(DAEMON_LIBS)

# What the agent shares with the daemon: the codec and the small tools.
AGENT_SHARED := $(call lib,nodeagent-proto) $(call lib,lib)
$(BUILD)/batchai-node: $(call obj,$(AGENT_SRCS)) $(AGENT_SHARED)
	@$(CC) -o $@ $(call obj,$(AGENT_SRCS)) $(AGENT_SHARED) $(LDFLAGS) $(AGENT_LIBS) -ljansson -luuid

CROSS_SHARED := $(call src_of,lib) $(wildcard nodeagent-proto/*.c)
CROSS_CFLAGS := -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -I. -DBATCHAID_VERSION='"$(VERSION)"' -MMD -MP
cross_obj     = $(patsubst %.c,$(BUILD)/obj-$(1)/%.o,$(2))
define cross_agent
$(BUILD)/obj-$(1)/%.o: %.c
	@mkdir -p $$(@D)
	@$(call cross_cc,$(1)) $$(CROSS_CFLAGS) -c $$< -o $$@
$(BUILD)/obj-$(1)/shared.a: $(call cross_obj,$(1),$(CROSS_SHARED))
	@rm -f $$@ && ar rcs $$@ $$^
$(BUILD)/batchai-node-$(1): $(call cross_obj,$(1),$(AGENT_SRCS)) $(BUILD)/obj-$(1)/shared.a
	@$(call cross_cc,$(1)) -static -o $$@ $$^ -ljansson -luuid
endef
$(foreach a,$(CROSS_ARCHS),$(eval $(call cross_agent,$(a))))

# Unit tests: test/unit/<room>/test_*.c, each a cmocka program that links its room and the rooms
# below it, and no more.
below_lib             := lib
below_model           := model lib
below_storage         := storage model lib
below_nodeagent-proto := nodeagent-proto model lib
below_scheduler       := scheduler storage nodeagent-proto model lib
below_api             := api scheduler storage nodeagent-proto model lib
UNIT_SRCS := $(sort $(wildcard test/unit/*/test_*.c))
UNIT_BINS := $(patsubst test/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRCS))
define unit_room
$(BUILD)/unit/$(1)/%: test/unit/$(1)/%.c $(foreach r,$(below_$(1)),$(call lib,$(r)))
	@mkdir -p $$(@D)
	@$$(CC) $$(CFLAGS) -o $$@ $$< $(foreach r,$(below_$(1)),$(call lib,$(r))) $$(LDFLAGS) $$(PKG_LIBS) -lcmocka
endef
$(foreach r,$(filter-out daemon,$(ROOMS)),$(eval $(call unit_room,$(r))))

# Prints docs/api-coverage.md.
$(BUILD)/tools/%: test/tools/%.c $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -o $@ $< $(LINK_LIBS) $(LDFLAGS) $(PKG_LIBS)

.PHONY: unit-bins
unit-bins: $(UNIT_BINS) $(BUILD)/tools/coverage

# For the bench: a daemon whose links to machines go to one process that plays all of their agents.
BENCH_BINS := $(BUILD)/bench/batchaid-sim $(BUILD)/bench/sim-agents
$(BUILD)/bench/batchaid-sim: $(call obj,$(call src_of,daemon) test/bench/link_sim.c) $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) -o $@ $^ -Wl,--wrap=node_open_ssh $(LDFLAGS) $(PKG_LIBS) $(DAEMON_LIBS)
$(BUILD)/bench/sim-agents: $(call obj,test/bench/sim_agents.c) $(AGENT_SHARED)
	@mkdir -p $(@D)
	@$(CC) -o $@ $^ $(LDFLAGS) $(PKG_LIBS)

# The same tests run on a build with AddressSanitizer and UndefinedBehaviorSanitizer.
ASAN := BUILD=build-asan OPT='-O1 -g -fno-omit-frame-pointer' AGENT_LIBS= \
        SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined \
             -Wno-format-truncation -Wno-format-overflow'
.PHONY: asan
asan:
	@$(MAKE) $(ASAN) all unit-bins

# pkg-config is asked when make starts: what `deps` installs counts from the next make on.
.PHONY: demo check
demo: deps
	@$(MAKE) all
	@demo/run.sh

check: deps
	@$(MAKE) all unit-bins
	@$(MAKE) asan
	@$(PYTHON) test/run_checks.py $(STAGES)

# Installs each published client package into a directory of its own below $(BUILD)/clients and runs it;
# what cannot be installed is named and skipped.
.PHONY: check-clients
check-clients: all
	@BUILD_DIR=$(BUILD) UPDATE_OPERATIONS=$(UPDATE_OPERATIONS) $(PYTHON) -m pytest -q -rs -s test/clients

.PHONY: bench bench-bins
bench-bins: $(BENCH_BINS)
bench: deps
	@$(MAKE) all bench-bins
	@$(PYTHON) test/bench/run.py

# --- house keeping -------------------------------------------------------------------------------

.PHONY: help deps install uninstall clean check-layers check-source tidy docs-update
help:
	@echo 'make               build batchaid and batchai-node into $(BUILD)/'
	@echo 'make demo          install what is missing, build, run the walkthrough with the real az'
	@echo 'make check         install what is missing, build, run every test'
	@echo 'make check-clients  install published clients in several languages and run each'
	@echo 'make bench         print figures: start, memory, requests and jobs per second, machines'
	@echo 'make install       PREFIX=$(PREFIX) DESTDIR=$(DESTDIR); make uninstall takes it away again'
	@echo 'make deps          install the Debian packages that are missing (apt only)'
	@echo 'make asan          build with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make check-layers  who may include whom; make check-source: format and house rules'
	@echo 'make tidy          clang-tidy and cppcheck'
	@echo 'make docs-update   write what docs say of settings and of the API out of the tables'
	@echo 'make clean         remove what was built'

deps:
	@test/tools/deps.sh

BINDIR  = $(DESTDIR)$(PREFIX)/bin
MANDIR  = $(DESTDIR)$(PREFIX)/share/man
UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system
USERDIR = $(DESTDIR)$(PREFIX)/lib/sysusers.d
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Installations below /usr keep their configuration in /etc.
SYSCONFDIR = $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)/batchaid
CONFDIR = $(DESTDIR)$(SYSCONFDIR)

install: all
	@install -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(UNITDIR) $(USERDIR) $(COMPDIR) $(CONFDIR)
	@install -m 755 $(BUILD)/batchaid $(BUILD)/batchai-node $(CROSS_AGENTS) $(BINDIR)
	@install -m 644 docs/man/batchaid.1 docs/man/batchai-node.1 $(MANDIR)/man1
	@install -m 644 docs/man/batchaid.yaml.5 $(MANDIR)/man5
	@sed 's|@bindir@|$(PREFIX)/bin|g; s|@sysconfdir@|$(SYSCONFDIR)|g' etc/batchaid.service > $(UNITDIR)/batchaid.service
	@chmod 644 $(UNITDIR)/batchaid.service
	@install -m 644 etc/batchaid.sysusers $(USERDIR)/batchaid.conf
	@install -m 644 etc/batchaid.bash-completion $(COMPDIR)/batchaid
	@install -m 644 etc/batchaid.yaml.example $(CONFDIR)/batchaid.yaml.example

uninstall:
	@rm -f $(BINDIR)/batchaid $(BINDIR)/batchai-node $(addprefix $(BINDIR)/batchai-node-,$(CROSS_ARCHS)) $(MANDIR)/man1/batchaid.1 \
	    $(MANDIR)/man1/batchai-node.1 $(MANDIR)/man5/batchaid.yaml.5 $(UNITDIR)/batchaid.service \
	    $(USERDIR)/batchaid.conf $(COMPDIR)/batchaid $(CONFDIR)/batchaid.yaml.example
	@rmdir $(CONFDIR) 2>/dev/null || true

clean:
	@rm -rf build build-asan $(BUILD)

check-layers:
	@$(PYTHON) test/tools/check_layers.py

check-source:
	@$(PYTHON) test/tools/check_source.py

# A source is looked at again when it, or a header it includes, has changed since it was found clean.
TIDY_OKS := $(patsubst %.c,$(BUILD)/tidy/%.ok,$(SRCS))
TIDY_RULES := .clang-tidy $(addprefix test/tools/,tidy.sh cppcheck.h cppcheck.supp)
$(BUILD)/tidy/%.ok: %.c $(BUILD)/obj/%.o $(TIDY_RULES)
	@mkdir -p $(@D)
	@CFLAGS='$(CFLAGS)' BUILD=$(BUILD) test/tools/tidy.sh $< && touch $@

.PHONY: tidy-sources
tidy-sources: $(TIDY_OKS)

tidy:
	@$(MAKE) -s -k -j$$(nproc) tidy-sources
	@echo 'tidy: ok'

docs-update: $(BUILD)/batchaid $(BUILD)/tools/coverage
	@BATCHAID=$(BUILD)/batchaid $(PYTHON) test/tools/config_docs.py --write
	@$(BUILD)/tools/coverage > docs/api-coverage.md

-include $(shell find $(BUILD)/obj* $(BUILD)/unit -name '*.d' 2>/dev/null)
