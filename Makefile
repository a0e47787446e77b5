# SPDX-License-Identifier: MIT
# make           build everything into build/
# make demo      install what is missing, build, run the walkthrough with the real az
# make check     install what is missing, build, run the tests; closes with "N passed, N failed"
# make check-deep    and what takes longer, before a release
# make check-quick   the unit tests and those of the REST surface alone
# make install   PREFIX=/usr/local DESTDIR=
# make help      the rest

BUILD  ?= build
PREFIX ?= /usr/local
CC     ?= cc
PYTHON ?= /usr/bin/python3
VERSION := 1.0.0

# A row of a table leaves out its last members: they are zero.
WARN   := -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 $(if $(WERROR),-Werror)
OPT    ?= -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
SAN    ?=
CFLAGS += -std=c11 -D_GNU_SOURCE $(WARN) $(OPT) $(SAN) -I. -I$(BUILD)/gen -MMD -MP
# A build id is a hash of the debug information, too, which has the folder of the build: the same sources would make other
# bytes in another folder. (To strip it later costs a program its read-only relocations.)
NO_BUILD_ID := -Wl,--build-id=none
LDFLAGS += $(SAN) $(LINK_OPT) $(NO_BUILD_ID)

# What is built is said in a line each; make V=1 shows the commands, make -s nothing.
Q      := $(if $(V),,@)
silent := $(findstring s,$(firstword -$(MAKEFLAGS)))
say     = @$(if $(V)$(silent),:,printf '  %-6s %s\n' $(1))

.DEFAULT_GOAL := all
# These only install, or start another make: they work before anything is installed.
BEFOREHAND := deps help clean demo check check-deep check-quick bench fuzz faults
needs_rooms := $(if $(MAKECMDGOALS),$(filter-out $(BEFOREHAND),$(MAKECMDGOALS)),all)

# ROOMS, lowest first, and below_ROOM for each: which rooms there are and who may use whom is in one table.
ifneq ($(needs_rooms),)
include $(BUILD)/gen/rooms.mk
endif
$(BUILD)/gen/rooms.mk: test/tools/rooms.txt test/tools/rooms.py
	@mkdir -p $(@D)
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is missing; install what is missing with: make deps" >&2; exit 1; }
	@$(PYTHON) test/tools/rooms.py --make > $@.tmp && mv $@.tmp $@
PKGS   := libmicrohttpd libuv sqlite3 jansson libsodium libjwt-gnutls libssh2 yaml-0.1 expat gnutls uuid zlib
# The daemon loads libcurl when it needs it first, by the name that the library has here: as the client of a command, and
# for URLs of others.
curl_file   = $(shell $(CC) -print-file-name=$(patsubst -l%,lib%.so,$(filter -l%,$(shell pkg-config --libs-only-l libcurl 2>/dev/null))))
curl_soname = $(shell readelf -d $(curl_file) 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) libcurl 2>/dev/null)
# minizip has a crypt.h of its own, so that its folder is not looked into.
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lminizip -lpthread -lcrypt -lm
CFLAGS += $(PKG_CFLAGS)

# The agent is a program of its own, linked statically of the rooms below it alone.
AGENT_LIBS ?= -static
# A room's own sources: not those of the rooms inside it.
src_of  = $(filter-out $(addsuffix /%,$(filter $(1)/%,$(ROOMS))),$(shell find $(1) -name '*.c' 2>/dev/null | sort))
AGENT_SRCS := $(call src_of,nodeagent-proto/agent)
SRCS   := $(foreach r,$(ROOMS),$(call src_of,$(r)))
obj     = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
PROGRAM_ROOMS := daemon nodeagent-proto/agent
LIB_ROOMS := $(filter-out $(PROGRAM_ROOMS),$(ROOMS))
lib     = $(BUILD)/lib/lib$(subst /,-,$(1)).a
# The libraries of a room and those below it, highest first, for the linker: none calls upwards.
libs_of = $(foreach r,$(below_$(1)),$(call lib,$(r)))
LINK_LIBS := $(foreach r,$(filter $(LIB_ROOMS),$(below_daemon)),$(call lib,$(r)))

# Agents for machines of other architectures: built where a cross compiler and static libraries for
# it are installed, of the same sources, without sanitizers. The daemon finds them beside its own.
CROSS_ARCHS := $(if $(filter aarch64,$(shell uname -m)),,aarch64)
cross_cc     = $(1)-linux-gnu-gcc
can_build    = $(shell echo 'int json_loads(), uuid_parse(), unzClose(); int main(void) { return json_loads() + uuid_parse() + unzClose(); }' | \
                 $(call cross_cc,$(1)) -static -xc - -o /dev/null -ljansson -luuid -lminizip -lz 2>/dev/null && echo $(1))
CROSS_BUILT := $(foreach a,$(CROSS_ARCHS),$(call can_build,$(a)))
# What runs on nodes: the agent, and the interpreter of Windows command lines.
NODE_PROGRAMS := $(addprefix $(BUILD)/,batchai-node batchai-cmd)
CROSS_PROGRAMS := $(foreach a,$(CROSS_BUILT),$(addsuffix -$(a),$(NODE_PROGRAMS)))

.PHONY: all
all: $(BUILD)/batchaid $(NODE_PROGRAMS) $(CROSS_PROGRAMS)

# Compiler, packages and headers are looked for once, before the first object.
HAVE := $(BUILD)/gen/have.ok
$(HAVE): test/tools/have.sh
	@mkdir -p $(@D)
	@CC='$(CC)' AGENT_LIBS='$(AGENT_LIBS)' test/tools/have.sh $(PKGS) libcurl && touch $@

