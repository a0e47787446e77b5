/* SPDX-License-Identifier: MIT
 *
 * The output directories of a job, their files, and the bytes of the files, for everybody who may
 * read the job: the same files as in listOutputFiles and its download links.
 */
#include "api/arm/batchai/file_list.h"
#include "api/browse/browse.h"
#include "api/browse/routes.h"
#include "api/http/disposition.h"
#include "model/run_output.h"
#include "storage/storage.h"

static const struct output_names names = {"directory", "path"};

static struct output_source source_of(const struct request *r)
{
    const struct azstorage *s = azstorage_of(r);
    return (struct output_source){s->runs, s->fleet, s->files, s->storage_dir};
}

/* Finds the job in the path. For a job that the caller may not see, the error is the same as for a
 * missing job. */
static int find_job(struct request *r, struct job *out, struct err *e)
{
    const char *of = request_query(r, "subscription"), *name = request_param(r, "job");
    const struct scope s = {.subscription = of ? of : azstorage_of(r)->access->subscription_id,
                            .group = request_param(r, "group"),
                            .workspace = request_param(r, "workspace"),
                            .experiment = request_param(r, "experiment")};
    int rc = st_job_find(azstorage_of(r)->storage, &r->arena, &s, name, out, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && out->prov_state != PROV_DELETING && sees_job(held_by(r), out))
        return 0;
    return err_set(e, ERR_JOB_NOT_FOUND, NULL, "There is no job %.100s in %.100s/%.100s/%.100s.",
                   name, s.group, s.workspace, s.experiment);
}

/* --- lists ------------------------------------------------------------------------------------ */

static struct replied *list_directories(struct request *r, const struct job *j, struct rows *rows)
{
    struct run_spec spec;
    struct err e;
    if (job_spec_decode(&r->arena, j, NULL, &spec, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = (size_t)page_after_id(rows->page); i < run_output_count(&spec); i++) {
        const struct run_output o = run_output_at(&r->arena, &spec, i);
        rows_add(rows->page, arena_printf(&r->arena, "%zu", i + 1),
                 &(struct entry){.name = o.id, .is_directory = true});
    }
    return page_reply(rows->page);
}

static void show(struct file_list *l, const struct file_entry *en)
{
    const char *path =
        l->is_base ? en->name : arena_concat(&l->r->arena, l->directory, "/", en->name);
    rows_add(l->page, en->name,
             &(struct entry){.name = en->name,
                             .path = path,
                             .is_directory = en->is_dir,
                             .size = (uint64_t)en->size,
                             .mtime_us = en->is_dir ? 0 : en->mtime_us});
}

struct replied *job_files(struct request *r)
{
    struct job j;
    struct err e;
    struct rows *rows = arena_alloc(&r->arena, sizeof *rows);
    struct file_list *l = arena_alloc(&r->arena, sizeof *l);
    const char *id = request_query(r, "directory");
    if (find_job(r, &j, &e) < 0 || (id ? rows_begin : rows_begin_numbers)(r, rows, &e) < 0)
        return reply_err(r, &e);
    *l = (struct file_list){.r = r,
                            .of = source_of(r),
                            .names = &names,
                            .show = show,
                            /* only the first page contains the number */
                            .left_out = *rows->page->after ? NULL : &rows->left_out,
                            .page = rows->page,
                            .id = id,
                            .shows_directories = true};
    if (!l->id)
        return list_directories(r, &j, rows);
    request_keep(r, l, file_list_release);
    if (file_list_set_directory(l, request_query(r, "path"), &e) < 0)
        return reply_err(r, &e);
    return job_files_list(l, &j);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int read_query(struct request *r, struct job_bytes *out, struct err *e)
{
    bool download;
    const char *id = request_query(r, "directory"), *path = request_query(r, "path");
    if (!id || !path)
        return err_set(e, ERR_INVALID_QUERY, id ? "path" : "directory",
                       "The query parameter %s is missing: 'directory' is the id of an output "
                       "directory of the job, 'path' is the path of a file in it.",
                       id ? "path" : "directory");
    if (read_download(r, &download, e) < 0)
        return -1;
    if (download)
        reply_header_text(r, "Content-Disposition",
                          disposition_attachment(&r->arena, base_name(path)));
    *out = (struct job_bytes){source_of(r), &names, id, path, type_of(path)};
    return 0;
}

struct replied *job_content(struct request *r)
{
    struct job j;
    struct err e;
    struct job_bytes what;
    if (find_job(r, &j, &e) < 0 || read_query(r, &what, &e) < 0)
        return reply_err(r, &e);
    return job_bytes_send(r, &j, &what);
}
