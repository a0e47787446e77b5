/* SPDX-License-Identifier: MIT
 *
 * Tests machines of the inventory, many at once: opens to each a link that changes nothing there
 * (node.h), gets the machine's state, and judges whether it is usable. Needs no daemon, and leaves
 * only the agent's program on the machine.
 */
#ifndef DAEMON_CLI_NODE_CHECK_H
#define DAEMON_CLI_NODE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/site/site.h"

/* In the order of the output. */
enum check_item {
    CHECK_NAME,
    CHECK_TCP,
    CHECK_HOST_KEY,
    CHECK_LOGIN,
    CHECK_BECOME,
    CHECK_SHELL,
    CHECK_AGENT,
    CHECK_DISK,
    CHECK_CLOCK,
    CHECK_GPU,
    CHECK_CONTAINERS,
    CHECK_MPI,
    CHECK_SHARES,
    CHECK_ITEMS
};

enum check_verdict { CHECK_NONE /* not tested, or does not apply */, CHECK_OK, CHECK_BAD };

struct check_cell {
    enum check_verdict verdict;
    char word[32]; /* the displayed text; "" for CHECK_NONE */
};

#define CHECK_PROBLEMS_MAX 8

struct check_result {
    const struct site_machine *machine; /* borrowed */
    struct check_cell cells[CHECK_ITEMS];
    char *problems[CHECK_PROBLEMS_MAX]; /* one sentence for each problem, with its remedy; owned */
    size_t n_problems;                  /* 0: the machine is usable */
    /* Reasons why a machine cannot mount shares without a mount rule; only jobs with such shares
     * need them. One sentence each; owned. */
    char *notes[CHECK_PROBLEMS_MAX];
    size_t n_notes;
    int64_t disk_free_bytes, clock_skew_us;
    bool has_health; /* the two members above were reported */
};

struct check_config {
    const struct site *site;
    /* tries to connect from machines to the port of the daemon's shares, on which somebody must
     * listen */
    bool shares;
    /* Called repeatedly with the number of machines whose check has ended; may be NULL. */
    void (*progress)(void *ctx, size_t done, size_t n);
    void *ctx;
};

/* Runs until all `n` machines are checked. The caller sets `machine` in each of `results`, and
 * calls check_free() afterwards. */
void check_machines(const struct check_config *c, struct check_result *results, size_t n);
void check_free(struct check_result *results, size_t n);

#endif
