/* SPDX-License-Identifier: MIT
 *
 * A kind of resource as a value, and the handlers that all kinds have in common: create or update
 * (PUT), update (PATCH), get, delete, the two lists, and whether a name is free. A row of a
 * service's table names one of these handlers and has the kind as its data:
 *
 *     {"PUT", VAULT, 0, ROUTE_JSON, rm_put, "Vaults_CreateOrUpdate", &vault_kind},
 *
 * A kind says what is particular to it in small functions. All of them get the struct rm of the
 * request, which knows its row as a void pointer; each function begins by giving the row its type.
 *
 * PUT   the kind's steps, in its order; `seek`. A new one: `prepare`, then `insert` (with an
 *       operation: both in one transaction), then `made` answers. One that is there: `change`, and
 *       it is shown.
 * PATCH `find_made`, the body in part, `patch`, and it is shown.
 *
 * Functions with a struct err return 0 or -1 with the error set, unless a comment says otherwise.
 * Memory is the request's: nothing here is freed by a kind.
 */
#ifndef API_ARM_KIND_H
#define API_ARM_KIND_H

#include <stddef.h>

#include "api/arm/operation.h"
#include "api/http/accept.h"
#include "model/resource.h"
#include "storage/storage.h"

struct rm_kind;

/* Which rows a list asks for: at most `limit` behind the row `after`, by id, below one row. */
struct rm_query {
    int64_t above;             /* that row: a group or a resource; 0: all of the subscription */
    struct st_filter filter;   /* the same for what lies in workspaces */
    const struct scope *scope; /* of the rows, where their list does not read it; or NULL */
    int64_t after;
    int limit;
};

/* One request about a resource of a kind. */
struct rm {
    struct request *r;
    const struct rm_kind *kind;
    const char *name;            /* that the path has; NULL: the path names none (a list) */
    struct resource_group group; /* of the path, once a step has found it */
    void *parent;                /* what a kind's own step has found above it; arena */
    struct accepted given;       /* the body, once it was accepted */
    void *row;                   /* of the kind, zeroed at first; arena */
    int64_t id;                  /* of the row that was found or inserted */

    /* Of the operation that makes one. */
    const struct scope *scope; /* NULL: the group, and the body's location */
    bool in_group;             /* its path has no level between the group and the resource */
    bool done;                 /* it has ended when the row is written */
    const char *guid;          /* arena; NULL: none was started */
};

typedef int rm_step(struct rm *m, struct err *e);

/* Where rows have what rows of all kinds have; 0: they have not that. */
struct rm_columns {
    size_t size; /* of a row */
    size_t id, name, scope, state, updated;
};
#define RM_COLUMNS(type)                                                                           \
    {                                                                                              \
        sizeof(type), offsetof(type, id), offsetof(type, name), offsetof(type, scope),             \
            offsetof(type, prov_state), offsetof(type, updated_us)                                 \
    }

/* These values of a row. */
struct rm_row {
    int64_t id, updated_us;
    const char *name;
    const struct scope *scope; /* NULL: the row has none */
    enum prov_state state;
};

/* A text around a name; `after` NULL: the name is not in it. */
struct rm_words {
    const char *before, *after;
};

/* Which names are valid. */
struct rm_name_rule {
    bool (*is_valid)(const char *name);
    int error;               /* of a PUT with a name that is not */
    int shown;               /* how many bytes of the name its message shows at most */
    struct rm_words invalid; /* its message */
    /* For the answer to whether a name is free; reason NULL: nobody can ask. */
    const char *reason; /* of a name that is not valid */
    struct rm_words answer_invalid, answer_taken;
};

struct rm_kind {
    const char *what;        /* for messages: "Batch account" */
    const char *param;       /* the name's place in paths: "account" */
    enum resource_kind kind; /* for its operations */
    const void *of;          /* the kind's own; or NULL */
    struct rm_columns columns;
    const struct schema *schema;       /* of the body of PUT; NULL: it has none */
    const struct schema *patch_schema; /* of PATCH; NULL: `patch` accepts the body */
    const struct schema *named_schema; /* of the question whether a name is free, with "name" */
    const struct rm_name_rule *name_rule;
    int other_location;      /* the error of rm_check_location() */
    const char *cannot_move; /* its words: "it cannot be moved"; NULL: those of the accounts */

