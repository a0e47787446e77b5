/* SPDX-License-Identifier: MIT
 *
 * Accounts and shares that a mount creates by naming them: it makes their rows, in a separate group
 * and with random keys. A later creation of such an account takes it over.
 */
#include <string.h>

#include "model/spec.h"
#include "scheduler/wake/wake.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

#define LOCATION "eastus" /* arbitrary: no user has chosen one */
#define QUOTA    5120     /* GiB; the real service's default for a file share */

int shares_implicit_group(struct storage *st, struct arena *a, const char *subscription,
                          const char *principal, int64_t now_us, int64_t *id, struct err *e)
{
    struct resource_group g;
    int rc = st_group_get(st, a, subscription, IMPLICIT_GROUP, &g, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && g.prov_state == PROV_DELETING)
        return err_set(e, ERR_BEING_DELETED, NULL,
                       "The resource group " IMPLICIT_GROUP " is being deleted; try again.");
    *id = rc > 0 ? g.id : 0;
    if (rc > 0)
        return 0;
    g = (struct resource_group){.subscription = subscription,
                                .name = IMPLICIT_GROUP,
                                .location = LOCATION,
                                .prov_state = PROV_SUCCEEDED,
                                .created_by = principal,
                                .created_us = now_us,
                                .updated_us = now_us};
    return st_group_insert(st, &g, id, e);
}

/* --- lookup --- */

/* A name with its account and share, if they exist; names in lower case, like the names of
 * folders. */
struct naming {
    struct shares *sh;
    struct arena a;
    const struct share_name *n;
    const char *account, *share;
    struct storage_account acct;
    struct share row;
    bool has_account, has_share;
};

static int look(struct naming *m, struct err *e)
{
    struct storage *st = m->sh->c.storage;
    int rc = st_account_by_name(st, &m->a, m->account, &m->acct, e);
    m->has_account = rc > 0;
    if (rc > 0)
        rc = st_share_by_name(st, &m->a, m->acct.id, m->n->kind, m->share, &m->row, e);
    m->has_share = m->has_account && rc > 0;
    return rc < 0 ? -1 : 0;
}

static int look_up(struct shares *sh, const struct share_name *n, struct naming *m, struct err *e)
{
    *m = (struct naming){.sh = sh, .n = n};
    arena_init(&m->a);
    m->account = arena_lower(&m->a, n->account);
    m->share = arena_lower(&m->a, n->share);
    if (look(m, e) == 0)
        return 0;
    arena_free(&m->a);
    return -1;
}

/* --- permission --- */

static const char *noun(const struct share_name *n)
{
    return n->kind == SHARE_BLOBS ? "container" : "share";
}

static int check_going(const struct naming *m, struct err *e)
{
    if (m->has_account && m->acct.prov_state == PROV_DELETING)
        return err_set(e, ERR_BEING_DELETED, NULL, "The storage account %s is being deleted.",
                       m->account);
    if (m->has_share && m->row.state == SHARE_DELETING)
        return err_set(e, ERR_BEING_DELETED, NULL,
                       "The %s %s of the storage account %s is being "
                       "deleted.",
                       noun(m->n), m->share, m->account);
    return 0;
}

static int check_there(const struct naming *m, struct err *e)
{
    if (!m->has_account)
        return err_set(e, ERR_INVALID_PROPERTY, "accountName",
                       "There is no storage account %s; create it: az storage account create -n %s "
                       "-g GROUP -l LOCATION",
                       m->account, m->account);
    if (!m->has_share)
        return err_set(e, ERR_INVALID_PROPERTY, m->n->kind == SHARE_BLOBS ? "containerName" : NULL,
                       "There is no %s %s in the storage account %s; create it: az storage %s "
                       "create -n %s --account-name %s",
                       noun(m->n), m->share, m->account, noun(m->n), m->share, m->account);
    return 0;
}

/* An existing name may be given in any case. A missing name would be created in lower case, that
 * is, under another name. */
static int check_name(const struct naming *m, struct err *e)
{
    const char *name = m->n->share;
    if (m->has_share || m->n->kind != SHARE_BLOBS || container_name_valid(name))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "containerName",
                   "There is no container '%s' in the storage account %s, and it cannot be "
                   "created: the name of a container must have %s.",
                   name, m->account, container_name_rule);
}

