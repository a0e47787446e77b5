/* SPDX-License-Identifier: MIT
 *
 * A fault of requests (faults.c) or of nodes and allocations (node_faults.c). At most one fault
 * hits a request or node: the first one, in the order of their creation, that matches and has hits
 * left.
 */
#ifndef API_TESTING_FAULTS_H
#define API_TESTING_FAULTS_H

#include "api/testing/select.h"

struct fault_hit;
struct pending_fault;

enum fault_kind { OF_REQUEST, OF_NODE, OF_ALLOCATION };

/* The connection ends during the body of the reply, before or after the request was carried out;
 * CUT_NOT: it does not. */
enum fault_cut { CUT_NOT, CUT_BEFORE, CUT_AFTER };

/* The effect on a fake node. */
enum node_effect {
    NODE_HOLD_PREPARATION = 1, /* the node answers nothing until the fault is released */
    NODE_FAIL_PREPARATION,     /* nothing on the node's disk works until the fault is released */
    NODE_LOST,                 /* the node cannot be reached until the fault is released */
    NODE_RESTART,
    NODE_PREEMPTED, /* the node cannot be reached for a while, and returns as a new node */
};

struct fault {
    struct arena arena; /* memory of its texts */
    int64_t number;
    enum fault_kind kind;
    struct selector match;
    int skip, times; /* matching requests before the first hit; hits after them, 0: no limit */
    int64_t fitted, hits;
    /* for faults of requests: */
    int64_t delay_ms;
    /* hold: the request waits. must_exist: the pool must exist when the fault is made */
    bool hold, must_exist;
    int status, retry_after_s;
    const char *code, *message; /* for an allocation NULL: no error is shown */
    enum fault_cut cut;
    /* for faults of nodes: */
    enum node_effect effect;
    /* microseconds between the start of a process of a job on the node and the hit */
    int64_t after_us;
    int64_t lasts_us; /* microseconds until the node returns by itself; 0: never */
    /* The ids of the nodes or pools that the fault has hit and still holds; owned. */
    int64_t *held;
    size_t n_held;
    bool opened; /* the fault was released, so it hits and holds no more pools */
    struct fault *next;
};

struct testing_faults {
    struct fault *first;
    int n;
    int64_t last;
    struct fault_hit *held; /* held requests */
    struct fault_ground ground;
    struct pending_fault *pending; /* effects that will hit nodes later; owned */
};

/* Whether the fault hits this request or node; counts it. */
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

/* Tables of the objects "node" and "allocation" of a body, which are decoded into the fault. */
extern const struct schema fault_node_body, fault_allocation_body;
int fault_check_more(struct fault *f, struct err *e) MUST_CHECK;
void fault_render_more(const struct fault *f, json_t *o);
/* Releases all nodes or pools that the fault holds. Returns how many. */
int fault_let_go(struct testing_faults *all, struct fault *f);
void faults_pending_free(struct testing_faults *all);

#endif