$(BUILD)/obj/scheduler/fleet/transfer/curl_functions.o: CFLAGS += $(if $(curl_soname),-DCURL_SONAME='"$(curl_soname)"')

# Statements: of storage/sql/*.sql are made prototypes, functions and texts. A file that would be as before stays as
# it is, so what includes it is not built anew.
STATEMENTS := $(sort $(wildcard storage/sql/*.sql))
STATEMENTS_MADE := $(BUILD)/gen/statements.ok
made_of_storage := $(patsubst %.sql,$(BUILD)/obj/%.o,$(filter-out %/columns.sql,$(STATEMENTS)))
$(STATEMENTS_MADE): $(STATEMENTS) test/tools/make_statements.py $(wildcard model/*.h model/*/*.h storage/*.h storage/*.c)
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/make_statements.py $(@D) $(STATEMENTS) && touch $@
$(patsubst $(BUILD)/obj/%.o,$(BUILD)/gen/%.c,$(made_of_storage)): $(STATEMENTS_MADE)
	@:
$(BUILD)/gen/storage/sql/%.h: $(STATEMENTS_MADE)
	@:
$(BUILD)/gen/statement_%.inc: $(STATEMENTS_MADE)
	@:

# Requests to nodes: of one table are made their structs and the rows by which they are packed and read.
REQUESTS_MADE := $(BUILD)/gen/requests.ok
$(REQUESTS_MADE): nodeagent-proto/wire/requests.txt test/tools/make_requests.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/make_requests.py $(@D) && touch $@
$(BUILD)/gen/nodeagent-proto/wire/requests.h $(BUILD)/gen/requests.inc $(BUILD)/gen/replies.inc: $(REQUESTS_MADE)
	@:

# Handlers are declared by the tables of routes that name them.
ROUTES_MADE := $(BUILD)/gen/routes.ok
ROUTE_TABLES := $(sort $(wildcard api/*/*service.c api/*/*/*service.c))
$(ROUTES_MADE): $(ROUTE_TABLES) test/tools/make_routes.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/make_routes.py $(@D) $(ROUTE_TABLES) && touch $@
$(BUILD)/gen/api/%/routes.h: $(ROUTES_MADE)
	@:

# A header of its own, so that a raised version makes again what contains it. test/tools/tidy.sh defines another.
VERSION_MADE := $(BUILD)/gen/lib/version.h
$(VERSION_MADE): FORCE
	@mkdir -p $(@D)
	@printf '#ifndef BATCHAID_VERSION\n#define BATCHAID_VERSION "%s"\n#endif\n' $(VERSION) > $@.$$$$ && \
	    if [ "$$(cat $@ 2>/dev/null)" = "$$(cat $@.$$$$)" ]; then rm $@.$$$$; else mv $@.$$$$ $@; fi
FORCE:

define compile
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CFLAGS) -c $< -o $@ || { rm -f $(HAVE); echo "failed: $<" >&2; exit 1; }
endef
$(BUILD)/obj/storage/sql/%.o: $(BUILD)/gen/storage/sql/%.c | $(HAVE)
	$(compile)
$(BUILD)/obj/%.o: %.c | $(HAVE) $(VERSION_MADE) $(STATEMENTS_MADE) $(REQUESTS_MADE) $(ROUTES_MADE)
	$(compile)

# A room may have a program beside its library: its main() is in no library.
define room_lib
$(call lib,$(1)): $(call obj,$(filter-out %/main.c,$(call src_of,$(1)))) $(made_of_$(1))
	@mkdir -p $$(@D)
	$$(call say,AR $$@)
	$(Q)rm -f $$@ && ar qcs $$@ $$^
endef
$(foreach r,$(LIB_ROOMS),$(eval $(call room_lib,$(r))))

