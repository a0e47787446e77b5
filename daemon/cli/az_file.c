/* SPDX-License-Identifier: MIT
 *
 * Reads JSON files of `az batchai`. The tables of the model check them; a file may be of any
 * version. The YAML parser finds the lines and columns of values, because JSON is a subset of YAML.
 */
#include "daemon/cli/az_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/fs.h"
#include "lib/jsonread.h"
#include "lib/nearest.h"
#include "lib/yaml.h"

#define MAX_FILE    (4 << 20)
#define DEPTH_MAX   64
#define STEPS_MAX   32
#define PLACEHOLDER "<AZURE_BATCHAI_STORAGE_"

static const enum api_version versions[] = {V_2018_05_01, V_2018_03_01, V_2017_09_01_PREVIEW};

/* --- places ----------------------------------------------------------------------------------- */

/* Finds line and column of a path, for example "properties.secrets[0].value"; if only the first
 * part of the path exists, the place of that part. */
static bool find_place(const struct az_file *f, const char *path, struct yaml_place *at)
{
    static const struct yaml_rules rules = {.depth_max = DEPTH_MAX};
    char names[sizeof((struct err *)0)->target];
    const char *steps[STEPS_MAX];
    struct yaml_doc doc;
    struct err ignored;
    size_t n = 0;
    if (yaml_doc_read(f->text, f->len, &rules, &doc, at, &ignored) < 0)
        return false;
    snprintf(names, sizeof names, "%s", path);
    for (char *rest, *name = strtok_r(names, ".[]", &rest); name && n < STEPS_MAX;
         name = strtok_r(NULL, ".[]", &rest))
        steps[n++] = name;
    yaml_doc_place(&doc, steps, n, at);
    yaml_doc_free(&doc);
    return true;
}

static int blame(const struct az_file *f, const char *path, struct err *e)
{
    struct yaml_place at;
    if (find_place(f, path, &at))
        return err_prefix(e, "%s:%zu:%zu", f->name, at.line, at.column);
    return err_prefix(e, "%s", f->name);
}

/* --- members that az fills in ----------------------------------------------------------------- */

/* Members that a file may lack, because az takes them from options or from the account. */
static const struct filled {
    const char *path; /* "*": each item of a list */
    const char *member, *value;
} filled[] = {
    /* the URL contains the name, too */
    {"nodeSetup.mountVolumes.azureFileShares.*", "accountName", NULL},
    {"nodeSetup.mountVolumes.azureFileShares.*", "credentials", "{\"accountKey\": \"a2V5\"}"},
    {"nodeSetup.mountVolumes.azureBlobFileSystems.*", "credentials", "{\"accountKey\": \"a2V5\"}"},
    {"mountVolumes.azureFileShares.*", "accountName", NULL},
    {"mountVolumes.azureFileShares.*", "credentials", "{\"accountKey\": \"a2V5\"}"},
    {"mountVolumes.azureBlobFileSystems.*", "credentials", "{\"accountKey\": \"a2V5\"}"},
    {"userAccountSettings", "adminUserName", "\"user\""},
    {"sshConfiguration.userAccountSettings", "adminUserName", "\"user\""},
    {"dataDisks", "diskCount", "1"},
    {"dataDisks", "diskSizeInGB", "1"},
    {"dataDisks", "storageAccountType", "\"Premium_LRS\""},
};

/* The account's name: "ada" in https://ada.file.core.windows.net/share. */
static json_t *account_of(const json_t *share)
{
    const char *url = json_string_value(json_object_get(share, "azureFileUrl"));
    const char *host = url ? strstr(url, "://") : NULL;
    return host ? json_stringn(host + 3, strcspn(host + 3, "./")) : NULL;
}

static void fill(json_t *at, const char *path, const struct filled *f)
{
    size_t i, n = strcspn(path, ".");
    json_t *item;
    char name[64];
    if (!*path) {
        json_t *there = json_object_get(at, f->member);
        if (json_is_object(at) && (!there || json_is_null(there)))
            json_object_set_new(at, f->member,
                                f->value ? json_loads(f->value, JSON_DECODE_ANY, NULL)
                                         : account_of(at));
        return;
    }
    const char *rest = path[n] ? path + n + 1 : "";
    snprintf(name, sizeof name, "%.*s", (int)n, path);
    if (strcmp(name, "*") == 0)
        json_array_foreach(at, i, item)
            fill(item, rest, f);
    else if ((item = json_object_get(at, name)))
        fill(item, rest, f);
}

/* Replaces words as <AZURE_BATCHAI_STORAGE_ACCOUNT>, as az does. */
static json_t *replaced(const json_t *v)
{
    struct strbuf b = STRBUF_INIT;
    const char *s = json_string_value(v), *found;
    while ((found = strstr(s, PLACEHOLDER)) && strchr(found, '>')) {
        strbuf_add(&b, s, (size_t)(found - s));
        strbuf_puts(&b, "a2V5"); /* base64 that is valid both as a name and as a key */
        s = strchr(found, '>') + 1;
    }
    strbuf_puts(&b, s);
    json_t *text = json_string(b.s);
    strbuf_free(&b);
    return text;
}

static void replace_texts(json_t *at)
{
    const char *name;
    json_t *v;
    size_t i;
    void *next;
    json_object_foreach_safe(at, next, name, v) {
        if (json_is_string(v) && strstr(json_string_value(v), PLACEHOLDER))
            json_object_set_new(at, name, replaced(v));
        else
            replace_texts(v);
    }
    json_array_foreach(at, i, v)
        replace_texts(v);
}

