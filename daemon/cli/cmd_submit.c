/* SPDX-License-Identifier: MIT
 *
 * `batchaid submit` and `run`: copy the folder, make the missing cluster, share and experiment,
 * create the job; `run` then follows the job. Standard output contains only the job's name, for
 * scripts.
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/folder_copy.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/job_places.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/submit.h"
#include "daemon/cli/table.h"
#include "lib/jsontext.h"

#define BYTES_MAX  INT64_C(1000000000) /* the most bytes of a folder without --yes */
#define SHOWN_MAX  8                   /* the most names of left-out files that are shown */
#define NAME_TRIES 5

/* --- messages --------------------------------------------------------------------------------- */

static void say_notes(const struct folder_notes *notes, size_t max, const char *before)
{
    for (size_t i = 0; i < notes->n && i < max; i++) {
        char *path = xstrdup(notes->items[i].path), *why = xstrdup(notes->items[i].why);
        table_clean(path);
        table_clean(why);
        fprintf(stderr, "%s%s %s\n", before, *path ? path : ".", why);
        free(path);
        free(why);
    }
    if (notes->n > max)
        fprintf(stderr, "%sand %zu more\n", before, notes->n - max);
}

static void say_folder(const struct folder *f, bool copied)
{
    struct strbuf bytes = STRBUF_INIT;
    table_bytes(f->bytes, &bytes);
    fprintf(stderr, "batchaid: %s %zu file%s, %s, of %s%s\n", copied ? "copied" : "would copy",
            f->files, f->files == 1 ? "" : "s", bytes.s, f->dir, f->left.n ? "; left out:" : "");
    say_notes(&f->left, SHOWN_MAX, "  ");
    strbuf_free(&bytes);
}

static json_t *notes_json(const struct folder_notes *notes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < notes->n; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "path", jsontext_string(notes->items[i].path),
                                        "why", jsontext_string(notes->items[i].why)));
    return list;
}

static void print_result(const struct sent_job *s, const struct options *o)
{
    const struct job_place *p = &s->place;
    if (!o->json) {
        printf("%s\n", p->name);
        return;
    }
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "resourceGroup", p->group, "workspace", p->workspace,
                  "experiment", p->experiment, "name", p->name, "cluster", p->cluster);
    if (s->has_folder)
        json_object_set_new(out, "folder",
                            json_pack("{s:I, s:I, s:o, s:o}", "files", (json_int_t)s->folder.files,
                                      "bytes", (json_int_t)s->folder.bytes, "leftOut",
                                      notes_json(&s->folder.left), "warnings",
                                      notes_json(&s->folder.warnings)));
    if (o->dry_run)
        json_object_set(out, "document", s->document);
    json_print_new(out);
}

/* --- the folder ------------------------------------------------------------------------------- */

static int check_size(const struct sent_job *s, const struct options *o, struct err *e)
{
    struct strbuf bytes = STRBUF_INIT;
    if (s->folder.bytes <= BYTES_MAX || o->yes || o->dry_run)
        return 0;
    table_bytes(s->folder.bytes, &bytes);
    err_set(e, ERR_CONFIG, NULL,
            "the folder %.300s has %s in %zu files, and more than 1 GB is copied only with --yes; "
            "name what jobs do not need in .batchaidignore, or copy nothing with --no-copy",
            s->folder.dir, bytes.s, s->folder.files);
    strbuf_free(&bytes);
    return -1;
}

static int look_at_folder(struct sent_job *s, const struct options *o, struct err *e)
{
    if (o->no_copy)
        return 0;
    s->has_folder = true;
    int rc = folder_list(o->folder ? o->folder : ".", &s->folder, e);
    return rc < 0 ? -1 : check_size(s, o, e);
}

/* A new name for the copy of the folder on the share. */
static const char *new_archive(struct arena *a)
{
    unsigned char bytes[10];
    char hex[2 * sizeof bytes + 1];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    return arena_concat(a, "folder-", hex, ".tar");
}

static int copy_folder(struct daemon_client *c, struct sent_job *s, struct err *e)
{
    if (!s->has_folder)
        return 0;
    if (folder_copy(c, &s->folder, s->place.account, JOB_SHARE, s->place.archive, e) < 0)
        return -1;
    say_folder(&s->folder, true);
    say_notes(&s->folder.warnings, SIZE_MAX, "batchaid: warning: ");
    return 0;
}

/* --- the job ---------------------------------------------------------------------------------- */

/* Creates the job. If a generated name is taken, tries other random letters; a name of --name is
 * tried once. */
static int create(struct daemon_client *c, struct sent_job *s, const struct options *o,
                  struct err *e)
{
    int rc = -1;
    for (int i = 0; i < NAME_TRIES; i++) {
        rc = job_place_put(c, &s->place, s->document, e);
        if (rc == 0 || o->name || e->code != ERR_CONFLICT)
            break;
        s->place.name = job_new_name(o, &s->arena);
    }
    return rc;
}

static int check_whole(const struct options *o, struct err *e)
{
    if (o->folder && o->no_copy)
        return err_set(e, ERR_CONFIG, NULL,
                       "--folder and --no-copy exclude each other; leave one of them out");
    if (o->n_args == 1 && o->args[0][strspn(o->args[0], " \t\r\n")] == '\0')
        return err_set(e, ERR_CONFIG, NULL, "the command is empty");
    if (o->n_args > 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "there is no command; write it after --, as in: batchaid submit --gpus 1 -- "
                   "python train.py");
}

