/* SPDX-License-Identifier: MIT
 *
 * `batchaid open`: makes a link that logs a browser in once, and opens it. The browser gets the
 * name of a file that redirects to the link and that only the user can read, because everybody on
 * the machine can read the arguments of a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/login_file.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define OPENER "xdg-open"

/* Refuses a link that is not the daemon's, or has characters that an HTML page must escape. */
static int check_url(struct daemon_client *c, const char *url, struct err *e)
{
    const char *endpoint = client_endpoint(c);
    if (url && strncmp(url, endpoint, strlen(endpoint)) == 0 && !strpbrk(url, "\"'<>& \t\r\n"))
        return 0;
    return err_set(e, ERR_PROTOCOL, NULL, "open: the daemon at %.200s gave no link to its page",
                   endpoint);
}

/* Writes the file that redirects to the link. Caller frees its path; NULL: error. */
static char *write_page(const char *url, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    char *folder = login_folder(e);
    char *path = folder ? fs_join(folder, "open.html") : NULL;
    strbuf_printf(&b,
                  "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"referrer\" content=\"no-referrer\"><title>batchaid</title>"
                  "<meta http-equiv=\"refresh\" content=\"0;url=%s\"></head>"
                  "<body><a href=\"%s\">batchaid</a></body></html>\n",
                  url, url);
    if (path &&
        (fs_mkdirs(folder, 0700, e) < 0 || fs_write_whole(path, b.s, b.len, 0600, false, e) < 0)) {
        free(path);
        path = NULL;
    }
    explicit_bzero(b.s, b.len);
    strbuf_free(&b);
    free(folder);
    return path;
}

static bool has_screen(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* Starts the program that opens the page. It may run as long as the browser, so this does not wait
 * for its end. Returns 0 or an errno. */
static int start_opener(const char *path)
{
    const char *const args[] = {OPENER, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    /* posix_spawn() takes writable strings for historical reasons, but does not change them. */
    int rc = posix_spawnp(&pid, OPENER, &actions, NULL, (char *const *)args, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void print_link(const struct options *o, const char *url, const char *why)
{
    if (o->json) {
        json_print_new(json_pack("{s:b, s:s}", "opened", false, "url", url));
        return;
    }
    fprintf(stderr, "%sThis link logs you in once, within a minute:\n", why);
    printf("%s\n", url);
}

static int show(struct daemon_client *c, const struct options *o, const char *url, struct err *e)
{
    if (o->print || !has_screen()) {
        print_link(o, url, "");
        return 0;
    }
    char *path = write_page(url, e);
    int rc = path ? start_opener(path) : 0;
    if (!path)
        return -1;
    free(path);
    if (rc != 0)
        print_link(o, url, rc == ENOENT ? "There is no " OPENER ". " : OPENER " did not start. ");
    else if (o->json)
        json_print_new(json_pack("{s:b, s:s}", "opened", true, "endpoint", client_endpoint(c)));
    else
        printf("opened in your browser: %s\n", client_endpoint(c));
    return 0;
}

static int open_page(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *reply = NULL, *body = client_login_body(c);
    int rc = client_call(c, "POST", "/batchaid/session/links", body, &reply, e);
    const char *url = jobs_text(reply, "url");
    if (rc == 0)
        rc = check_url(c, url, e);
    if (rc == 0)
        rc = show(c, o, url, e);
    json_decref(body);
    json_decref(reply);
    return rc;
}

int cmd_open(const struct options *o)
{
    return jobs_with_client(o, open_page);
}
