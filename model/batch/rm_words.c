/* SPDX-License-Identifier: MIT
 *
 * Properties that the resource manager and the data plane of Azure Batch share: a table with the
 * place of each property in the JSON of both, and conversions where the two forms differ. The
 * caller owns new references. Pure; any thread.
 */
#include "model/batch/rm_words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Members of the document whose place in the body of a request differs: their name in the data
 * plane, and their path in the body. `size`: the member belongs to the pool's size, which is stored
 * in columns. */
static const struct moved {
    const char *plane, *path;
    bool size;
} moved[] = {
    {"virtualMachineConfiguration",
     "properties.deploymentConfiguration.virtualMachineConfiguration", false},
    {"cloudServiceConfiguration", "properties.deploymentConfiguration.cloudServiceConfiguration",
     false},
    {"enableInterNodeCommunication", "properties.interNodeCommunication", false},
    {"certificateReferences", "properties.certificates", false},
    {"applicationPackageReferences", "properties.applicationPackages", false},
    {"targetDedicatedNodes", "properties.scaleSettings.fixedScale.targetDedicatedNodes", true},
    {"targetLowPriorityNodes", "properties.scaleSettings.fixedScale.targetLowPriorityNodes", true},
    {"resizeTimeout", "properties.scaleSettings.fixedScale.resizeTimeout", true},
    {"enableAutoScale", "properties.scaleSettings.autoScale", true},
    {"autoScaleFormula", "properties.scaleSettings.autoScale.formula", true},
    {"autoScaleEvaluationInterval", "properties.scaleSettings.autoScale.evaluationInterval", true},
    {"id", "name", false},
};
#define N_MOVED (sizeof moved / sizeof *moved)

static const struct moved *find_moved(const char *path)
{
    size_t n = strcspn(path, ".[");
    for (size_t i = 0; i < N_MOVED; i++)
        if (strlen(moved[i].plane) == n && strncmp(moved[i].plane, path, n) == 0)
            return &moved[i];
    return NULL;
}

bool rm_pool_is_size(const char *name)
{
    const struct moved *m = find_moved(name);
    return m && m->size;
}

const char *rm_pool_place(struct arena *a, const char *path)
{
    const struct moved *m = find_moved(path);
    return m ? arena_concat(a, m->path, path + strlen(m->plane))
             : arena_concat(a, "properties.", path);
}

/* --- references ------------------------------------------------------------------------------- */

bool rm_certificate_name(struct arena *a, const char *name, const char **algorithm,
                         const char **thumbprint)
{
    const char *dash = strchr(name, '-');
    if (!dash || dash == name || !dash[1])
        return false;
    *algorithm = arena_strndup(a, name, (size_t)(dash - name));
    *thumbprint = dash + 1;
    return true;
}

static const char *last_segment(const json_t *reference)
{
    const char *id = json_string_value(json_object_get(reference, "id"));
    const char *slash = id ? strrchr(id, '/') : NULL;
    return slash ? slash + 1 : id;
}

static int refuse_id(const char *list, size_t i, const char *what, struct err *e)
{
    char target[64];
    snprintf(target, sizeof target, "properties.%s[%zu].id", list, i);
    return err_set(e, ERR_INVALID_PROPERTY, target, "%s must be the id of %s", target, what);
}

static int certificates_to(const json_t *list, json_t *doc, struct err *e)
{
    struct arena a;
    json_t *one, *out = json_array();
    int rc = 0;
    size_t i;
    arena_init(&a);
    json_array_foreach(list, i, one) {
        const char *algorithm, *thumbprint;
        if (!rm_certificate_name(&a, last_segment(one), &algorithm, &thumbprint)) {
            rc = refuse_id("certificates", i, "a certificate, .../certificates/sha1-THUMBPRINT", e);
            break;
        }
        json_t *reference = json_copy(one);
        json_object_del(reference, "id");
        json_object_set_new(reference, "thumbprint", json_string(thumbprint));
        json_object_set_new(reference, "thumbprintAlgorithm", json_string(algorithm));
        json_array_append_new(out, reference);
    }
    arena_free(&a);
    json_object_set_new(doc, "certificateReferences", out);
    return rc;
}

