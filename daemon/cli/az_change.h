/* SPDX-License-Identifier: MIT
 *
 * Changes one az command of 2017 or 2018 into a command of today: types for the rows of az_old.c
 * and for the functions in these rows. In those versions resources were directly in resource
 * groups; today they are in the workspace and experiment of model/home.h.
 */
#ifndef DAEMON_CLI_AZ_CHANGE_H
#define DAEMON_CLI_AZ_CHANGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/cli/az_file.h"
#include "daemon/cli/az_line.h"
#include "daemon/cli/az_request.h"
#include "lib/err.h"

#define AZ_GROUP        "-g --resource-group"
#define AZ_SUBSCRIPTION "--subscription"

/* The facts on which a change depends, besides the command line. */
struct az_facts {
    const char *subscription;
    const char *group, *location; /* the defaults of `az configure`; NULL: none */
    const char *vault_suffix;     /* ".vault.localhost:7443" */
    bool debian;                  /* az is the package of Debian; some of its commands are broken */
    const struct az_daemon *daemon;
};

/* An option of an old form. */
struct old_option {
    const char *names; /* all names of the option, separated by blanks */
    const char *today; /* its name today; NULL: the same; "": today's az has no such option */
    const char *value; /* for messages: "CLUSTER" */
    enum old_need {
        OPTIONAL,
        NEEDED,
        NEEDED_OR_IN_FILE,
        MAY_BE_EMPTY /* both the option and its value are optional */
    } need;
};

struct az_change;
struct old_form {
    const char *words, *today;        /* today NULL: az has no such command */
    const struct old_option *options; /* the last row has no names */
    unsigned place;                   /* enum old_place */
    /* the table for the resource in the command's file; NULL: no file */
    const struct schema *file;
    /* What changes beside words and options; NULL: nothing. It gets the options with their old
     * names. It may ask for a request instead of a run of az. */
    int (*change)(struct az_change *c, struct err *e);
};

enum old_place {
    IN_GROUP = 1,
    IN_WORKSPACE = 2,
    IN_EXPERIMENT = 4,
    MAKES_PLACE = 8, /* if the workspace and experiment are missing, they are created */
    ANY_GROUP = 16   /* for lists: if no group is given, they show the resources of all groups */
};

/* A workspace or an experiment that must be created before. */
struct az_made {
    const char *path;
    json_t *body;
    struct az_line line; /* the request as a command line, for people */
};

struct az_change {
    struct arena *arena;
    const struct az_facts *facts;
    const struct old_form *form;
    const char *subscription; /* from the option, or from the facts */
    struct az_line line;
    struct az_file file; /* the file of option -c; without a tree: no file */
    struct az_made made[2];
    size_t n_made;
    struct az_request request; /* without a method: no request, az runs the line */
    struct strbuf notes;       /* messages for people, one in each line */
    bool unchanged;            /* it turns out to be a command of today, so az gets it unchanged */
};

/* Reads the subscription from its option: an id or a display name. */
int az_change_subscription(struct az_change *c, struct err *e) MUST_CHECK;
/* The resource group of the option, or the default group; NULL: all groups. */
int az_change_group(struct az_change *c, const char **out, struct err *e) MUST_CHECK;
/* The location of -l, or the default location, or the group's location. */
int az_change_location(struct az_change *c, const char *group, const char **out,
                       struct err *e) MUST_CHECK;
/* *out: whether the group contains the workspace into which old commands are mapped. Refuses a
 * group that does not exist. *others: the names of the group's workspaces, separated by commas. */
int az_change_has_place(struct az_change *c, const char *group, bool *out, const char **others,
                        struct err *e) MUST_CHECK;
/* Like az_change_has_place(), for the experiment in the workspace. */
int az_change_has_experiment(struct az_change *c, const char *group, bool *out,
                             struct err *e) MUST_CHECK;
/* The id that a cluster or file server has today; `name` is its name, or its id in any form. */
const char *az_change_id(struct az_change *c, const char *group, const char *type,
                         const char *name);
/* Refuses a line that reads the workspace of old commands in a group that lacks the workspace. */
int az_change_no_place(const struct az_change *c, const char *group, const char *others,
                       struct err *e) MUST_CHECK;
/* Refuses a cluster that does not exist, before the workspace and experiment are created for its
 * job. `id` is in today's form. */
int az_change_check_cluster(struct az_change *c, const char *id, struct err *e) MUST_CHECK;
/* The text for a URL: percent-encoded, `/` only without keep_slash. */
const char *az_change_escaped(struct az_change *c, const char *text, bool keep_slash);
/* The path of a group for a URL; NULL: the path of the subscription. */
const char *az_change_scope(struct az_change *c, const char *group);
/* Refuses the line with an error that names missing options (", -n CLUSTER, -s SIZE"); if `missing`
 * is "", there is no error. */
int az_change_lacks(struct az_change *c, const char *missing, struct err *e) MUST_CHECK;
/* The value of an option as a whole number from 0 to 1000000; *out -1: the option was not given. */
int az_change_number(struct az_change *c, const char *names, json_int_t *out,
                     struct err *e) MUST_CHECK;

/* az_old_create.c */
int az_old_create_cluster(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_create_job(struct az_change *c, struct err *e) MUST_CHECK;
/* az_old_rest.c */
int az_old_list(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_auto_scale(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_create_server(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_show_server(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_delete_server(struct az_change *c, struct err *e) MUST_CHECK;
/* az_old_more.c */
int az_old_login(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_assign_role(struct az_change *c, struct err *e) MUST_CHECK;
int az_old_set_secret(struct az_change *c, struct err *e) MUST_CHECK;

#endif