/* A copy of the tree as the service will get it; the caller frees it. */
static json_t *as_sent(const json_t *tree)
{
    json_t *copy = json_deep_copy(tree);
    json_object_del(copy, "$schema");
    replace_texts(copy);
    for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++)
        fill(json_object_get(copy, "properties"), filled[i].path, &filled[i]);
    return copy;
}

/* --- the check -------------------------------------------------------------------------------- */

static int accepted(const struct schema *s, enum api_version v, const json_t *body, struct err *e)
{
    json_t *doc = NULL, *secrets = NULL;
    int rc = schema_accept_as(s, v, SCHEMA_PARTIAL | SCHEMA_KNOWN, body, &doc, &secrets, e);
    json_decref(doc);
    json_decref(secrets);
    return rc;
}

static const struct field *field_of(const struct schema *s, const char *name)
{
    for (size_t i = 0; s && i < s->n_fields; i++)
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    return NULL;
}

/* Sets the error for an unknown name: it suggests the most similar name of the table, or lists
 * all. */
static void say_unknown(const struct schema *s, struct err *e)
{
    char path[sizeof e->target], name[sizeof e->target], words[NEAREST_SIZE];
    struct strbuf all = STRBUF_INIT;
    snprintf(path, sizeof path, "%s", e->target);
    char *rest, *part = strtok_r(path, ".[]", &rest), *next;
    for (; (next = strtok_r(NULL, ".[]", &rest)); part = next) {
        const struct field *f = field_of(s, part); /* no field: the part is an index */
        s = f && f->sub ? f->sub : s;
    }
    snprintf(name, sizeof name, "%s", part ? part : "");
    struct nearest near = nearest_to(name);
    for (size_t i = 0; i < s->n_fields; i++) {
        if (s->fields[i].flags & FIELD_READONLY)
            continue;
        nearest_offer(&near, s->fields[i].name);
        if (!all.s || !strstr(all.s, s->fields[i].name))
            strbuf_concat(&all, all.len ? ", " : "", s->fields[i].name);
    }
    err_set(e, ERR_INVALID_CONTENT, e->target, "%s is not a property of %s%s%s%s", name, s->name,
            near.name ? nearest_words(&near, "", words) : "",
            near.name ? "" : ", which has: ", near.name ? "" : all.s);
    strbuf_free(&all);
}

/* A file is valid if it is valid in any one version. Otherwise the error of the newest version is
 * shown. */
static int check(struct az_file *f, const struct schema *s, struct strbuf *notes, struct err *e)
{
    json_t *body = as_sent(f->tree);
    struct err newest, older;
    int rc = accepted(s, versions[0], body, &newest);
    f->version = versions[0];
    for (size_t i = 1; rc < 0 && i < sizeof versions / sizeof versions[0]; i++)
        if (accepted(s, versions[i], body, &older) == 0) {
            rc = 0;
            f->version = versions[i];
            const char *dot = strrchr(newest.target, '.');
            struct err note;
            err_set(&note, ERR_CONFIG, NULL,
                    "the present version of az does not know %s, which api-version %s has",
                    dot ? dot + 1 : newest.target, api_version_name(versions[i]));
            blame(f, newest.target, &note);
            strbuf_concat(notes, note.msg, "\n");
        }
    json_decref(body);
    if (rc < 0) {
        *e = newest;
        if (e->code == ERR_INVALID_CONTENT)
            say_unknown(s, e);
        blame(f, newest.target, e);
    }
    return rc;
}

static void move_into_properties(struct az_file *f, const struct schema *s, struct strbuf *notes)
{
    const struct field *inner = field_of(s, "properties");
    struct yaml_place at;
    const char *name;
    json_t *v;
    void *next;
    json_object_foreach_safe(f->tree, next, name, v) {
        if (field_of(s, name) || !inner || !field_of(inner->sub, name))
            continue;
        if (find_place(f, name, &at))
            strbuf_printf(notes, "%s:%zu:%zu: \"%s\" belongs into \"properties\"; moved there\n",
                          f->name, at.line, at.column, name);
        json_t *properties = json_object_get(f->tree, "properties");
        if (!json_is_object(properties)) {
            properties = json_object();
            json_object_set_new(f->tree, "properties", properties);
        }
        if (!json_object_get(properties, name))
            json_object_set(properties, name, v);
        json_object_del(f->tree, name);
        f->changed = true;
    }
}

int az_file_read(const char *name, const struct schema *s, struct az_file *out,
                 struct strbuf *notes, struct err *e)
{
    json_error_t at;
    struct stat st;
    *out = (struct az_file){.name = name};
    if (fs_read(name, MAX_FILE, &out->text, &out->len, e) < 0)
        return -1;
    out->once = stat(name, &st) < 0 || !S_ISREG(st.st_mode);
    out->tree = jsonread(out->text, out->len, JSON_REJECT_DUPLICATES, &at);
    int rc = 0;
    if (!out->tree)
        rc = err_set(e, ERR_CONFIG, NULL, "%s:%d:%d: %s; the file must be JSON, such as %s", name,
                     at.line < 1 ? 1 : at.line, at.column < 1 ? 1 : at.column, at.text,
                     "{\"properties\": {...}}");
    else if (!json_is_object(out->tree))
        rc = err_set(e, ERR_CONFIG, NULL,
                     "%s:1:1: it is a list; the file must be an object, such as "
                     "{\"properties\": {...}}",
                     name);
    if (rc == 0) {
        move_into_properties(out, s, notes);
        rc = check(out, s, notes, e);
    }
    if (rc < 0)
        az_file_free(out);
    return rc;
}

void az_file_free(struct az_file *f)
{
    json_decref(f->tree);
    free(f->text);
    *f = (struct az_file){.name = NULL};
}
