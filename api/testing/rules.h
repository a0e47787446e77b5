/* SPDX-License-Identifier: MIT
 *
 * Rules of scripted work: how processes of jobs behave on fake nodes, where no processes run
 * (link/fake.h). The first matching rule that is not used up decides; without a rule a process
 * succeeds at once. Rules are counted like faults.
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

/* The purpose of a process on its node. */
enum rule_role {
    RULE_JOB = 1, /* it is a process of a job, or of a task of Azure Batch */
    RULE_PREPARATION,
    RULE_SETUP /* a process of the node: a setup task, a start task */
};

/* Patterns (fnmatch(3); names match in any case); NULL: any. */
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
    size_t nth; /* the position of the file in the rule, from 0 */
};

/* The rules of one document, and the memory of their texts. Freed with its last rule. */
struct rule_doc {
    struct arena arena;
    struct rule *rules;
    size_t n, left; /* rules that are not freed yet */
    bool listed;    /* by "rules"; else the document is a rule itself */
};

/* The place of rule `i` in its document, for messages: "rules[1]."; "" if the rule is the document.
 */
const char *rule_place(const struct rule_doc *doc, size_t i, char out[static 32]);

struct rule {
    struct rule_doc *doc; /* holds this rule */
    int64_t number;       /* from 1; the tasks that it holds are held under this number */
    struct rule_match match;
    int skip, times; /* as in a fault; times 0: no limit */
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
/* Makes `nodes` run their tasks by these rules. Call before the first node is reached. */
void testing_rules_of(struct testing_rules *rules, struct fake_nodes *nodes);
/* Also reports nodes and processes to `faults`. */
void testing_rules_tell(struct testing_rules *rules, struct testing_faults *faults);
void testing_rules_free(struct testing_rules *rules);
/* For struct fake_config; ctx is the rules. */
void testing_rules_plan(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                        struct fake_task *out);
void testing_rules_met(void *ctx, struct fake_node *node);
/* Adds the rules of a file: all or none. Errors name the file and the place. */
int testing_rules_load(struct testing_rules *rules, const char *path, struct err *e) MUST_CHECK;
/* Removes all rules, or the rules that name a subscription; the processes that they hold
 * continue. */
void testing_rules_clear(struct testing_rules *rules, const char *subscription);

/* --- rule_read.c ------------------------------------------------------------------------------ */

/* Reads {"rules": [...]} or one rule. Errors name the place. NULL: err. */
struct rule_doc *rule_doc_read(const json_t *o, struct err *e);
void rule_doc_free(struct rule_doc *doc);
json_t *rule_render(const struct rule *rule);
void rule_free(struct rule *rule);

#endif
