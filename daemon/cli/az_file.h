/* SPDX-License-Identifier: MIT
 *
 * Reads the JSON files of `az batchai` before az is started. az itself reports a mistake in them
 * with a stack trace, or silently drops members that it does not know.
 */
#ifndef DAEMON_CLI_AZ_FILE_H
#define DAEMON_CLI_AZ_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/strbuf.h"
#include "model/schema.h"

struct az_file {
    const char *name; /* borrowed */
    char *text;
    size_t len;
    json_t *tree;
    bool changed; /* the tree differs from the file */
    bool once;    /* a pipe or similar: az cannot read it again */
    /* The newest api-version that has all properties of the file. The present az always sends
     * V_2018_05_01. */
    enum api_version version;
};

/* Reads and checks a file for a resource of this table. If a member of "properties" is beside it
 * (as in the guides), moves it into "properties" and adds a line to `notes`. Errors begin with
 * FILE:LINE:COLUMN. */
int az_file_read(const char *name, const struct schema *s, struct az_file *out,
                 struct strbuf *notes, struct err *e) MUST_CHECK;
void az_file_free(struct az_file *f);

#endif