static int check_key(const struct naming *m, struct err *e)
{
    if (account_forbids(&m->acct, "allowSharedKeyAccess"))
        return err_set(e, ERR_INVALID_PROPERTY, "credentials.accountKey",
                       "The storage account %s does not allow access with its keys "
                       "(allowSharedKeyAccess), but a mount needs a key.",
                       m->account);
    int rc = st_account_has_key(m->sh->c.storage, m->acct.id, m->n->key, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_INVALID_PROPERTY, "credentials.accountKey",
                   "The given accountKey is not a key of the storage account %s; list its keys "
                   "with: az storage account keys list -n %s",
                   m->account, m->account);
}

int shares_check_named(struct shares *sh, const struct share_name *n, struct err *e)
{
    struct naming m;
    if (look_up(sh, n, &m, e) < 0)
        return -1;
    int rc = n->is_elsewhere ? 0 : check_going(&m, e);
    if (rc == 0 && !n->is_elsewhere)
        rc = sh->c.strict ? check_there(&m, e) : check_name(&m, e);
    bool is_made = m.has_account && (sh->c.strict || !m.acct.implicit); /* by a client's PUT */
    if (rc == 0 && m.has_account && (n->needs_key || (is_made && n->key && !n->is_elsewhere)))
        rc = check_key(&m, e);
    arena_free(&m.a);
    return rc;
}

int shares_is_named(struct shares *sh, const struct share_name *n, struct err *e)
{
    struct naming m;
    if (look_up(sh, n, &m, e) < 0)
        return -1;
    bool there = m.has_share || check_going(&m, e) < 0;
    arena_free(&m.a);
    return there;
}

/* --- making ----------------------------------------------------------------------------------- */

static int make_account(struct naming *m, const char *principal, int64_t now_us, struct err *e)
{
    struct account_keys keys;
    struct storage *st = m->sh->c.storage;
    struct storage_account s = {.scope = {.location = LOCATION},
                                .name = m->account,
                                .sku = "Standard_LRS",
                                .kind = "StorageV2",
                                .doc = "{}",
                                .created_by = principal,
                                .prov_state = PROV_SUCCEEDED,
                                .created_us = now_us,
                                .updated_us = now_us,
                                .key1_us = now_us,
                                .key2_us = now_us,
                                .implicit = true};
    if (shares_implicit_group(st, &m->a, m->sh->subscription, principal, now_us, &s.group_id, e) <
        0)
        return -1;
    st_account_new_keys(&keys);
    int rc = st_account_insert(st, &s, &keys, &m->acct.id, e);
    st_account_forget_keys(&keys);
    if (rc == 0)
        LOG_INFO(m->sh->c.log, "storage_account.auto_created", LF_STR("account", m->account));
    return rc;
}

static int make_share(struct naming *m, int64_t now_us, struct err *e)
{
    int64_t id;
    const struct share s = {.account_id = m->acct.id,
                            .account = m->account,
                            .name = m->share,
                            .kind = m->n->kind,
                            .state = SHARE_MAKING,
                            .quota = m->n->kind == SHARE_FILES ? QUOTA : 0,
                            .public_access = PUBLIC_NONE,
                            .lease_state = LEASE_AVAILABLE,
                            .etag = st_next_etag(0, now_us),
                            .created_us = now_us,
                            .updated_us = now_us};
    if (st_share_insert(m->sh->c.storage, &s, &id, e) < 0)
        return -1;
    wake_durable(m->sh->c.wakes, &woken_share, id);
    return 0;
}

int shares_make_named(struct shares *sh, const struct share_name *n, const char *principal,
                      int64_t now_us, struct err *e)
{
    struct naming m;
    if (sh->c.strict || n->is_elsewhere)
        return 0;
    if (look_up(sh, n, &m, e) < 0)
        return -1;
    int rc = m.has_account ? 0 : make_account(&m, principal, now_us, e);
    if (rc == 0 && !m.has_share)
        rc = make_share(&m, now_us, e) < 0 ? -1 : 1;
    arena_free(&m.a);
    return rc;
}
