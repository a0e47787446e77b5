/* SPDX-License-Identifier: MIT
 *
 * struct rm_kind describes a kind of resource (such as vaults). All kinds share the handlers here:
 * create or update (PUT), update (PATCH), get, delete, the two lists, and the check whether a name
 * is free. A row of a service's route table names one of these handlers and has the kind as its
 * data:
 *
 *   {"PUT", VAULT, 0, ROUTE_JSON, rm_put, "Vaults_CreateOrUpdate", &vault_kind},
 *
 * A kind consists of small functions for its own steps. They get the struct rm of the request. Its
 * `row` is a void pointer, so each function first assigns it to a pointer of the row's type.
 *
 *   PUT    the kind's `steps`, then `seek`. If the resource is new: `prepare`, then `insert`
 *          (with an operation: both in one transaction), then `made` replies. If it exists:
 *          `change`, and the reply shows the resource.
 *   PATCH  `find_made`, the partial body, `patch`; the reply shows the resource.
 *
 * Functions with a struct err return 0 or -1 with the error set, unless a comment says otherwise.
 * All memory is the request's: the functions of a kind free nothing.
 */
#ifndef API_ARM_KIND_H
#define API_ARM_KIND_H

#include <stddef.h>

#include "api/arm/operation.h"
#include "api/http/accept.h"
#include "model/resource.h"
#include "storage/storage.h"

struct rm_kind;

/* The rows of a list: at most `limit` rows below row `above`, with ids greater than `after`. */
struct rm_query {
    int64_t above;             /* id of a group or parent; 0: whole subscription */
    struct st_filter filter;   /* the subscription and `above` */
    const struct scope *scope; /* NULL: the list reads the rows' scopes */
    int64_t after;
    int limit;
};

/* A request about a resource of a kind. */
struct rm {
    struct request *r;
    const struct rm_kind *kind;
    const char *name;            /* the name in the path; NULL: a list */
    struct resource_group group; /* the group in the path, after a step has found it */
    void *parent;                /* the parent, after a step has found it; arena */
    struct accepted given;       /* the body, after it was accepted */
    void *row;                   /* the kind's row, zeroed at first; arena */
    int64_t id;                  /* the id of the row that was found or inserted */

    /* Arguments of the operation that creates the resource. */
    const struct scope *scope; /* NULL: the group and the body's location */
    bool in_group;             /* the resource is directly in the group */
    bool done;                 /* the operation succeeds at once */
    const char *guid;          /* the operation's id; arena; NULL: no operation was started */
};

typedef int rm_step(struct rm *m, struct err *e);

/* Offsets, in the kind's row type, of the columns that rows of all kinds have; 0: this kind has no
 * such column. */
struct rm_columns {
    size_t size; /* of a row */
    size_t id, name, scope, state, updated;
};
#define RM_COLUMNS(type)                                                                           \
    {                                                                                              \
        sizeof(type), offsetof(type, id), offsetof(type, name), offsetof(type, scope),             \
            offsetof(type, prov_state), offsetof(type, updated_us)                                 \
    }

/* The values of struct rm_columns in one row. */
struct rm_row {
    int64_t id, updated_us;
    const char *name;
    const struct scope *scope; /* NULL: the row has no scope */
    enum prov_state state;
};

/* The parts of a message before and after a name. `after` NULL: the message is `before` and has no
 * name. */
struct rm_words {
    const char *before, *after;
};

/* The rule for valid names. */
struct rm_name_rule {
    bool (*is_valid)(const char *name);
    int error;               /* the error of a PUT with an invalid name */
    int shown;               /* the most bytes of the name in the error message */
    struct rm_words invalid; /* its message */
    /* For requests that check whether a name is free; reason NULL: the kind has no such request. */
    const char *reason; /* the reason code of an invalid name */
    struct rm_words answer_invalid, answer_taken;
};

struct rm_kind {
    const char *what;        /* for messages: "Batch account" */
    const char *param;       /* the name's parameter in paths: "account" */
    enum resource_kind kind; /* kind of its operations */
    const void *of;          /* data for the kind's functions, or NULL */
    struct rm_columns columns;
    const struct schema *schema;       /* of the body of PUT; NULL: PUT has no body */
    const struct schema *patch_schema; /* of the body of PATCH; NULL: `patch` accepts the body */
    /* of the body with a "name" that asks whether the name is free */
    const struct schema *named_schema;
    const struct rm_name_rule *name_rule;
    int other_location;      /* the error of rm_check_location() */
    const char *cannot_move; /* its text: "it cannot be moved"; NULL: that of accounts */

