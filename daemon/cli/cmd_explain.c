/* SPDX-License-Identifier: MIT
 *
 * `batchaid explain`: shows what has happened to one job, and why.
 */
#include <stdlib.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"

static void print_story(const json_t *reply)
{
    size_t i;
    const json_t *line;
    const json_t *j = json_object_get(reply, "job");
    const char *kind = jobs_text(reply, "kind");
    char *head = NULL;
    printf("%s %s in %s/%s/%s, %s\n", kind ? kind : "job", jobs_text(j, "name"),
           jobs_text(j, "resourceGroup"), jobs_text(j, "workspace"), jobs_text(j, "experiment"),
           jobs_text(j, "state"));
    json_array_foreach(json_object_get(reply, "story"), i, line) {
        const char *time = jobs_text(line, "time");
        head = xstrdup(jobs_text(line, "text"));
        table_clean(head);
        printf("%-24s  %s\n", time ? time : "now", head);
        free(head);
    }
}

static int explain(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *found = NULL, *reply = NULL;
    int rc = jobs_find(c, o->args[0], &found, e);
    if (rc == 0)
        rc = jobs_ask_about(c, "/batchaid/jobs", json_array_get(found, 0), &reply, e);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0)
        print_story(reply);
    json_decref(found);
    json_decref(reply);
    return rc;
}

int cmd_explain(const struct options *o)
{
    return jobs_with_client(o, explain);
}
