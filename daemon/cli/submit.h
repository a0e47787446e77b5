/* SPDX-License-Identifier: MIT
 *
 * Submits a job, for `submit`, `run` and `rerun`.
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

/* Reads the file of --file, if there is one, into *whole; options of the command line override it.
 * Texts are in the arena. */
int submit_read_file(const struct options *o, struct options *whole, struct arena *a,
                     struct err *e) MUST_CHECK;
/* Copies the folder, makes the missing parts of the job's place, and creates the job; with
 * --dry-run changes nothing. When the job was created, signals are only noted (interrupt.h), until
 * the caller has named the job. The caller begins with a struct of zeros and an initialized arena,
 * and frees *s even after an error. */
int submit(struct daemon_client *c, const struct options *o, struct sent_job *s,
           struct err *e) MUST_CHECK;
/* For --dry-run: prints what submit() would do without that option. */
void submit_show(const struct sent_job *s, const struct options *o);
void sent_job_free(struct sent_job *s);

#endif
