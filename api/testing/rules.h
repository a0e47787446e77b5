/* SPDX-License-Identifier: MIT
 *
 * Rules of scripted work: what the processes of jobs do on nodes that run none (link/fake.h). The
 * first rule that fits and is not used up says it; without one a process succeeds at once. Counted
 * as faults are.
 */
#ifndef API_TESTING_RULES_H
#define API_TESTING_RULES_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/kv.h"
#include "nodeagent-proto/link/fake.h"

struct front;
struct fronts;
struct storage;
struct testing_faults;
struct testing_rules;

/* What a process is to its node. */
enum rule_role {
    RULE_JOB = 1, /* it is a process of a job, or of a task of Azure Batch */
    RULE_PREPARATION,
    RULE_SETUP /* of the node: a setup task, a start task */
};

/* Patterns (fnmatch(3), without regard to case for names); NULL: any. */
struct rule_match {
    const char *name, *command, *pool, *subscription;
    struct kv *env; /* values are patterns */
    size_t n_env;
    enum rule_role role;
};

struct rule_output {
    int64_t at_us;
    const char *path; /* NULL: stdout or, with `to_stderr`, stderr */
    const char *text;
    bool to_stderr;
    size_t nth; /* in the rule, as it was given */
};

/* The rules of one document, and the memory that their texts are in. It goes with its last rule. */
struct rule_doc {
    struct arena arena;
    struct rule *rules;
    size_t n, left; /* rules that are not freed yet */
};

struct rule {
    struct rule_doc *doc; /* holds this rule */
    int64_t number;       /* from 1; also what its tasks are held by */
    struct rule_match match;
    int skip, times; /* as of faults; times 0: all */
    int64_t fitted, hits;
    int64_t run_us;
    int exit_code;
    const char *start_fails; /* NULL: it starts */
    bool hold;
    struct rule_output *outputs; /* by at_us */
    size_t n_outputs;
    struct rule *next;
};

struct testing_rules *testing_rules_create(struct storage *st, const struct fronts *fronts,
                                           const struct log *log);
/* The nodes whose tasks wait by these rules; before the first node is reached. */
void testing_rules_of(struct testing_rules *rules, struct fake_nodes *nodes);
/* Who else is to hear of nodes and processes. */
void testing_rules_tell(struct testing_rules *rules, struct testing_faults *faults);
void testing_rules_free(struct testing_rules *rules);
/* For struct fake_config; ctx is the rules. */
void testing_rules_plan(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                        struct fake_task *out);
void testing_rules_met(void *ctx, struct fake_node *node);
/* Adds the rules of a file: all or none. Errors name the file and the place. */
int testing_rules_load(struct testing_rules *rules, const char *path, struct err *e) MUST_CHECK;
/* Removes all, or those that name a subscription; what they hold is let go. */
void testing_rules_clear(struct testing_rules *rules, const char *subscription);

/* --- rule_read.c ------------------------------------------------------------------------------ */

/* Reads {"rules": [...]} or one rule. Errors name the place. NULL: err. */
struct rule_doc *rule_doc_read(const json_t *o, struct err *e);
void rule_doc_free(struct rule_doc *doc);
json_t *rule_render(const struct rule *rule);
void rule_free(struct rule *rule);

#endif
