/* SPDX-License-Identifier: MIT
 *
 * Secrets of Key Vaults that clusters and jobs refer to. They are read as the principal of the
 * service, which Azure's walkthroughs allow by its well-known id, or as the creator of the
 * resource. They are read at the time of their use, because people may lose their roles while a job
 * waits in its queue.
 */
#include "model/vault.h"
#include "scheduler/front/batchai/front_priv.h"

struct secret_reading {
    const struct batchai_front *f;
    struct storage *st;
    struct arena *a;
    struct secret_url url;
    struct secret_answer *out;
};

static int refuse(const struct secret_reading *r, const char *cause, const char *remedy)
{
    *r->out = (struct secret_answer){.cause = cause, .remedy = remedy};
    return 0;
}

static bool may_read(const struct secret_reading *r, const struct vault *v, const char *object_id)
{
    const struct batchai_roles *roles = &r->f->roles;
    json_t *doc = json_loads(v->doc, 0, NULL);
    const json_t *properties = json_object_get(doc, "properties");
    bool may =
        vault_uses_roles(properties)
            ? roles->read_secrets && roles->read_secrets(roles->ctx, object_id, v, r->url.name)
            : vault_policy_allows(properties, object_id, "get");
    json_decref(doc);
    return may;
}

/* The creator of the job, or of the cluster. */
struct maker {
    const char *id; /* NULL: not known */
    bool is_gone;
};

static int find_maker(const struct secret_reading *r, const struct secret_wish *w,
                      struct maker *who, struct err *e)
{
    const struct batchai_roles *roles = &r->f->roles;
    struct cluster c;
    struct job j;
    *who = (struct maker){0};
    int rc = w->run ? st_job_by_id(r->st, r->a, w->run->owner_id, &j, e)
                    : st_cluster_by_id(r->st, r->a, w->pool_id, &c, e);
    if (rc > 0)
        who->id = w->run ? j.created_by : c.created_by;
    if (rc > 0 && who->id && roles->is_there) {
        rc = roles->is_there(roles->ctx, who->id, e);
        who->is_gone = rc == 0;
    }
    return rc < 0 ? -1 : 0;
}

static int read_from(const struct secret_reading *r, const struct vault *v, struct err *e)
{
    const struct secret_url *u = &r->url;
    struct secret_version x;
    int rc = st_secret_version_get(r->st, r->a, v->id, u->name, u->version, &x, e);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return refuse(r,
                      arena_printf(r->a, "the vault '%s' does not have this secret%s", v->name,
                                   u->version ? " or version" : ""),
                      arena_printf(r->a, "az keyvault secret set --vault-name %s --name %s",
                                   v->name, u->name));
    if (x.deleted_us > 0)
        return refuse(r, "the secret is soft-deleted",
                      arena_printf(r->a, "az keyvault secret recover --vault-name %s --name %s",
                                   v->name, u->name));
    if (!x.enabled)
        return refuse(r, "the secret is disabled",
                      arena_printf(r->a,
                                   "az keyvault secret set-attributes --vault-name %s --name %s "
                                   "--enabled true",
                                   v->name, u->name));
    rc = st_secret_value(r->st, r->a, x.id, &r->out->value, e);
    if (rc >= 0 && !r->out->value)
        r->out->value = arena_strdup(r->a, "");
    return rc < 0 ? -1 : 0;
}

static int read_as(const struct secret_reading *r, const struct secret_wish *w,
                   const struct vault *v, struct err *e)
{
    struct maker maker;
    if (find_maker(r, w, &maker, e) < 0)
        return -1;
    /* A cluster serves other users too, so without its creator it continues with the rights of the
     * service's principal. */
    if (maker.is_gone && w->run)
        return refuse(r, "the user who created this job does not exist any more",
                      "create the job again as an existing user");
    bool maker_may = maker.id && !maker.is_gone && may_read(r, v, maker.id);
    if (!maker_may && !may_read(r, v, BATCHAI_PRINCIPAL))
        return refuse(r,
                      arena_printf(r->a,
                                   "neither Azure Batch AI nor the user who created this may read "
                                   "secrets of the vault '%s'",
                                   v->name),
                      arena_printf(r->a,
                                   "az keyvault set-policy -n %s --object-id " BATCHAI_PRINCIPAL
                                   " --secret-permissions get",
                                   v->name));
    return read_from(r, v, e);
}

int secret_read(const struct front *front, struct storage *st, struct arena *a,
                const struct secret_wish *w, struct secret_answer *out, struct err *e)
{
    struct secret_reading r = {.f = front_self(front), .st = st, .a = a, .out = out};
    struct vault v;
    *out = (struct secret_answer){0};
    if (!secret_url_parse(a, w->url, &r.url))
        return refuse(&r, "this is not the URL of a secret",
                      "write it as https://VAULT.vault.azure.net/secrets/NAME");
    int rc = st_vault_get(st, a, r.url.vault, &v, e);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return refuse(&r, arena_printf(a, "there is no vault '%s'", r.url.vault),
                      arena_printf(a, "az keyvault create -n %s", r.url.vault));
    if (v.group_id == 0)
        return refuse(&r, arena_printf(a, "the vault '%s' is soft-deleted", v.name),
                      arena_printf(a, "az keyvault recover -n %s", v.name));
    return read_as(&r, w, &v, e);
}