    /* PUT */
    rm_step *const *steps; /* ends with NULL; run before `seek` */
    rm_step *seek;         /* fills the row; 1: a row of this name exists; 0: none */
    rm_step *prepare;      /* checks a new resource; or NULL */
    rm_step *insert;       /* writes the new row and sets m->id */
    bool operation;        /* creating is an operation */
    bool whole;            /* insert without a savepoint: st_whole() */
    rm_step *change;       /* checks and stores changes of an existing row; or NULL */
    /* PUT and PATCH fail with ERR_BEING_DELETED while the resource is being deleted */
    bool refuses_deleting;
    /* replies and logs after `insert`; NULL: replies with 200 and the new resource */
    struct replied *(*made)(struct rm *m);
    /* Is called instead of prepare, insert and made if the resource is created in a later turn of
     * the loop; or NULL. */
    struct replied *(*create)(struct rm *m);
    bool rereads; /* PUT and PATCH read the row again before they show it */

    /* PATCH */
    rm_step *find_made; /* finds a row to change; NULL: `find` */
    rm_step *patch;

    /* GET, DELETE */
    rm_step *find;      /* fills the row with the resource in the path */
    const int *missing; /* errors of `find` for which DELETE replies 204; ends with 0 */
    struct replied *(*remove)(struct rm *m);

    /* Show the resource: `show`; if it is NULL, `headers` and `render`. */
    struct replied *(*show)(struct rm *m, int status);
    void (*headers)(struct rm *m); /* NULL: none */
    void (*render)(struct request *r, const void *row, struct strbuf *out);

    /* Lists */
    int (*list)(struct request *r, const struct rm_query *query, void **rows, size_t *n,
                struct err *e);
    /* The resource id with which rights to a row are checked; NULL: the id in the row's JSON. */
    const char *(*path)(struct request *r, const void *row);
    bool hides_deleting;             /* lists omit resources that are being deleted */
    bool has_top;                    /* $top is another name of maxresults */
    bool has_odata;                  /* versions without workspaces have $filter and $select */
    const struct schema *tag_schema; /* for $filter by a tag: tagName, tagValue; or NULL */

    /* Finds a row with the name: 1: the name is taken; 0: it is free. */
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
rm_step rm_step_subscription; /* checks that the path's subscription exists */
rm_step rm_step_group;        /* finds the path's group: m->group */
rm_step rm_step_group_alive;  /* fails if the group is being deleted */
rm_step rm_step_name;         /* checks the name */
rm_step rm_step_body;         /* reads the body into m->given */

/* For functions and further handlers of a kind; the route rows of such handlers have the kind as
 * data, too. */
struct rm rm_begin(struct request *r);
struct rm rm_begin_named(struct request *r); /* for a path that names a resource */
struct rm_row rm_row_of(const struct rm *m);
int64_t rm_id(const struct rm_kind *kind, const void *row);
bool rm_is_being_deleted(const struct rm_kind *kind, const void *row);
/* Lists the rows below another row, beginning after the key in the request's page. */
REPLIED rm_list_below(struct rm *m, const struct rm_query *query);
const char *rm_text(const json_t *object, const char *key); /* NULL: the object has no such text */
/* A member of the accepted body as text; `otherwise` if the body lacks it. */
const char *rm_given_text(struct rm *m, const char *key, const char *otherwise);
/* Fails with the kind's error if the body's location differs from `location`, the row's. Succeeds
 * for a body without location. `group` appears in the message for accounts. */
int rm_check_location(struct rm *m, const char *name, const char *location, const char *group,
                      struct err *e) MUST_CHECK;
REPLIED rm_show(struct rm *m, int status);
/* A value for rm_kind.missing: DELETE replies 204 only for ERR_RESOURCE_NOT_FOUND. */
extern const int rm_missing[];

/* --- accounts, whose names are unique in the whole cloud: Microsoft.Storage, Microsoft.Batch -----
 */

/* For rm_name_rule.is_valid: whether the name has 3 to 24 lower-case letters and digits. */
bool account_name_is_valid(const char *name);
/* The provisioningState, a constant text, of an account that was created at `created_us` and is not
 * being deleted. */
const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us);

#endif