/* Whether the job may exist although the request failed: there was no reply, or one that does not
 * tell. */
static bool may_exist(const struct err *e)
{
    return e->code != ERR_BAD_REQUEST && e->code != ERR_CONFLICT;
}

/* Copies the folder and creates the job. Removes the copy if the job was certainly not created, and
 * then lets signals end the process again. */
static int copy_and_create(struct daemon_client *c, struct sent_job *s, const struct options *o,
                           struct err *e)
{
    const struct job_place *p = &s->place;
    bool needed = false;
    interrupt_catch();
    int rc = copy_folder(c, s, e);
    if (rc == 0 && interrupt_seen())
        rc = err_set(e, ERR_IO, NULL, "interrupted");
    if (rc == 0) {
        rc = create(c, s, o, e);
        needed = rc == 0 || may_exist(e);
    }
    if (p->archive && !needed)
        folder_copy_remove(c, p->account, JOB_SHARE, p->archive);
    if (!needed)
        interrupt_release();
    else if (rc < 0)
        (void)interrupt_take(); /* the error is shown, because the job may exist */
    return rc;
}

static int check_text(const char *option, const char *value, struct err *e)
{
    if (!value || jsontext_is_utf8(value, strlen(value)))
        return 0;
    json_t *shown = jsontext_string(value);
    err_set(e, ERR_CONFIG, NULL, "%s is '%.100s', which is not UTF-8; values of jobs must be UTF-8",
            option, json_string_value(shown));
    json_decref(shown);
    return -1;
}

static int check_texts(const char *option, const char *const *values, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (check_text(option, values[i], e) < 0)
            return -1;
    return 0;
}

/* Refuses values that are not UTF-8, because the job's JSON document could not contain them. */
static int check_utf8(const struct options *o, struct err *e)
{
    const struct {
        const char *option;
        const char *const *values;
        size_t n;
    } all[] = {{"an argument of the command", (const char *const *)o->args, (size_t)o->n_args},
               {"--env", o->env.text, o->env.n},
               {"--secret", o->secrets.text, o->secrets.n},
               {"--image", &o->image, 1},
               {"--cluster", &o->cluster, 1},
               {"--group", &o->group, 1},
               {"--experiment", &o->experiment, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (check_texts(all[i].option, all[i].values, all[i].n, e) < 0)
            return -1;
    return 0;
}

int submit(struct daemon_client *c, const struct options *o, struct sent_job *s, struct err *e)
{
    if (check_utf8(o, e) < 0 || look_at_folder(s, o, e) < 0 ||
        job_place_find(c, o, &s->arena, &s->place, e) < 0 ||
        (o->name && job_place_check_name(c, &s->place, e) < 0))
        return -1;
    s->place.archive = s->has_folder ? new_archive(&s->arena) : NULL;
    if (!o->dry_run && job_place_make(c, o, &s->place, e) < 0)
        return -1;
    s->document = job_document(o, &s->place, client_subscription(c));
    return o->dry_run ? 0 : copy_and_create(c, s, o, e);
}

void sent_job_free(struct sent_job *s)
{
    if (s->has_folder)
        folder_free(&s->folder);
    json_decref(s->place.secrets);
    json_decref(s->document);
    arena_free(&s->arena);
}

void submit_show(const struct sent_job *s, const struct options *o)
{
    const struct job_place *p = &s->place;
    if (s->has_folder) {
        say_folder(&s->folder, false);
        say_notes(&s->folder.warnings, SIZE_MAX, "batchaid: warning: ");
    }
    fprintf(stderr, "batchaid: would create the job %s in %s/%s/%s, on the cluster %s\n", p->name,
            p->group, p->workspace, p->experiment, p->cluster);
    if (!o->json) {
        json_print(s->document);
    }
}

/* Prints the error as JSON for programs; the message is also on standard error. The code is that of
 * the daemon's reply; "": the daemon refused nothing. */
static void print_error(const struct err *e)
{
    json_t *out = json_pack("{s:{s:s, s:s}}", "error", "code", e->target, "message", e->msg);
    json_print_new(out);
}

static int submit_and_print(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct sent_job s = {.has_folder = false};
    arena_init(&s.arena);
    int rc = submit(c, o, &s, e);
    if (rc == 0 && o->dry_run)
        submit_show(&s, o);
    if (rc == 0 && (!o->dry_run || o->json))
        print_result(&s, o);
    if (rc == 0 && !o->dry_run) {
        fflush(stdout);
        interrupt_release();
    }
    sent_job_free(&s);
    return rc;
}

int submit_read_file(const struct options *o, struct options *whole, struct arena *a, struct err *e)
{
    *whole = *o;
    return o->file && job_file_read(o->file, whole, a, e) < 0 ? -1 : check_whole(whole, e);
}

int cmd_submit(const struct options *o)
{
    struct daemon_client *client = NULL;
    enum exit_code code = EXIT_USAGE;
    struct options whole;
    struct arena a;
    struct err e;
    arena_init(&a);
    int rc = submit_read_file(o, &whole, &a, &e);
    if (rc == 0) {
        code = EXIT_FAILED;
        rc = jobs_open(&whole, &client, &e);
    }
    if (rc == 0)
        rc = submit_and_print(client, &whole, &e);
    client_close(client);
    if (rc < 0 && o->json)
        print_error(&e);
    arena_free(&a);
    return rc < 0 ? (int)cli_fail(code, &e) : EXIT_DONE;
}
