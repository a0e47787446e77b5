/* SPDX-License-Identifier: MIT
 *
 * Converts XML to JSON and back by a table of the elements and their JSON members. Values are the
 * request's. On the loop's thread.
 */
#include "api/plane/storage/service_settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"
#include "api/plane/storage/xml_write.h"

#define RULES_MAX 5
#define TEXT_MAX  4096 /* bytes of one value */

enum settings_kind { TRUTH, NUMBER, TEXT, LIST, GROUP, RULES };

struct settings_node {
    const char *element, *member;
    enum settings_kind kind;
    bool required;
    const char *among; /* for TEXT and LIST: the valid words, separated by spaces; NULL: any */
    long max;          /* for NUMBER: the largest value */
    /* for GROUP and RULES: the elements in it; the last one has a NULL element */
    const struct settings_node *of;
};

static const struct settings_node retention[] = {
    {"Enabled", "enabled", TRUTH, true, NULL, 0, NULL},
    {"Days", "days", NUMBER, false, NULL, 365, NULL},
    {"AllowPermanentDelete", "allowPermanentDelete", TRUTH, false, NULL, 0, NULL},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

static const struct settings_node logging[] = {
    {"Version", "version", TEXT, true, " 1.0 2.0 ", 0, NULL},
    {"Delete", "delete", TRUTH, true, NULL, 0, NULL},
    {"Read", "read", TRUTH, true, NULL, 0, NULL},
    {"Write", "write", TRUTH, true, NULL, 0, NULL},
    {"RetentionPolicy", "retentionPolicy", GROUP, true, NULL, 0, retention},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

static const struct settings_node metrics[] = {
    {"Version", "version", TEXT, true, " 1.0 ", 0, NULL},
    {"Enabled", "enabled", TRUTH, true, NULL, 0, NULL},
    {"IncludeAPIs", "includeAPIs", TRUTH, false, NULL, 0, NULL},
    {"RetentionPolicy", "retentionPolicy", GROUP, false, NULL, 0, retention},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

static const struct settings_node rule[] = {
    {"AllowedOrigins", "allowedOrigins", LIST, true, NULL, 0, NULL},
    {"AllowedMethods", "allowedMethods", LIST, true,
     " DELETE GET HEAD MERGE OPTIONS PATCH POST PUT ", 0, NULL},
    {"AllowedHeaders", "allowedHeaders", LIST, true, NULL, 0, NULL},
    {"ExposedHeaders", "exposedHeaders", LIST, true, NULL, 0, NULL},
    {"MaxAgeInSeconds", "maxAgeInSeconds", NUMBER, true, NULL, 2000000000, NULL},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

static const struct settings_node website[] = {
    {"Enabled", "enabled", TRUTH, true, NULL, 0, NULL},
    {"IndexDocument", "indexDocument", TEXT, false, NULL, 0, NULL},
    {"DefaultIndexDocumentPath", "defaultIndexDocumentPath", TEXT, false, NULL, 0, NULL},
    {"ErrorDocument404Path", "errorDocument404Path", TEXT, false, NULL, 0, NULL},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

static const struct settings_node multichannel[] = {
    {"Enabled", "enabled", TRUTH, true, NULL, 0, NULL}, {NULL, NULL, TRUTH, false, NULL, 0, NULL}};
static const struct settings_node smb[] = {
    {"Multichannel", "multichannel", GROUP, false, NULL, 0, multichannel},
    {NULL, NULL, TRUTH, false, NULL, 0, NULL}};
static const struct settings_node protocols[] = {{"SMB", "smb", GROUP, false, NULL, 0, smb},
                                                 {NULL, NULL, TRUTH, false, NULL, 0, NULL}};

/* The elements of the root, in Azure's order. */
static const struct top {
    struct settings_node node;
    bool own;                /* the JSON member is in SETTINGS_OWN */
    bool of_blobs, of_files; /* the services that have the element */
    const char *usual; /* the value that is shown if none is set; NULL: the element is not shown */
} tops[] = {
#define NO_RETENTION "\"retentionPolicy\":{\"enabled\":false}"
#define NO_METRICS   "{\"version\":\"1.0\",\"enabled\":false," NO_RETENTION "}"
    {{"Logging", "logging", GROUP, false, NULL, 0, logging},
     true,
     true,
     false,
     "{\"version\":\"1.0\",\"delete\":false,\"read\":false,\"write\":false," NO_RETENTION "}"},
    {{"HourMetrics", "hourMetrics", GROUP, false, NULL, 0, metrics}, true, true, true, NO_METRICS},
    {{"MinuteMetrics", "minuteMetrics", GROUP, false, NULL, 0, metrics},
     true,
     true,
     true,
     NO_METRICS},
    {{"Cors", "cors", RULES, false, NULL, 0, rule}, false, true, true, "{\"corsRules\":[]}"},
    {{"DefaultServiceVersion", "defaultServiceVersion", TEXT, false, NULL, 0, NULL},
     false,
     true,
     false,
     NULL},
    {{"DeleteRetentionPolicy", "deleteRetentionPolicy", GROUP, false, NULL, 0, retention},
     false,
     true,
     false,
     "{\"enabled\":false}"},
    {{"StaticWebsite", "staticWebsite", GROUP, false, NULL, 0, website},
     true,
     true,
     false,
     "{\"enabled\":false}"},
    {{"ProtocolSettings", "protocolSettings", GROUP, false, NULL, 0, protocols},
     false,
     false,
     true,
     "{\"smb\":{\"multichannel\":{\"enabled\":false}}}"},
};
#define TOPS (sizeof tops / sizeof tops[0])

static bool has(const struct top *t, enum sas_service service)
{
    return service == SAS_BLOB ? t->of_blobs : t->of_files;
}

/* --- reading -------------------------------------------------------------------------------- */

static int bad_value(const struct xml *x, struct err *e)
{
    return err_set(e, AZSTORAGE_NODE_VALUE, x->name,
                   "The value provided for one of the XML nodes in the request body was not in the "
                   "correct format: %.60s is '%.100s'.",
                   x->name, x->text);
}

static int missing(const char *element, const char *in, struct err *e)
{
    return err_set(e, AZSTORAGE_NODE_MISSING, element,
                   "A required XML node was not specified in the request body: %s of %s.", element,
                   in);
}

static bool is_among(const char *among, const char *word, size_t n)
{
    for (const char *p = among; (p = strchr(p, ' ')) && p[1]; p++)
        if (strncmp(p + 1, word, n) == 0 && p[1 + n] == ' ')
            return true;
    return false;
}

static json_t *read_truth(const struct xml *x)
{
    if (strcasecmp(x->text, "true") == 0)
        return json_true();
    return strcasecmp(x->text, "false") == 0 ? json_false() : NULL;
}

static json_t *read_number(const struct settings_node *n, const struct xml *x)
{
    char *end;
    bool digits = x->text[0] >= '0' && x->text[0] <= '9' && strlen(x->text) < 12;
    long value = digits ? strtol(x->text, &end, 10) : -1;
    bool good = digits && !*end && value <= n->max && (value > 0 || n->required);
    return good ? json_integer(value) : NULL;
}

/* Reads words between commas; an empty text has no words. */
static json_t *read_words(const struct settings_node *n, const struct xml *x)
{
    json_t *words = json_array();
    for (const char *p = x->text; *p;) {
        p += strspn(p, " \t\r\n");
        size_t len = strcspn(p, ","), trimmed = len;
        while (trimmed > 0 && strchr(" \t\r\n", p[trimmed - 1]))
            trimmed--;
        if (n->among && !is_among(n->among, p, trimmed)) {
            json_decref(words);
            return NULL;
        }
        if (trimmed > 0)
            json_array_append_new(words, json_stringn(p, trimmed));
        p += len + (p[len] == ',');
    }
    return words;
}

static int read_group(const struct settings_node *nodes, const struct xml *x, json_t *out,
                      struct err *e);

static int read_rules(const struct settings_node *n, const struct xml *x, json_t *out,
                      struct err *e)
{
    json_t *rules = json_array();
    json_object_set_new(out, "corsRules", rules);
    for (const struct xml *c = x->child; c; c = c->next) {
        json_t *one = json_object();
        json_array_append_new(rules, one);
        if (strcmp(c->name, "CorsRule") != 0)
            return err_set(e, AZSTORAGE_NODE_UNSUPPORTED, c->name,
                           "One of the XML nodes specified in the request body is not supported: "
                           "%.60s.",
                           c->name);
        if (read_group(n->of, c, one, e) < 0)
            return -1;
    }
    if (json_array_size(rules) <= RULES_MAX)
        return 0;
    return err_set(e, ERR_INVALID_CONTENT, NULL, "There are %zu CORS rules; a service has %d.",
                   json_array_size(rules), RULES_MAX);
}

static json_t *read_value(const struct settings_node *n, const struct xml *x)
{
    if (strlen(x->text) > TEXT_MAX)
        return NULL;
    if (n->kind == TRUTH)
        return read_truth(x);
    if (n->kind == NUMBER)
        return read_number(n, x);
    if (n->kind == LIST)
        return read_words(n, x);
    if (n->among && !is_among(n->among, x->text, strlen(x->text)))
        return NULL;
    return json_string(x->text);
}

/* Reads an element into `out`. */
static int read_node(const struct settings_node *n, const struct xml *x, json_t *out, struct err *e)
{
    json_t *value = n->kind == GROUP || n->kind == RULES ? json_object() : read_value(n, x);
    if (!value)
        return bad_value(x, e);
    json_object_set_new(out, n->member, value);
    if (n->kind == GROUP)
        return read_group(n->of, x, value, e);
    return n->kind == RULES ? read_rules(n, x, value, e) : 0;
}

static const struct settings_node *find(const struct settings_node *nodes, const char *element)
{
    for (; nodes->element; nodes++)
        if (strcmp(nodes->element, element) == 0)
            return nodes;
    return NULL;
}

/* Checks that an enabled retention has a number of days. */
static int check_days(const struct settings_node *nodes, const json_t *out, struct err *e)
{
    if (nodes == retention && json_is_true(json_object_get(out, "enabled")) &&
        !json_object_get(out, "days"))
        return missing("Days", "a policy that is enabled", e);
    return 0;
}

static int read_group(const struct settings_node *nodes, const struct xml *x, json_t *out,
                      struct err *e)
{
    for (const struct xml *c = x->child; c; c = c->next) {
        const struct settings_node *n = find(nodes, c->name);
        if (!n)
            return err_set(e, AZSTORAGE_NODE_UNSUPPORTED, c->name,
                           "One of the XML nodes specified in the request body is not supported: "
                           "%.60s of %.60s.",
                           c->name, x->name);
        if (read_node(n, c, out, e) < 0)
            return -1;
    }
    for (const struct settings_node *n = nodes; n->element; n++)
        if (n->required && !json_object_get(out, n->member))
            return missing(n->element, x->name, e);
    return check_days(nodes, out, e);
}

static json_t *own_of(json_t *doc)
{
    json_t *own = json_object_get(doc, SETTINGS_OWN);
    if (!json_is_object(own)) {
        own = json_object();
        json_object_set_new(doc, SETTINGS_OWN, own);
    }
    return own;
}

int settings_read(const struct xml *root, enum sas_service service, json_t *doc, struct err *e)
{
    if (!root || strcmp(root->name, "StorageServiceProperties") != 0)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The document's root is '%.60s'; it must be StorageServiceProperties.",
                       root ? root->name : "");
    for (const struct xml *c = root->child; c; c = c->next) {
        const struct top *t = NULL;
        for (size_t i = 0; i < TOPS && !t; i++)
            if (has(&tops[i], service) && strcmp(tops[i].node.element, c->name) == 0)
                t = &tops[i];
        if (!t)
            return err_set(e, AZSTORAGE_NODE_UNSUPPORTED, c->name,
                           "One of the XML nodes specified in the request body is not supported: "
                           "%.60s.",
                           c->name);
        if (read_node(&t->node, c, t->own ? own_of(doc) : doc, e) < 0)
            return -1;
    }
    return 0;
}

/* --- writing -------------------------------------------------------------------------------- */

static void write_words(struct strbuf *b, const char *element, const json_t *words)
{
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (word)
            strbuf_concat(&text, text.len ? "," : "", word);
    }
    xml_element(b, element, text.len ? text.s : "");
    strbuf_free(&text);
}

static void write_node(struct strbuf *b, const struct settings_node *n, const json_t *value);

static void write_group(struct strbuf *b, const char *element, const struct settings_node *nodes,
                        const json_t *value)
{
    xml_open(b, element);
    for (const struct settings_node *n = nodes; n->element; n++)
        write_node(b, n, json_object_get(value, n->member));
    xml_close(b, element);
}

static void write_rules(struct strbuf *b, const struct settings_node *n, const json_t *value)
{
    const json_t *rules = json_object_get(value, "corsRules");
    xml_open(b, n->element);
    for (size_t i = 0; i < json_array_size(rules); i++)
        write_group(b, "CorsRule", n->of, json_array_get(rules, i));
    xml_close(b, n->element);
}

static void write_node(struct strbuf *b, const struct settings_node *n, const json_t *value)
{
    char number[24];
    switch (n->kind) {
    case TRUTH:
        if (json_is_boolean(value))
            xml_element(b, n->element, json_is_true(value) ? "true" : "false");
        break;
    case NUMBER:
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        if (json_is_integer(value))
            xml_element(b, n->element, number);
        break;
    case TEXT:
        if (json_is_string(value))
            xml_element(b, n->element, json_string_value(value));
        break;
    case LIST:
        write_words(b, n->element, value);
        break;
    case GROUP:
        if (json_is_object(value))
            write_group(b, n->element, n->of, value);
        break;
    case RULES:
        write_rules(b, n, value);
        break;
    }
}

void settings_write(struct strbuf *b, enum sas_service service, const json_t *doc)
{
    xml_begin_document(b);
    xml_open(b, "StorageServiceProperties");
    for (size_t i = 0; i < TOPS; i++) {
        const struct top *t = &tops[i];
        const json_t *from = t->own ? json_object_get(doc, SETTINGS_OWN) : doc;
        const json_t *value = json_object_get(from, t->node.member);
        json_auto_t *usual = t->usual && !value ? json_loads(t->usual, 0, NULL) : NULL;
        if (has(t, service) && (value || usual))
            write_node(b, &t->node, value ? value : usual);
    }
    xml_close(b, "StorageServiceProperties");
}