static int packages_to(const json_t *list, json_t *doc, struct err *e)
{
    json_t *one, *out = json_array();
    int rc = 0;
    size_t i;
    json_array_foreach(list, i, one) {
        const char *name = last_segment(one);
        if (!name || !*name) {
            rc = refuse_id("applicationPackages", i, "an application, .../applications/NAME", e);
            break;
        }
        json_array_append_new(out, json_pack("{s:s, s:O*}", "applicationId", name, "version",
                                             json_object_get(one, "version")));
    }
    json_object_set_new(doc, "applicationPackageReferences", out);
    return rc;
}

static void references_from(const json_t *doc, const char *account, json_t *out)
{
    json_t *one, *certificates = json_array(), *packages = json_array();
    size_t i;
    json_array_foreach(json_object_get(doc, "certificateReferences"), i, one) {
        json_t *reference = json_copy(one);
        json_object_set_new(
            reference, "id",
            json_sprintf("%s/certificates/%s-%s", account,
                         json_string_value(json_object_get(one, "thumbprintAlgorithm")),
                         json_string_value(json_object_get(one, "thumbprint"))));
        json_array_append_new(certificates, reference);
    }
    json_array_foreach(json_object_get(doc, "applicationPackageReferences"), i, one)
        json_array_append_new(
            packages,
            json_pack("{s:o, s:O*}", "id",
                      json_sprintf("%s/applications/%s", account,
                                   json_string_value(json_object_get(one, "applicationId"))),
                      "version", json_object_get(one, "version")));
    if (json_array_size(certificates) > 0)
        json_object_set(out, "certificates", certificates);
    if (json_array_size(packages) > 0)
        json_object_set(out, "applicationPackages", packages);
    json_decref(certificates);
    json_decref(packages);
}

/* --- whole pools ------------------------------------------------------------------------------ */

static void scale_to(const json_t *scale, json_t *doc)
{
    const json_t *fixed = json_object_get(scale, "fixedScale");
    const json_t *formula = json_object_get(scale, "autoScale");
    static const char *const names[] = {"targetDedicatedNodes", "targetLowPriorityNodes",
                                        "resizeTimeout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_object_get(fixed, names[i]))
            json_object_set(doc, names[i], json_object_get(fixed, names[i]));
    if (fixed || formula)
        json_object_set_new(doc, "enableAutoScale", json_boolean(formula));
    if (!formula)
        return;
    json_object_set(doc, "autoScaleFormula", json_object_get(formula, "formula"));
    if (json_object_get(formula, "evaluationInterval"))
        json_object_set(doc, "autoScaleEvaluationInterval",
                        json_object_get(formula, "evaluationInterval"));
}

int rm_pool_to_plane(const json_t *properties, json_t **out, struct err *e)
{
    json_t *doc = json_object(), *value;
    const char *name;
    int rc = 0;
    json_object_foreach((json_t *)(uintptr_t)properties, name, value) {
        if (strcmp(name, "deploymentConfiguration") == 0)
            json_object_update(doc, value);
        else if (strcmp(name, "scaleSettings") == 0)
            scale_to(value, doc);
        else if (strcmp(name, "interNodeCommunication") == 0)
            json_object_set_new(doc, "enableInterNodeCommunication",
                                json_boolean(strcmp(json_string_value(value), "Enabled") == 0));
        else if (strcmp(name, "certificates") == 0)
            rc = certificates_to(value, doc, e);
        else if (strcmp(name, "applicationPackages") == 0)
            rc = packages_to(value, doc, e);
        else if (json_is_object(value) && json_object_size(value) == 0)
            json_object_set_new(doc, name, json_null());
        else
            json_object_set(doc, name, value);
        if (rc < 0)
            break;
    }
    *out = doc;
    if (rc < 0) {
        json_decref(doc);
        *out = NULL;
    }
    return rc;
}

json_t *rm_pool_from_plane(const json_t *doc, const char *account)
{
    json_t *out = json_object(), *deployment = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)doc, name, value) {
        const struct moved *m = find_moved(name);
        if (!m)
            json_object_set(out, name, value);
        else if (strncmp(m->path, "properties.deployment", strlen("properties.deployment")) == 0)
            json_object_set(deployment, name, value);
    }
    json_object_set_new(out, "deploymentConfiguration", deployment);
    json_object_set_new(
        out, "interNodeCommunication",
        json_string(json_is_true(json_object_get(doc, "enableInterNodeCommunication"))
                        ? "Enabled"
                        : "Disabled"));
    references_from(doc, account, out);
    return out;
}
