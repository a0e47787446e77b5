/* SPDX-License-Identifier: MIT
 *
 * A fault of requests (faults.c) or of nodes and allocations (node_faults.c). Faults are counted in
 * the order of their creation: the first matching fault that is not used up hits, and no other
 * does.
 */
#ifndef API_TESTING_FAULTS_H
#define API_TESTING_FAULTS_H

#include "api/testing/select.h"

struct fault_hit;
struct pending_fault;

enum fault_kind { OF_REQUEST, OF_NODE, OF_ALLOCATION };

/* The connection ends in the body of the answer, before or after the request was carried out. */
enum fault_cut { CUT_NOT, CUT_BEFORE, CUT_AFTER };

/* The effect on a fake node. */
enum node_effect {
    NODE_HOLD_PREPARATION = 1, /* it answers nothing until the fault is released */
    NODE_FAIL_PREPARATION,     /* nothing can be done on its disk until the fault is released */
    NODE_LOST,                 /* it cannot be reached until the fault is released */
    NODE_RESTART,
    NODE_PREEMPTED, /* the node is away for a while and comes back as a new node */
};

struct fault {
    struct arena arena; /* of its texts */
    int64_t number;
    enum fault_kind kind;
    struct selector match;
    int skip, times; /* matching requests before the first hit; hits after them, 0: no limit */
    int64_t fitted, hits;
    /* of a request: */
    int64_t delay_ms;
    /* hold: the request waits. must_exist: the pool must exist when the fault is made */
    bool hold, must_exist;
    int status, retry_after_s;
    const char *code, *message; /* of an allocation NULL: no error is shown */
    enum fault_cut cut;
    /* of a node: */
    enum node_effect effect;
    int64_t after_us; /* microseconds since a process of a job began on the node */
    int64_t lasts_us; /* microseconds until the node comes back by itself; 0: it does not */
    /* The ids of the nodes or pools that the fault has hit and still holds; owned. */
    int64_t *held;
    size_t n_held;
    bool opened; /* the fault was released and holds no further pool */
    struct fault *next;
};

struct testing_faults {
    struct fault *first;
    int n;
    int64_t last;
    struct fault_hit *held; /* requests */
    struct fault_ground ground;
    struct pending_fault *pending; /* effects that will hit nodes later; owned */
};

/* Whether the fault hits this request or node. Counts the hit. */
static inline bool fault_hits(struct fault *f, const struct request_facts *told)
{
    if ((f->times > 0 && f->hits >= f->times) || !selector_fits(&f->match, told))
        return false;
    if (f->fitted++ < f->skip)
        return false;
    f->hits++;
    return true;
}

/* --- node_faults.c --- */

/* Objects in the body, decoded into the fault. */
extern const struct schema fault_node_body, fault_allocation_body;
int fault_check_more(struct fault *f, struct err *e) MUST_CHECK;
void fault_render_more(const struct fault *f, json_t *o);
/* Returns how many. */
int fault_let_go(struct testing_faults *all, struct fault *f);
void faults_pending_free(struct testing_faults *all);

#endif