    /* PUT */
    rm_step *const *steps; /* up to a NULL; before it is known whether there is one */
    rm_step *seek;         /* fills the row; 1: there is one of this name; 0: none */
    rm_step *prepare;      /* checks for a new one; NULL: none */
    rm_step *insert;       /* writes the new row and sets m->id */
    bool operation;        /* making one is an operation */
    bool whole;            /* its transaction has no savepoint: st_whole() */
    rm_step *change;       /* of one that is there: checks, and writes what changes; or NULL */
    bool refuses_deleting; /* PUT and PATCH of one that is being deleted: ERR_BEING_DELETED */
    struct replied *(*made)(struct rm *m); /* answers, and logs; NULL: it is shown with 200 */
    /* Instead of prepare, insert and made: for what is made later than in this turn. */
    struct replied *(*create)(struct rm *m);
    bool rereads; /* PUT and PATCH find the row again before they show it */

    /* PATCH */
    rm_step *find_made; /* as `find`, of one that may be changed; NULL: `find` */
    rm_step *patch;

    /* GET, DELETE */
    rm_step *find;      /* fills the row with the one that the path names */
    const int *missing; /* up to a 0: which errors of `find` DELETE answers with 204 */
    struct replied *(*remove)(struct rm *m);

    /* Showing: with `show`, or else with `headers` and `render`. */
    struct replied *(*show)(struct rm *m, int status);
    void (*headers)(struct rm *m); /* NULL: none */
    void (*render)(struct request *r, const void *row, struct strbuf *out);

    /* Lists */
    int (*list)(struct request *r, const struct rm_query *query, void **rows, size_t *n,
                struct err *e);
    /* The id by which it is decided who sees a row; NULL: that which the row shows. */
    const char *(*path)(struct request *r, const void *row);
    bool hides_deleting; /* what is being deleted is not listed */
    bool has_top;        /* $top is another name of maxresults */
    bool has_odata;      /* Batch AI's versions without workspaces have $filter and $select */

    /* Of a name: fills the row; 1: it is taken; 0: it is free. */
    rm_step *taken;
};

/* Handlers, for rows of a route table. */
struct replied *rm_put(struct request *r);
struct replied *rm_patch(struct request *r);
struct replied *rm_get(struct request *r);
struct replied *rm_delete(struct request *r);
struct replied *rm_list(struct request *r);
struct replied *rm_list_by_group(struct request *r);
struct replied *rm_check_name(struct request *r);

/* Steps of a PUT. */
rm_step rm_step_subscription; /* there is the path's subscription */
rm_step rm_step_group;        /* there is the path's group: m->group */
rm_step rm_step_group_alive;  /* which is not being deleted */
rm_step rm_step_name;         /* the name is valid */
rm_step rm_step_body;         /* the body is accepted: m->given */

/* For a kind's functions, and for its other handlers, whose rows have the kind, too. */
struct rm rm_begin(struct request *r);
struct rm rm_begin_named(struct request *r); /* of a path that names one */
struct rm_row rm_row_of(const struct rm *m);
int64_t rm_id(const struct rm_kind *kind, const void *row);
bool rm_is_being_deleted(const struct rm_kind *kind, const void *row);
/* The list of what is below a row; the page says after which. */
REPLIED rm_list_below(struct rm *m, const struct rm_query *query);
const char *rm_text(const json_t *object, const char *key); /* NULL: it has no such text */
/* A member of the accepted body as text; `otherwise` if it has none. */
const char *rm_given_text(struct rm *m, const char *key, const char *otherwise);
/* Refuses a body with another location than that of the row, as the kind says. A body without
 * location is taken. `group` is for the words of accounts. */
int rm_check_location(struct rm *m, const char *name, const char *location, const char *group,
                      struct err *e) MUST_CHECK;
REPLIED rm_show(struct rm *m, int status);
/* Errors of `find` that DELETE answers with 204: ERR_RESOURCE_NOT_FOUND alone. */
extern const int rm_missing[];

#endif
