/* SPDX-License-Identifier: MIT
 *
 * `batchaid reload`: makes the running daemon read its configuration again, and prints what
 * changes.
 */
#include <stdio.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"

static void print_list(const json_t *list, const char *what, const char *remark)
{
    size_t i;
    json_t *item;
    if (json_array_size(list) == 0)
        return;
    printf("%s", what);
    json_array_foreach(list, i, item)
        printf("%s %s", i ? "," : "", json_string_value(item));
    printf("%s\n", remark);
}

static void print_text(const json_t *changes)
{
    const json_t *machines = json_object_get(changes, "machines");
    const json_t *settings = json_object_get(changes, "settings");
    const json_t *after_restart = json_object_get(changes, "afterRestart");
    print_list(json_object_get(machines, "added"), "added:", "");
    print_list(json_object_get(machines, "removed"),
               "removed:", " (a machine with a job leaves when the job has ended)");
    print_list(json_object_get(machines, "changed"),
               "changed:", " (connections that are open stay as they are)");
    print_list(settings, "in use now:", "");
    print_list(after_restart, "in use after a restart of the daemon only:", "");
    /* the machines change without a setting if a password_file has another password */
    if (json_array_size(settings) + json_array_size(after_restart) +
            json_array_size(json_object_get(machines, "changed")) ==
        0)
        printf("nothing has changed\n");
}

static int reload(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *changes = NULL;
    int rc = client_call(c, "POST", "/batchaid/reload", NULL, &changes, e);
    if (rc == 0 && o->json)
        json_print(changes);
    else if (rc == 0)
        print_text(changes);
    json_decref(changes);
    return rc;
}

/* Always asks the daemon of this machine, even if there is a login: the configuration is a file
 * here. */
int cmd_reload(const struct options *o)
{
    return jobs_here(o, reload);
}
