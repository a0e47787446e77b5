/* SPDX-License-Identifier: MIT
 *
 * Turns events into later steps. Every event wakes an id: a run, a node, a pool. wakes_turn() takes
 * woken ids out and calls the handler of each one's kind, which reads the rows, compares them with
 * memory and takes the next step. No reconcile runs inside a callback; callbacks record the event
 * and wake.
 *
 * Decisions are written first; effects on nodes follow by wake_when_durable(), which carries an id
 * and no pointer, because the object may be freed by then.
 *
 * One thread, one loop.
 */
#ifndef SCHEDULER_WAKE_WAKE_H
#define SCHEDULER_WAKE_WAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"

struct arena;
struct storage;
struct wakes;

/* When in a turn woken ids are reconciled; kinds of one place in the order of their first use.
 * Pools come after runs and nodes, so that they see the rows that those wrote in this turn. */
enum wake_place { WAKE_FIRST, WAKE_RUNS, WAKE_NODES, WAKE_POOLS, WAKE_LAST };

/* A kind of things that can be woken: a static constant (WAKE_KIND). It belongs to the code that
 * sets its handler; other code names it to wake such things. */
struct wake_kind {
    const char *name; /* "node", "file server": for the log and for metrics */
    enum wake_place place;
};
/* Defines a kind in the header of its owner. Each file that names the kind has a copy, and the
 * linker keeps one copy: so no file depends on another for it. */
#define WAKE_KIND(kind, name, place)                                                               \
    __attribute__((weak)) const struct wake_kind kind = {name, place}
/* The most kinds; there are fewer. */
#define WAKE_KINDS_MAX 32
/* The id to wake if one pass handles all things of a kind. */
#define WAKE_ALL 1

/* Counts since the start. */
struct wake_counts {
    uint64_t deadlines; /* deadlines that have passed */
    uint64_t slow;      /* reconciles that exceeded their time budget */
    int64_t longest_us; /* of all reconciles */
};

/* How long until a failed write (disk full) is tried again (us). */
#define WRITE_AGAIN_US 1000000

struct wakes_config { /* all borrowed */
    struct loop *loop;
    struct storage *storage;
    const struct log *log;
};

struct wakes *wakes_create(const struct wakes_config *c);
/* Sets the handler of a kind; once for each, before anything is woken. */
typedef void (*wake_fn)(void *ctx, int64_t id);
void wakes_handle(struct wakes *w, const struct wake_kind *kind, wake_fn reconcile, void *ctx);
/* Sets what is called instead of the handler for an id whose step has crashed the daemon too often
 * (lib/work.h), with the reason `why`: each time that the id is woken, and each minute until the
 * step is allowed. `refused` records this in rows, and does nothing of the step itself. Optional;
 * at most once for each kind. */
typedef void (*wake_refused_fn)(void *ctx, int64_t id, const struct err *why);
void wakes_handle_refused(struct wakes *w, const struct wake_kind *kind, wake_refused_fn refused);
/* Reconciles the woken ids, as many as fit into one turn of the loop; the rest follows at once.
 * Call it in every turn, before the turn's writes are committed. */
void wakes_turn(struct wakes *w);
/* Stops reconciling until wakes_go_on() was called as often: for rows that are written in several
 * turns and are misleading before they are complete. Ids are woken as usual. */
void wakes_hold(struct wakes *w);
void wakes_go_on(struct wakes *w);
/* From now on no id is woken and no effect runs: the next start finds the work in the rows.
 * `stopped` is called when the last reference is released; it may free the wakes. */
void wakes_stop(struct wakes *w, void (*stopped)(void *ctx), void *ctx);
bool wakes_stopping(const struct wakes *w);
const struct wake_counts *wakes_counts(const struct wakes *w);
/* How many ids of a kind were put into its queue since the start; ids that wait count once. */
uint64_t wakes_woken(const struct wakes *w, const struct wake_kind *kind);
/* The i-th kind, in the order of reconciling; NULL: there are no more. */
const struct wake_kind *wakes_kind(const struct wakes *w, size_t i);
void wakes_free(struct wakes *w);

/* Pending work that will call back (a link, a thread's work) holds a reference. */
void wakes_ref(struct wakes *w);
void wakes_unref(struct wakes *w); /* may call `stopped` */

/* --- waking ----------------------------------------------------------------------------------- */

/* Id 0 is ignored. */
void wake(struct wakes *w, const struct wake_kind *kind, int64_t id);
/* Wakes all ids that the query `list` returns. */
typedef int wake_list(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
int wake_listed(struct wakes *w, const struct wake_kind *kind, wake_list *list, struct err *e);
/* Replaces the deadline of (kind, id), an instant of wakes_mono(); 0 removes it. */
void wake_at(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t at_us);
/* Like wake_at(), but an earlier deadline stays. */
void wake_by(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t at_us);
/* Ensures that a turn follows; call it after waking outside of a turn. */
void wake_arm(struct wakes *w);

/* Runs `fn` when the writes so far are on disk (`why` NULL) or were rolled back. */
typedef void (*wake_effect)(void *ctx, int64_t id, const struct err *why);
void wake_when_durable(struct wakes *w, wake_effect fn, void *ctx, int64_t id);
/* Wakes (kind, id) when the writes so far are on disk; after a rollback a moment later. The handler
 * reads the rows again. */
void wake_durable(struct wakes *w, const struct wake_kind *kind, int64_t id);
/* Like wake_durable(), for use inside an effect, with the effect's `why`. */
void wake_after(struct wakes *w, const struct wake_kind *kind, int64_t id, const struct err *why);
/* Wakes (kind, id) a moment later if the writes so far are rolled back: for a handler whose writes
 * would be lost without another wake. */
void wake_if_lost(struct wakes *w, const struct wake_kind *kind, int64_t id);

/* --- time ------------------------------------------------------------------------------------- */

/* The clock for stored and shown times, and the clock for waiting and measuring. */
int64_t wakes_wall(const struct wakes *w);
int64_t wakes_mono(const struct wakes *w);
/* Converts a row's wall time to wakes_mono(): see loop_mono_of(). The result is not in the future,
 * and at most `past_max` in the past. Call it once, when the row is read or written, and keep the
 * result. */
int64_t wakes_mono_of(const struct wakes *w, int64_t wall_us, int64_t past_max);
/* The wall clock without any steps forward since the start: time that has passed by this clock has
 * really passed. */
int64_t wakes_steady_wall(const struct wakes *w);
/* When a step ends that began at `since_us` of the wall clock and takes `takes_us`, by the clock of
 * wakes_mono(); 0: the step has ended, or takes no time. */
int64_t wakes_until(const struct wakes *w, int64_t since_us, int64_t takes_us);
/* Whether such a step has not ended yet. If so, (kind, id) is woken at its end. */
bool wake_until_over(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t since_us,
                     int64_t takes_us);
/* 80 to 120 % of `us`, to spread out many wakes with one period. */
int64_t wakes_jitter(struct wakes *w, int64_t us);

#endif