# Migrations are embedded: one C array out of migrations/NNNN_*.sql, in order.
MIGRATIONS := $(sort $(wildcard migrations/*.sql))
$(BUILD)/gen/migrations.inc: $(MIGRATIONS) test/tools/embed_sql.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sql.py $(MIGRATIONS) > $@.tmp && mv $@.tmp $@
$(call obj,$(call src_of,storage)): $(BUILD)/gen/migrations.inc $(BUILD)/gen/image.inc

# And what they make of a new file, which the first start writes as it is.
$(BUILD)/gen/image.inc: $(MIGRATIONS) test/tools/embed_image.py storage/storage_priv.h
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_image.py \
	    $$(sed -n 's/^\#define ST_\(APPLICATION_ID\|SCHEMA_BASE\) *\([0-9a-fx]*\).*/\2/p' storage/storage_priv.h) $(MIGRATIONS) > $@.tmp && mv $@.tmp $@

# What runs on nodes around docker and podman: short shell programs, embedded as text.
PROGRAMS := $(sort $(wildcard scheduler/fleet/container/programs/*.sh))
$(BUILD)/gen/programs.inc: $(PROGRAMS) test/tools/embed_sh.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sh.py $(PROGRAMS) > $@.tmp && mv $@.tmp $@
$(call obj,$(call src_of,scheduler/fleet/container) scheduler/fleet/node/account.c): $(BUILD)/gen/programs.inc

# What starts the ranks of MPI jobs on nodes, and what else a run needs there, likewise.
LAUNCH_PROGRAMS := $(sort $(wildcard scheduler/run/launch/programs/*.sh))
$(BUILD)/gen/launch_programs.inc: $(LAUNCH_PROGRAMS) test/tools/embed_sh.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sh.py $(LAUNCH_PROGRAMS) > $@.tmp && mv $@.tmp $@
RUN_PROGRAMS := $(sort $(wildcard scheduler/run/programs/*.sh))
$(BUILD)/gen/run_programs.inc: $(RUN_PROGRAMS) test/tools/embed_sh.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_sh.py $(RUN_PROGRAMS) > $@.tmp && mv $@.tmp $@
# The page: the files that browsers load, compressed.
PAGE_FILES := $(sort $(wildcard api/page/files/* api/page/vendor/*.js api/page/vendor/*.css))
$(BUILD)/gen/page_files.inc: $(PAGE_FILES) test/tools/embed_page.py
	@mkdir -p $(@D)
	@$(PYTHON) test/tools/embed_page.py $(PAGE_FILES) > $@.tmp && mv $@.tmp $@
$(call obj,$(call src_of,api/page)): $(BUILD)/gen/page_files.inc
$(call obj,$(call src_of,scheduler/run)): $(BUILD)/gen/launch_programs.inc $(BUILD)/gen/run_programs.inc

$(BUILD)/batchaid: $(call obj,$(call src_of,daemon)) $(LINK_LIBS)
	$(call say,LINK $@)
	$(Q)$(CC) -o $@ $(call obj,$(call src_of,daemon)) $(LINK_LIBS) $(LDFLAGS) $(PKG_LIBS) -ldl

# The same daemon for any Linux with glibc 2.34: the two libraries that want a later one are linked statically.
PORTABLE := $(BUILD)/portable/batchaid
$(PORTABLE): $(call obj,$(call src_of,daemon) etc/dist/arc4random.c) $(LINK_LIBS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(patsubst -lcrypt,-l:libcrypt.a,$(patsubst -lexpat,-l:libexpat.a,$(PKG_LIBS))) -ldl

# What the agent shares with the daemon: the wire and the small tools.
AGENT_ROOMS := $(filter $(LIB_ROOMS),$(below_nodeagent-proto/agent))
AGENT_SHARED := $(foreach r,$(AGENT_ROOMS),$(call lib,$(r)))
$(BUILD)/batchai-node: $(call obj,$(AGENT_SRCS)) $(AGENT_SHARED)
	$(call say,LINK $@)
	$(Q)$(CC) -o $@ $(call obj,$(AGENT_SRCS)) $(AGENT_SHARED) $(LDFLAGS) $(AGENT_LIBS) -ljansson -luuid -lminizip -lz

$(BUILD)/batchai-cmd: $(call obj,nodeagent-proto/windows/main.c) $(call libs_of,nodeagent-proto/windows)
	$(call say,LINK $@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(AGENT_LIBS) -ljansson

CROSS_SHARED := $(foreach r,$(AGENT_ROOMS),$(call src_of,$(r)))
CROSS_CMD := $(foreach r,$(below_nodeagent-proto/windows),$(call src_of,$(r)))
CROSS_CFLAGS := -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -I. -I$(BUILD)/gen -MMD -MP
cross_obj     = $(patsubst %.c,$(BUILD)/obj-$(1)/%.o,$(2))
define cross_agent
$(BUILD)/obj-$(1)/%.o: %.c | $(HAVE) $(VERSION_MADE) $(REQUESTS_MADE)
	@mkdir -p $$(@D)
	$$(call say,CC $$@)
	$(Q)$(call cross_cc,$(1)) $$(CROSS_CFLAGS) -c $$< -o $$@
$(BUILD)/obj-$(1)/shared.a: $(call cross_obj,$(1),$(CROSS_SHARED))
	@rm -f $$@ && ar qcs $$@ $$^
$(BUILD)/batchai-node-$(1): $(call cross_obj,$(1),$(AGENT_SRCS)) $(BUILD)/obj-$(1)/shared.a
	$$(call say,LINK $$@)
	$(Q)$(call cross_cc,$(1)) -static $(NO_BUILD_ID) -o $$@ $$^ -ljansson -luuid -lminizip -lz
$(BUILD)/batchai-cmd-$(1): $(call cross_obj,$(1),$(CROSS_CMD))
	$$(call say,LINK $$@)
	$(Q)$(call cross_cc,$(1)) -static $(NO_BUILD_ID) -o $$@ $$^ -ljansson
endef
$(foreach a,$(CROSS_ARCHS),$(eval $(call cross_agent,$(a))))

# Unit tests: test/unit/<room>/test_*.c, each a cmocka program that links its room and the rooms
# below it, and no more.
# Linked into each of them: the list of tests and its main(), the choice of tests by name, the end of what is left,
# loops in virtual time, and the words of Batch AI, which call nothing.
UNIT_SUPPORT := $(call obj,$(addprefix test/unit/support/,filter.c leftovers.c tests.c) test/sim/sim_loop.c scheduler/front/batchai/words.c)
UNIT_SRCS := $(sort $(shell find test/unit -name 'test_*.c'))
UNIT_BINS := $(patsubst test/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRCS))
# A test's own code is not optimised: that takes longer than the test saves by it.
UNIT_OPT ?= -Og
$(BUILD)/obj/test/unit/%.o: CFLAGS += $(UNIT_OPT)
.SECONDARY: $(call obj,$(UNIT_SRCS)) $(UNIT_SUPPORT)
# The scheduler's tests run clusters and jobs of Batch AI, and pools of Azure Batch.
tested_with_scheduler := scheduler/front/batch scheduler/front/batchai storage/packages nodeagent-proto/agent/zip scheduler/formula
tested_libs = $(foreach r,$(tested_with_$(1)),$(call lib,$(r))) $(call libs_of,$(1))
# There are hundreds of them: mold links each in half the time.
UNIT_LD := $(if $(shell command -v mold),-fuse-ld=mold)
define link_unit
	@mkdir -p $(@D)
	$(call say,UNIT $@)
	$(Q)$(CC) $(UNIT_LD) -o $@ $^ $(LDFLAGS) $(PKG_LIBS) -lcmocka
endef
define unit_room
$(BUILD)/unit/$(1)/%: $(BUILD)/obj/test/unit/$(1)/%.o $(UNIT_SUPPORT) $(call tested_libs,$(1))
	$$(link_unit)
endef
$(foreach r,$(LIB_ROOMS),$(eval $(call unit_room,$(r))))
# Those of the program on nodes link all of it but its main().
AGENT_TESTED := $(call obj,$(filter-out %/main.c,$(AGENT_SRCS)))
$(BUILD)/unit/nodeagent-proto/agent/%: $(BUILD)/obj/test/unit/nodeagent-proto/agent/%.o $(UNIT_SUPPORT) $(AGENT_TESTED) $(AGENT_SHARED)
	$(link_unit)

# They print docs/api-coverage.md and docs/batch-coverage.md, and the routes of all services for a test.
COVERAGE_BINS := $(addprefix $(BUILD)/tools/,coverage batch_coverage routes)
$(BUILD)/tools/%: test/tools/%.c test/tools/clients_seen.h $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -o $@ $< $(LINK_LIBS) $(LDFLAGS) $(PKG_LIBS)

# For the test of upgrades: a daemon with one migration more.
NEXT_BIN := $(BUILD)/batchaid-next
$(NEXT_BIN): $(call obj,$(call src_of,daemon) test/fixtures/next_migration.c) $(LINK_LIBS)
	$(call say,LINK $@)
	$(Q)$(CC) -o $@ $^ -Wl,--wrap=st_migrations $(LDFLAGS) $(PKG_LIBS) -ldl
$(call obj,test/fixtures/next_migration.c): $(BUILD)/gen/migrations.inc

.PHONY: unit-bins computing-bins
unit-bins: $(UNIT_BINS) $(COVERAGE_BINS) $(NEXT_BIN)
# Those that `make check` runs under valgrind, too.
computing-bins: $(COVERAGE_BINS) $(patsubst %,$(BUILD)/unit/%,$(shell $(PYTHON) test/tools/chosen.py computing))

# For the bench: a daemon whose links to machines go to one process that plays all of their agents.
BENCH_BINS := $(addprefix $(BUILD)/bench/,batchaid-sim sim-agents plan-queue)
$(BUILD)/bench/batchaid-sim: $(call obj,$(call src_of,daemon) test/bench/link_sim.c) $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) -o $@ $^ -Wl,--wrap=node_open_ssh $(LDFLAGS) $(PKG_LIBS) -ldl
$(BUILD)/bench/plan-queue: $(call obj,test/bench/plan_queue.c) $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) -o $@ $< $(LINK_LIBS) $(LDFLAGS) $(PKG_LIBS)
$(BUILD)/bench/sim-agents: $(call obj,test/bench/sim_agents.c) $(AGENT_SHARED)
	@mkdir -p $(@D)
	@$(CC) -o $@ $^ $(LDFLAGS) $(PKG_LIBS)

# The simulation: the core against fake nodes, in virtual time, on a disk that loses what was not
# synced. Guids and the sync of the WAL are the simulation's own; in sim-broken more of the core is
# wrapped, to break it on purpose.
SIM_OBJS   := $(call obj,$(sort $(wildcard test/sim/*.c)))
SIM_BROKEN := $(call obj,test/sim/broken/broken.c)
SIM_WRAPPED := fdatasync guid_new st_check frame_encode json_loadb runs_allocate st_node_move \
               $(addprefix sqlite3_,open_v2 close prepare_v2 prepare_v3 finalize exec)
sim_wrap    = $(patsubst %,-Wl$(comma)--wrap=%,$(SIM_WRAPPED) $(1))
comma      := ,
$(BUILD)/sim/sim: $(SIM_OBJS) $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) -o $@ $(SIM_OBJS) $(LINK_LIBS) $(sim_wrap) $(LDFLAGS) $(PKG_LIBS)
$(BUILD)/sim/sim-broken: $(SIM_OBJS) $(SIM_BROKEN) $(LINK_LIBS)
	@mkdir -p $(@D)
	@$(CC) -o $@ $(SIM_OBJS) $(SIM_BROKEN) $(LINK_LIBS) \
	    $(call sim_wrap,sim_disk_sync st_run_queue st_node_local_total st_allocation_of_run \
	        st_task_prefix wake st_event_add st_event_forget st_allocation_of_node machines_use \
        ahead_allows ahead_keep plan_scale machines_lent launch_succeeded export_begin st_file_server_served_ids st_node_by_id fleet_machine_reboot \
        st_dependency_add st_run_insert st_batch_pool_unsettled_ids st_batch_pool_scaled_ids \
        wake_if_lost plan_program batch_job_terminate auto_pool_end_of_job st_usage_write st_usage_day_add \
        $(addprefix st_batch_,task_move task_waiting wait_add wait_settle task_count_fed subtask_begin)) \
	    $(LDFLAGS) $(PKG_LIBS)

HISTORIES ?= 10000
SEED      ?= 1
STEPS     ?= 50
.PHONY: sim sim-bins
sim-bins: $(BUILD)/sim/sim $(BUILD)/sim/sim-broken
sim: $(BUILD)/sim/sim
	@$(BUILD)/sim/sim --histories $(HISTORIES) --seed $(SEED) --steps $(STEPS)

# The same tests run on a build with AddressSanitizer and UndefinedBehaviorSanitizer. -Og compiles in two thirds
# of the time of -O1, and the tests, which mostly wait, run as long. A report needs no more than
# the lines of -g1. The build is at a fixed address: the tables of the sanitizers are 428,000 relocations, which take
# a third of a program's start.
ASAN := BUILD=build-asan OPT='-Og -g1 -fno-omit-frame-pointer -fno-pie' LINK_OPT=-no-pie AGENT_LIBS= \
        SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined \
             -Wno-format-truncation -Wno-format-overflow'
.PHONY: asan
asan:
	@$(MAKE) $(ASAN) all unit-bins replay-bins

# ThreadSanitizer: every test that has more than one thread; `make check` runs some of them (test/tools/chosen.py).
TSAN := BUILD=build-tsan OPT='-Og -g1 -fno-omit-frame-pointer' AGENT_LIBS= \
        SAN='-fsanitize=thread -Wno-format-truncation -Wno-format-overflow'
tsan_tests = $(patsubst %,build-tsan/unit/%,$(shell $(PYTHON) test/tools/chosen.py $(1)))
.PHONY: tsan tsan-bins tsan-all-bins
tsan: tsan-all-bins
	@$(PYTHON) test/run_checks.py --deep threads
tsan-all-bins:
	@test/tools/deps.sh build test
	@$(MAKE) $(JOBS_FLAG) $(TSAN) all $(call tsan_tests,threads)
tsan-bins:
	@$(MAKE) $(JOBS_FLAG) $(TSAN) $(call tsan_tests,threads-of-check)

# Fuzzing: a program a target (test/fuzz/fuzz_NAME.c), with clang's libFuzzer and the sanitizers, of the rooms
# that read what others send.
FUZZ_NAMES := $(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
FUZZ_ROOMS := daemon/config api/login api/access api/http storage nodeagent-proto/agent/zip nodeagent-proto/wire model/sample \
              nodeagent-proto/windows scheduler/formula model lib
FUZZ_LIBS   = $(call obj,$(addprefix api/plane/blob/,batch_read.c tag_words.c) $(addprefix api/plane/storage/,errors.c link.c range.c sas.c shared_key.c structured.c)) \
              $(foreach r,$(FUZZ_ROOMS),$(call lib,$(r)))
# What some take besides: the link of the daemon, in virtual time; the agent's requests, without what acts on
# the machine, in the place of which stands the target itself.
FUZZ_MORE_link  := $(call obj,test/sim/sim_loop.c $(addprefix nodeagent-proto/link/,link.c link_hear.c link_serve.c link_watch.c requests.c))
FUZZ_MORE_agent := $(call obj,$(addprefix nodeagent-proto/agent/,requests.c ops.c ops_files.c ops_machine.c peer.c epoch.c))
FUZZ_MORE_gpus  := $(call obj,$(addprefix nodeagent-proto/agent/,gpu_lines.c file_text.c) storage/history/pack.c)
FUZZ_MORE_seed  := $(call obj,$(addprefix api/testing/seed/,seed_doc.c kinds.c files.c notes.c) api/plane/storage/beside.c)
FUZZ_MORE_blobs := $(call obj,scheduler/fleet/transfer/blobs.c)
FUZZ_LINK_agent := -Wl,--wrap=fs_write_atomic
FUZZ_MORE_remotes := $(call obj,$(addprefix nodeagent-proto/agent/,remotes.c))
FUZZ_LINK_remotes := -Wl,--wrap=accept4
# The tables of properties that have a name for others, out of the headers, so that none is forgotten.
TABLE_HEADERS := $(wildcard model/*.h model/*/*.h)
$(BUILD)/gen/tables.h: $(TABLE_HEADERS)
	@mkdir -p $(@D)
	@sed -n '/^extern const struct schema /,/;/p' $^ | grep -o 'schema_[a-z0-9_]*' | sed 's/.*/TABLE(&)/' > $@.tmp && mv $@.tmp $@
FUZZ_MORE_tables := $(BUILD)/gen/tables.h
$(BUILD)/obj/test/unit/model/test_schema_rows.o: $(BUILD)/gen/tables.h
.SECONDEXPANSION:
$(BUILD)/fuzz/fuzz_%: test/fuzz/fuzz_%.c test/fuzz/fuzz.h $$(FUZZ_MORE_$$*) $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call say,FUZZ $@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $(filter-out %.h,$^) $(FUZZ_LINK_$*) $(LDFLAGS) $(PKG_LIBS)
# Without a fuzzer: each target on its corpus, by whatever builds the tests.
REPLAY_BINS := $(addprefix $(BUILD)/replay/,$(FUZZ_NAMES))
$(BUILD)/replay/%: test/fuzz/fuzz_%.c test/fuzz/replay.c test/fuzz/fuzz.h $$(FUZZ_MORE_$$*) $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call say,REPLAY $@)
	$(Q)$(CC) $(CFLAGS) $(UNIT_OPT) -o $@ $(filter-out %.h,$^) $(FUZZ_LINK_$*) $(LDFLAGS) $(PKG_LIBS)
.PHONY: replay-bins
replay-bins: $(REPLAY_BINS)
.PHONY: fuzz fuzz-bins fuzz-programs
fuzz-programs: $(addprefix $(BUILD)/fuzz/fuzz_,$(FUZZ_NAMES))
FUZZ_CC ?= clang
fuzz-bins:
	@$(MAKE) $(JOBS_FLAG) BUILD=build-fuzz CC='$(FUZZ_CC)' OPT='-O1 -g -fno-omit-frame-pointer' AGENT_LIBS= \
	    SAN='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined' fuzz-programs
# All of them side by side, FUZZ_SECONDS each.
FUZZ_SECONDS ?= 600
fuzz:
	@test/tools/deps.sh build test
	@$(MAKE) fuzz-bins
	@printf '%s\n' $(FUZZ_NAMES) | xargs -P$(JOBS) -I{} test/tools/fuzz.sh {} $(FUZZ_SECONDS)

# How many things are built at a time: MAKEFLAGS says it where make was started with -j.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
JOBS_FLAG = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# pkg-config is asked when make starts: what is installed here counts from the next make on.
.PHONY: demo check check-deep check-quick
demo:
	@test/tools/deps.sh build demo
	@$(MAKE) $(JOBS_FLAG) all
	@test/demo/run.sh

# A warning stops the build of our own checks, and of nobody else: a compiler to come has others.
check check-deep check-quick: export WERROR := 1
check:
	@test/tools/deps.sh build demo test lint bench
	@$(MAKE) $(JOBS_FLAG) all computing-bins sim-bins bench-bins
	@$(MAKE) $(JOBS_FLAG) asan
	@$(MAKE) tsan-bins
	@$(PYTHON) test/run_checks.py $(STAGES)

# And what takes longer: all clients, every program under valgrind, fuzzing, 40,000 histories, packages and images.
check-deep:
	@test/tools/deps.sh build demo packaging test lint bench
	@$(MAKE) $(JOBS_FLAG) all unit-bins sim-bins bench-bins
	@$(MAKE) $(JOBS_FLAG) asan
	@$(MAKE) tsan-all-bins
	@$(MAKE) fuzz-bins
	@$(PYTHON) test/run_checks.py --deep

# Does the job that is expected to find it find each fault of test/seeded_faults/? Hours; FAULTS="NAME..." or SAMPLE=N: some of them.
.PHONY: faults
faults:
	@test/tools/deps.sh build demo packaging test lint bench
	@$(PYTHON) test/tools/seeded_faults.py $(if $(SAMPLE),--sample=$(SAMPLE) $(if $(SEED),--seed=$(SEED)),--expected --deep) $(FAULTS)

# The unit tests and those of the REST surface alone: no machines, containers or packages of clients.
check-quick:
	@test/tools/deps.sh build test
	@$(MAKE) $(JOBS_FLAG) all
	@$(MAKE) $(JOBS_FLAG) asan
	@$(PYTHON) test/run_checks.py unit api

# Installs each published client package into a directory of its own (test/support/packages.py) and runs it;
# what cannot be installed is named and skipped.
.PHONY: check-clients
check-clients: all
	@test/tools/deps.sh test frameworks
	@BUILD_DIR=$(BUILD) UPDATE_OPERATIONS=$(UPDATE_OPERATIONS) $(PYTHON) -m pytest -q -rs -s --ignore=test/clients/newest test/clients

# The newest release of each client, with its defaults: says what changed since test/clients/newest/newest.tsv was recorded
# (RECORD=1 records it), and decides nothing.
.PHONY: check-newest
check-newest: all
	@test/tools/deps.sh test
	@UPDATE_NEWEST=$(RECORD) $(PYTHON) test/run_checks.py --deep newest

.PHONY: bench bench-bins
bench-bins: $(BENCH_BINS)
bench:
	@test/tools/deps.sh build test bench
	@$(MAKE) $(JOBS_FLAG) all bench-bins
	@$(PYTHON) test/bench/run.py

# --- house keeping -------------------------------------------------------------------------------

.PHONY: help deps install uninstall clean check-layers check-source tidy docs-update screenshots
help:
	@echo 'make               build batchaid, batchai-node and batchai-cmd into $(BUILD)/'
	@echo 'make demo          install what is missing, build, run the walkthrough with the real az'
	@echo 'make check         install what is missing, build, run the tests: 25 to 45 minutes on 2 cores'
	@echo 'make check-deep    and what takes longer: every client, valgrind, fuzzing, packages; before a release'
	@echo 'make faults        does a test find each seeded fault? hours; SAMPLE=4: four by chance, SEED= chooses them'
	@echo 'make check-quick   the unit tests and those of the REST surface alone'
	@echo 'make check-clients  install published clients in several languages and run each'
	@echo 'make check-newest  run the newest release of each client, and say what changed'
	@echo 'make sim           random histories of the core in virtual time: HISTORIES= SEED= STEPS='
	@echo 'make bench         print figures: start, memory, requests and jobs per second, machines'
	@echo 'make install       PREFIX=$(PREFIX) DESTDIR=$(DESTDIR); make uninstall takes it away again'
	@echo 'make wheel         the Python package, for jobs and tests, with the daemon and its libraries, into $(DIST_DIR)/'
	@echo 'make deb           a Debian package, into $(DEB_DIR)/'
	@echo 'make dist          wheel, tarball, Debian package and image with checksums, into $(DIST_DIR)/; wheel and tarball for aarch64, too'
	@echo 'make image         a container image of it for podman and docker, $(IMAGE)'
	@echo 'make npm           packages for npm with the program, into $(NPM_DIR)/'
	@echo 'make go-module     Go modules with the program, as a GOPROXY, into $(GO_DIR)/'
	@echo 'make deps          install the Debian packages that are missing (apt only) to build and to use az;'
	@echo '                   SECTIONS="build demo packaging test lint bench frameworks" for those of test/tools/packages.txt'
	@echo 'make V=1           show the commands; -s: nothing but what is wrong; WERROR=1: warnings are errors'
	@echo 'make asan          build with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan          build with ThreadSanitizer, run every test that has more than one thread'
	@echo 'make fuzz          fuzz every target of test/fuzz/, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make check-layers  who may include and call whom; make check-source: format and house rules'
	@echo 'make tidy          clang-tidy and cppcheck; DEEP=1 lets the analyzer follow every path; tidy-changed: what is new'
	@echo 'make docs-update   write what docs say of settings, commands, log, metrics, requests to nodes and the API out of the tables'
	@echo 'make screenshots   take the pictures of docs/images again, with chromium'
	@echo 'make clean         remove what was built'

# What building and the first steps of the README need; SECTIONS=... for others of packages.txt.
SECTIONS ?= build demo
deps:
	@test/tools/deps.sh $(SECTIONS)

BINDIR  = $(DESTDIR)$(PREFIX)/bin
MANDIR  = $(DESTDIR)$(PREFIX)/share/man
UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system
USERDIR = $(DESTDIR)$(PREFIX)/lib/sysusers.d
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
DOCDIR  = $(DESTDIR)$(PREFIX)/share/doc/batchaid
# Alerts for Prometheus and a board for Grafana lie beside the pages.
WATCHING := etc/prometheus/batchaid.rules.yml etc/grafana/batchaid.json
# Installations below /usr keep their configuration in /etc.
SYSCONFDIR = $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)/batchaid
CONFDIR = $(DESTDIR)$(SYSCONFDIR)

# The Python package for tests with the programs in it, as pip and setuptools take it.
WHEEL_SRC  ?= $(BUILD)/wheel-src
DAEMON     ?= $(BUILD)/batchaid
WHEEL_ARCH ?= $(shell uname -m)
.PHONY: wheel-src wheel
wheel-src: all
	@rm -rf $(WHEEL_SRC) && mkdir -p $(WHEEL_SRC)
	@cp -r etc/wheel/. LICENSE $(WHEEL_SRC)
	@install -D -t $(WHEEL_SRC)/batchaid/bin $(DAEMON) $(NODE_PROGRAMS)
	@printf '[bdist_wheel]\nplat_name = linux_%s\n' $(WHEEL_ARCH) > $(WHEEL_SRC)/setup.cfg

# What runs on any Linux with glibc 2.34, with its libraries: the wheel, and a tree that runs where it lies.
DIST_DIR ?= $(BUILD)/dist
# Files that are made have the time of the last commit: the same sources make the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
wheel: all $(PORTABLE)
	@CC='$(CC)' PYTHON='$(PYTHON)' etc/dist/portable.sh $(BUILD) $(VERSION) $(WHEEL_ARCH) $(DIST_DIR)

# The same for aarch64 by Debian's cross compiler: what it needs of Debian is unpacked in CROSS_TREE.
CROSS_TREE := $(abspath $(BUILD))/sysroot-aarch64
CROSS_PC = $(CROSS_TREE)/usr/lib/aarch64-linux-gnu/pkgconfig:$(CROSS_TREE)/usr/share/pkgconfig
.PHONY: wheel-aarch64
wheel-aarch64:
	@etc/dist/sysroot.sh aarch64 $(CROSS_TREE)
	+@SYSROOT=$(CROSS_TREE) PKG_CONFIG_SYSROOT_DIR=$(CROSS_TREE) PKG_CONFIG_LIBDIR=$(CROSS_PC) $(MAKE) wheel BUILD=$(BUILD)-aarch64 \
	    CC='$(filter ccache,$(CC)) aarch64-linux-gnu-gcc --sysroot=$(CROSS_TREE)' CROSS_ARCHS= WHEEL_ARCH=aarch64 DIST_DIR=$(DIST_DIR)

# A Debian package; a container image of the portable program.
DEB_DIR   ?= $(BUILD)/deb
IMAGE_DIR ?= $(BUILD)/image
IMAGE     ?= localhost/batchaid:$(VERSION)
PORTABLE_TREE = $(DIST_DIR)/batchaid-$(VERSION)-linux-$(WHEEL_ARCH)
.PHONY: deb image dist
deb: all
	@PYTHON='$(PYTHON)' etc/deb.sh $(BUILD) $(VERSION) $(DEB_DIR)
image: wheel
	@PYTHON='$(PYTHON)' etc/image.sh $(PORTABLE_TREE) $(IMAGE_DIR) $(IMAGE) $(IMAGE_ARCHIVE)

# All that is given to others, with checksums; aarch64 where it is not this machine's own.
dist: $(if $(filter x86_64,$(WHEEL_ARCH)),wheel-aarch64)
	@$(MAKE) deb DEB_DIR=$(DIST_DIR)
	@$(MAKE) image IMAGE_ARCHIVE=$(DIST_DIR)/batchaid-$(VERSION)-image-$(WHEEL_ARCH).tar.gz
	@$(MAKE) -o wheel npm go-module
	@etc/dist/pack.sh $(DIST_DIR) $(VERSION)

# The same program for tests in Node and in Go, for each architecture whose portable tree is in DIST_DIR: this machine's
# own is made anew.
NPM_DIR ?= $(DIST_DIR)/npm
GO_DIR ?= $(DIST_DIR)/go
PORTABLE_TREES = $(wildcard $(DIST_DIR)/batchaid-$(VERSION)-linux-x86_64 $(DIST_DIR)/batchaid-$(VERSION)-linux-aarch64)
.PHONY: npm go-module
npm: wheel
	@$(PYTHON) etc/npm/packages.py $(VERSION) $(NPM_DIR) $(PORTABLE_TREES)
go-module: wheel
	@$(PYTHON) etc/go/modules.py $(VERSION) $(GO_DIR) $(PORTABLE_TREES)

install: all
	@install -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(UNITDIR) $(USERDIR) $(COMPDIR) $(CONFDIR) $(DOCDIR)
	@install -m 755 $(BUILD)/batchaid $(NODE_PROGRAMS) $(CROSS_PROGRAMS) $(BINDIR)
	@install -m 644 docs/man/batchaid.1 docs/man/batchai-node.1 docs/man/batchai-cmd.1 $(MANDIR)/man1
	@install -m 644 docs/man/batchaid.yaml.5 $(MANDIR)/man5
	@sed 's|@bindir@|$(PREFIX)/bin|g; s|@sysconfdir@|$(SYSCONFDIR)|g' etc/batchaid.service > $(UNITDIR)/batchaid.service
	@chmod 644 $(UNITDIR)/batchaid.service
	@install -m 644 etc/batchaid.sysusers $(USERDIR)/batchaid.conf
	@install -m 644 etc/batchaid.bash-completion $(COMPDIR)/batchaid
	@install -m 644 etc/batchaid.yaml.example $(CONFDIR)/batchaid.yaml.example
	@install -m 644 docs/*.md $(WATCHING) $(DOCDIR)
	@install -m 644 -D -t $(DOCDIR)/images docs/images/*.png

uninstall:
	@rm -f $(BINDIR)/batchaid $(foreach p,batchai-node batchai-cmd,$(addprefix $(BINDIR)/,$(p) $(addprefix $(p)-,$(CROSS_ARCHS)))) \
	    $(addprefix $(MANDIR)/man1/,batchaid.1 batchai-node.1 batchai-cmd.1) $(MANDIR)/man5/batchaid.yaml.5 $(UNITDIR)/batchaid.service \
	    $(USERDIR)/batchaid.conf $(COMPDIR)/batchaid $(CONFDIR)/batchaid.yaml.example
	@rm -f $(addprefix $(DOCDIR)/,$(notdir $(wildcard docs/*.md) $(WATCHING)) $(patsubst docs/%,%,$(wildcard docs/images/*.png)))
	@rmdir $(DOCDIR)/images $(CONFDIR) $(DOCDIR) 2>/dev/null || true

clean:
	@rm -rf build build-asan build-tsan build-fuzz build-aarch64 $(BUILD)

check-layers: $(call obj,$(SRCS))
	@$(PYTHON) test/tools/check_layers.py
	@$(PYTHON) test/tools/check_calls.py . $(BUILD)

check-source:
	@$(PYTHON) test/tools/check_source.py
	@$(PYTHON) test/tools/check_subjects.py

# A source is looked at again when it, or a header it includes, has changed since it was found clean.
TIDY_OKS := $(patsubst %.c,$(BUILD)/tidy/%.ok,$(SRCS))
TIDY_RULES := .clang-tidy $(addprefix test/tools/,tidy.sh cppcheck.h cppcheck.supp)
$(BUILD)/tidy/%.ok: %.c $(BUILD)/obj/%.o $(TIDY_RULES)
	@mkdir -p $(@D)
	@CFLAGS='$(CFLAGS)' BUILD=$(BUILD) test/tools/tidy.sh $< && touch $@

.PHONY: tidy-sources tidy-changed-sources tidy-changed
tidy-sources: $(TIDY_OKS)
tidy-changed-sources: $(patsubst %.c,$(BUILD)/tidy/%.ok,$(shell $(PYTHON) test/tools/changed.py $(BUILD)))

# RECORD=1 notes that all sources of HEAD are clean: tidy-changed looks at what has changed since.
tidy:
	@$(MAKE) -s -k $(JOBS_FLAG) tidy-sources
	@$(if $(RECORD),$(PYTHON) test/tools/changed.py --record)
	@echo 'tidy: ok'
tidy-changed:
	@$(MAKE) -s -k $(JOBS_FLAG) tidy-changed-sources
	@echo 'tidy: ok'

docs-update: $(BUILD)/batchaid $(COVERAGE_BINS)
	@BATCHAID=$(BUILD)/batchaid $(PYTHON) test/tools/config_docs.py --write
	@BATCHAID=$(BUILD)/batchaid $(PYTHON) test/tools/man_docs.py --write
	@$(PYTHON) test/tools/make_requests.py --doc --write
	@$(PYTHON) test/tools/log_events.py --write
	@$(PYTHON) test/tools/metrics_docs.py --write
	@$(BUILD)/tools/coverage > docs/api-coverage.md
	@$(BUILD)/tools/batch_coverage > docs/batch-coverage.md

# Look at the pictures before they are committed.
screenshots: all
	@BUILD_DIR=$(BUILD) $(PYTHON) test/tools/screenshots.py

-include $(shell find $(BUILD)/obj* -name '*.d' 2>/dev/null)
