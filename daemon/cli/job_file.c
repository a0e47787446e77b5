/* SPDX-License-Identifier: MIT
 *
 * A job file is YAML with members named like the options of `submit`, and the command:
 *
 *     gpus: 2
 *     time: 4h
 *     env: {EPOCHS: 20}
 *     command: python train.py        # a line for the shell, or a list: a program and arguments
 *
 * The table of options checks the values, so a file accepts the same values as the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/job_wish.h"
#include "daemon/cli/options.h"
#include "lib/fs.h"
#include "lib/nearest.h"
#include "lib/strbuf.h"
#include "lib/yaml.h"

#define FILE_MAX  (1 << 20)
#define DEPTH_MAX 4
#define COMMAND   "command"

struct job_file {
    const char *path;
    struct yaml_doc doc;
    struct options *o;
    const struct options *given; /* the values of the command line */
    struct arena *a;
};

/* Adds FILE:LINE:COLUMN before the message. */
static int at_place(const struct job_file *f, const char *const *steps, size_t n, struct err *e)
{
    struct yaml_place place;
    yaml_doc_place(&f->doc, steps, n, &place);
    return err_prefix(e, "%.200s:%zu:%zu", f->path, place.line, place.column);
}

static const struct cli_option *option_named(const char *name)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if ((known_options[i].bit & OPT_SUBMIT) && strcmp(known_options[i].name, name) == 0)
            return &known_options[i];
    return NULL;
}

static int unknown(const struct job_file *f, const char *name, struct err *e)
{
    char words[NEAREST_SIZE];
    struct strbuf b = STRBUF_INIT;
    struct nearest near = nearest_to(name);
    nearest_offer(&near, COMMAND);
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (known_options[i].bit & OPT_SUBMIT) {
            nearest_offer(&near, known_options[i].name);
            strbuf_concat(&b, ", ", known_options[i].name);
        }
    err_set(e, ERR_CONFIG, NULL, "'%.100s' is not a member of a job file%s; use " COMMAND "%s",
            name, nearest_words(&near, "", words), b.s);
    strbuf_free(&b);
    return at_place(f, &name, 1, e);
}

/* Sets the option to a value, as if it were on the command line. */
static int take(const struct job_file *f, const struct cli_option *known, const char *text,
                struct err *e)
{
    return option_take(f->o, known, text, e);
}

static int take_truth(const struct job_file *f, const struct cli_option *known, const json_t *v,
                      struct err *e)
{
    const char *text = json_string_value(v);
    if (text && strcmp(text, "true") == 0)
        return take(f, known, NULL, e);
    if (text && strcmp(text, "false") == 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "%s is '%.100s'; it must be true or false", known->name,
                   text ? text : "a list or mapping");
}

/* Reads a mapping {A: B} as A=B, or a list [A=B]. Sets *wrong to the key with the error. */
static int take_many(const struct job_file *f, const struct cli_option *known, json_t *v,
                     const char **wrong, struct err *e)
{
    const char *key;
    json_t *one;
    size_t i;
    json_object_foreach(v, key, one) {
        const char *text = json_string_value(one);
        *wrong = key;
        if (!text)
            return err_set(e, ERR_CONFIG, NULL, "%s: '%.100s' needs a text as its value",
                           known->name, key);
        if (take(f, known, arena_concat(f->a, key, "=", text), e) < 0)
            return -1;
    }
    *wrong = NULL;
    json_array_foreach(v, i, one)
        if (!json_is_string(one))
            return err_set(e, ERR_CONFIG, NULL, "%s: item %zu must be a text", known->name, i + 1);
        else if (take(f, known, arena_strdup(f->a, json_string_value(one)), e) < 0)
            return -1;
    return 0;
}

/* Whether the command line has this option, or for the folder the opposite option. */
static bool is_given(const struct job_file *f, const struct cli_option *known)
{
    const void *at = (const char *)f->given + known->at;
    if (strcmp(known->name, "no-copy") == 0)
        return f->given->folder;
    if (strcmp(known->name, "folder") == 0 && f->given->no_copy)
        return true;
    return *known->argument && !known->take && *(const char *const *)at;
}

static int take_member(const struct job_file *f, const char *name, json_t *v, struct err *e)
{
    const struct cli_option *known = option_named(name);
    const char *wrong = NULL, *steps[] = {name, NULL};
    int rc;
    if (!known)
        return unknown(f, name, e);
    if (is_given(f, known))
        return 0;
    if (!*known->argument)
        rc = take_truth(f, known, v, e);
    else if (known->take && !json_is_string(v))
        rc = take_many(f, known, v, &wrong, e);
    else if (!json_is_string(v))
        rc = err_set(e, ERR_CONFIG, NULL, "%s must be a text: %s", name, known->help);
    else
        rc = take(f, known, arena_strdup(f->a, json_string_value(v)), e);
    steps[1] = wrong;
    return rc < 0 ? at_place(f, steps, wrong ? 2 : 1, e) : 0;
}

/* Reads the command of the file, unless the command line has one. */
static int take_command(const struct job_file *f, const json_t *v, struct err *e)
{
    static const char *const steps[] = {COMMAND};
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    char **args = arena_alloc(f->a, (n + 1) * sizeof *args);
    if (f->given->n_args > 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_is_array(v) ? json_array_get(v, i) : v);
        if (!text || (!*text && n == 1)) {
            err_set(e, ERR_CONFIG, NULL,
                    COMMAND " must be a line for the shell, or a list of texts: a program and its "
                            "arguments");
            return at_place(f, steps, 1, e);
        }
        args[i] = arena_strdup(f->a, text);
    }
    f->o->args = args;
    f->o->n_args = (int)n;
    return 0;
}

static int take_all(const struct job_file *f, struct err *e)
{
    const char *name;
    json_t *v;
    if (!json_is_object(f->doc.tree))
        return err_set(e, ERR_CONFIG, NULL,
                       "%.200s: it has no members; begin with one like `command: python train.py`",
                       f->path);
    json_object_foreach(f->doc.tree, name, v) {
        int rc = strcmp(name, COMMAND) == 0 ? take_command(f, v, e) : take_member(f, name, v, e);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Moves the variables of the command line behind those of the file, because later variables replace
 * earlier ones. */
static void put_last(struct option_values *all, const struct option_values *given)
{
    struct option_values sum = {.n = 0};
    for (size_t i = given->n; i < all->n; i++)
        sum.text[sum.n++] = all->text[i];
    for (size_t i = 0; i < given->n; i++)
        sum.text[sum.n++] = given->text[i];
    *all = sum;
}

int job_file_read(const char *path, struct options *o, struct arena *a, struct err *e)
{
    static const struct yaml_rules rules = {.depth_max = DEPTH_MAX, .all_texts = true};
    const struct options given = *o;
    struct job_file f = {.path = path, .o = o, .given = &given, .a = a};
    struct yaml_place at;
    char *text;
    size_t n;
    if (fs_read(path, FILE_MAX, &text, &n, e) < 0)
        return -1;
    int rc = yaml_doc_read(text, n, &rules, &f.doc, &at, e);
    free(text);
    if (rc < 0)
        return err_prefix(e, "%.200s:%zu:%zu", path, at.line, at.column);
    rc = take_all(&f, e);
    yaml_doc_free(&f.doc);
    put_last(&o->env, &given.env);
    put_last(&o->secrets, &given.secrets);
    return rc;
}
