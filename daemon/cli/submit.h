/* SPDX-License-Identifier: MIT
 *
 * The submission of a job, for `submit`, `run` and `rerun`.
 */
#ifndef DAEMON_CLI_SUBMIT_H
#define DAEMON_CLI_SUBMIT_H

#include "daemon/cli/client.h"
#include "daemon/cli/folder.h"
#include "daemon/cli/job_wish.h"

struct sent_job {
    struct arena arena;
    bool has_folder;
    struct folder folder;
    struct job_place place;
    json_t *document;
};

/* Reads the file of --file, if there is one, beneath the options. Texts are in the arena. */
int submit_read_file(const struct options *o, struct options *whole, struct arena *a,
                     struct err *e) MUST_CHECK;
/* Copies the folder, makes the missing parts of the place, creates the job; with --dry-run only
 * looks. Free in any case; begin with an empty struct and an initialized arena. */
int submit(struct daemon_client *c, const struct options *o, struct sent_job *s,
           struct err *e) MUST_CHECK;
/* For --dry-run: prints what submit() would do without it. */
void submit_show(const struct sent_job *s, const struct options *o);
void sent_job_free(struct sent_job *s);

#endif
