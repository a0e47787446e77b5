/* SPDX-License-Identifier: MIT
 *
 * Rules of scripted work: how processes of jobs behave on fake nodes, where no processes run
 * (link/fake.h). The first matching rule that has hits left decides; without a rule a process
 * succeeds at once. Hits are counted as those of faults (faults.h).
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
    RULE_JOB = 1, /* a process of a job, or of a task of Azure Batch */
    RULE_PREPARATION,
    RULE_SETUP /* a process of the node: a setup task, a start task */
};

/* The patterns of a rule (fnmatch(3); names match in any case); NULL: matches everything. */
struct rule_match {
    const char *name, *command, *pool, *subscription;
    struct kv *env; /* its values are patterns */
    size_t n_env;
    enum rule_role role;
};

struct rule_output {
    int64_t at_us;
    const char *path; /* NULL: stdout or, with `to_stderr`, stderr */
    const char *text;
    bool to_stderr;
    size_t nth; /* the index of the file in the rule, from 0 */
};

/* The rules of one document, and the memory of their texts. It is freed with the last of its
 * rules. */
struct rule_doc {
    struct arena arena;
    struct rule *rules;
    size_t n, left; /* n: rules; left: rules that are not freed yet */
    bool listed;    /* true: the document has a list "rules"; false: it is a single rule */
};

/* The place of rule `i` in its document, for messages: "rules[1]."; "" if the rule is the
 * document. */
const char *rule_place(const struct rule_doc *doc, size_t i, char out[static 32]);

struct rule {
    struct rule_doc *doc; /* the document with this rule */
    /* from 1; fake_let_go() with this number releases the tasks that the rule holds */
    int64_t number;
    struct rule_match match;
    int skip, times; /* as in struct fault; times 0: no limit */
    int64_t fitted, hits;
    int64_t run_us;
    int exit_code;
    const char *start_fails; /* why the process does not start; NULL: it starts */
    bool hold;
    struct rule_output *outputs; /* sorted by at_us */
    size_t n_outputs;
    struct rule *next;
};

struct testing_rules *testing_rules_create(struct storage *st, const struct fronts *fronts,
                                           const struct log *log);
/* Makes `nodes` run their tasks by these rules. Call before the first node is reached. */
void testing_rules_of(struct testing_rules *rules, struct fake_nodes *nodes);
/* Also tells `faults` which nodes are reached, and which processes begin. */
void testing_rules_tell(struct testing_rules *rules, struct testing_faults *faults);
void testing_rules_free(struct testing_rules *rules);
/* Functions for struct fake_config; ctx is the rules. */
void testing_rules_plan(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                        struct fake_task *out);
void testing_rules_met(void *ctx, struct fake_node *node);
/* Adds the rules of a file: all or, on an error, none. Errors name the file and the place. */
int testing_rules_load(struct testing_rules *rules, const char *path, struct err *e) MUST_CHECK;
/* Removes all rules (`subscription` NULL), or those that name the subscription; processes that they
 * hold continue. */
void testing_rules_clear(struct testing_rules *rules, const char *subscription);

/* --- rule_read.c ------------------------------------------------------------------------------ */

/* Reads {"rules": [...]} or a single rule. Errors name the place. NULL: error. */
struct rule_doc *rule_doc_read(const json_t *o, struct err *e);
void rule_doc_free(struct rule_doc *doc);
json_t *rule_render(const struct rule *rule);
void rule_free(struct rule *rule);

#endif
