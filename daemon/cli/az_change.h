/* SPDX-License-Identifier: MIT
 *
 * The change of one command of 2017 or 2018 into a command of today: the data of the rows of
 * az_old.c and of the functions that they name. In those versions resources were in resource
 * groups; their place today is the workspace and experiment of model/home.h.
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

/* The facts, besides the line, that a change depends on. */
struct az_facts {
    const char *subscription;
    const char *group, *location; /* the defaults of `az configure`; NULL: none */
    const char *vault_suffix;     /* ".vault.localhost:7443" */
    bool debian;                  /* az is the package of Debian; some of its commands are broken */
    const struct az_daemon *daemon;
};

/* An option of an old form. */
struct old_option {
    const char *names; /* all, separated by blanks */
    const char *today; /* its name today; NULL: unchanged; "": az has no such option */
    const char *value; /* for messages: "CLUSTER" */
    enum old_need {
        OPTIONAL,
        NEEDED,
        NEEDED_OR_IN_FILE,
        MAY_BE_EMPTY /* optional, as its value is */
    } need;
};

struct az_change;
struct old_form {
    const char *words, *today;        /* today NULL: az has no such command */
    const struct old_option *options; /* up to one without names */
    unsigned place;                   /* enum old_place */
    const struct schema *file;        /* the table of its file's resource, or NULL */
    /* The change beyond words and options, or NULL. Sees the old options. May ask for a request
     * instead of a run of az. */
    int (*change)(struct az_change *c, struct err *e);
};

enum old_place {
    IN_GROUP = 1,
    IN_WORKSPACE = 2,
    IN_EXPERIMENT = 4,
    MAKES_PLACE = 8, /* the workspace and experiment are made if they are missing */
    ANY_GROUP = 16   /* for lists: without a group the resources of all groups */
};

/* A workspace or an experiment to make first. */
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
    struct az_file file; /* of -c; no tree: none */
    struct az_made made[2];
    size_t n_made;
    struct az_request request; /* no method: az runs the line */
    struct strbuf notes;       /* for people, a line each */
    bool unchanged;            /* the command is of today after all */
};

/* Takes the subscription of the option, an id or a display name. */
int az_change_subscription(struct az_change *c, struct err *e) MUST_CHECK;
/* The resource group: the option, or the default; NULL: all groups. */
int az_change_group(struct az_change *c, const char **out, struct err *e) MUST_CHECK;
/* The location: of -l, or the default location, or the group's. */
int az_change_location(struct az_change *c, const char *group, const char **out,
                       struct err *e) MUST_CHECK;
/* Whether the group has the workspace of old forms; refuses a group that does not exist. `others`:
 * the names of its workspaces, separated by commas. */
int az_change_has_place(struct az_change *c, const char *group, bool *out, const char **others,
                        struct err *e) MUST_CHECK;
/* Like az_change_has_place(), for the experiment in the workspace. */
int az_change_has_experiment(struct az_change *c, const char *group, bool *out,
                             struct err *e) MUST_CHECK;
/* The id today of a cluster or file server that is given by its name or by an id of any form. */
const char *az_change_id(struct az_change *c, const char *group, const char *type,
                         const char *name);
/* The path of a group, or of the subscription if NULL. */
const char *az_change_scope(struct az_change *c, const char *group);
/* Refuses a line that lacks options (", -n CLUSTER, -s SIZE"); "" is no error. */
int az_change_lacks(struct az_change *c, const char *missing, struct err *e) MUST_CHECK;
/* The value of the options as a whole number from 0 to 1000000; -1: not given. */
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
