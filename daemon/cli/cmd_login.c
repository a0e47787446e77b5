/* SPDX-License-Identifier: MIT
 *
 * `batchaid login` and `logout`. The certificate of the daemon's authority is fetched from a server
 * that is not yet trusted. It is accepted only if its fingerprint is the one that the user names or
 * confirms. A login that fails does not change the stored login.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "daemon/certs/certs.h"
#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/login_file.h"
#include "daemon/cli/remote.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define CA_MAX     65536
#define LINE_MAX_  1024
#define TOKEN_PATH "/adfs/oauth2/token"
#define FORM       "application/x-www-form-urlencoded"

struct login {
    const struct options *o;
    char *url, *folder;
    char *unproven; /* the path of the certificate while the login has not succeeded yet */
    char user[LINE_MAX_], password[LINE_MAX_];
};

/* --- questions -------------------------------------------------------------------------------- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof ending[0] };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    interrupted = signo;
}

/* The signal actions that were set before a question on a terminal. During the question, a signal
 * ends only the question; the process ends after the settings of the terminal are restored. */
struct held_signals {
    sigset_t mask;
    struct sigaction actions[N_ENDING];
};

static void hold_signals(struct held_signals *h)
{
    const struct sigaction on = {.sa_handler = on_interrupt};
    sigset_t blocked;
    interrupted = 0;
    sigemptyset(&blocked);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaddset(&blocked, ending[i]);
    sigprocmask(SIG_BLOCK, &blocked, &h->mask);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaction(ending[i], &on, &h->actions[i]);
}

static void release_signals(const struct held_signals *h)
{
    sigprocmask(SIG_SETMASK, &h->mask, NULL);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaction(ending[i], &h->actions[i], NULL);
}

/* A terminal provides whole lines, so it is enough to wait for the first byte. */
static bool read_on_terminal(const char *question, bool hidden, char out[LINE_MAX_])
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    struct held_signals held;
    struct termios old, quiet;
    hold_signals(&held);
    bool hides = hidden && tcgetattr(STDIN_FILENO, &old) == 0;
    if (hides) {
        quiet = old;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        /* Set before the question is printed, because this discards characters that were typed. */
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    fprintf(stderr, "%s", question);
    bool read = ppoll(&p, 1, NULL, &held.mask) > 0 && fgets(out, LINE_MAX_, stdin) != NULL;
    if (hides) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
        fputc('\n', stderr);
    }
    release_signals(&held);
    return read;
}

/* Reads a line without its newline. `hidden`: a password, which the terminal does not show. */
static int read_line(const char *question, bool hidden, char out[LINE_MAX_], struct err *e)
{
    interrupted = 0;
    bool read = isatty(STDIN_FILENO) ? read_on_terminal(question, hidden, out)
                                     : fgets(out, LINE_MAX_, stdin) != NULL;
    if (interrupted)
        return err_set(e, ERR_CONFIG, NULL, "login: interrupted; nothing was changed");
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read && *out ? 0
                        : err_set(e, ERR_CONFIG, NULL, "login: %s",
                                  hidden ? "there is no password: type it, or write "
                                           "it as a line to standard input"
                                         : "there is no answer");
}

/* --- the authority ---------------------------------------------------------------------------- */

/* Whether both fingerprints have equal hexadecimal digits, whatever separates the digits. */
static bool is_same(const char *a, const char *b)
{
    for (;;) {
        while (*a && !isxdigit((unsigned char)*a))
            a++;
        while (*b && !isxdigit((unsigned char)*b))
            b++;
        if (!*a || !*b)
            return !*a && !*b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
            return false;
    }
}

static int wrong_fingerprint(const struct login *l, const char *found, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL,
                   "login: the fingerprint of the authority at %.200s is %s, not the one that you "
                   "gave; either another daemon answers there, or its state directory was made "
                   "again. Nothing was sent",
                   l->url, found);
}

static int unconfirmed(const struct login *l, const char *found, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL,
                   "login: nobody has confirmed the authority at %.200s; compare its fingerprint "
                   "%s with the one that `batchaid fingerprint` prints on the daemon's machine, "
                   "and give it: --fingerprint %s",
                   l->url, found, found);
}

static int confirm(const struct login *l, const char *found, struct err *e)
{
    char answer[LINE_MAX_] = "";
    if (l->o->fingerprint)
        return is_same(l->o->fingerprint, found) ? 0 : wrong_fingerprint(l, found, e);
    if (!isatty(STDIN_FILENO))
        return unconfirmed(l, found, e);
    fprintf(stderr,
            "The authority of the daemon at %s has the fingerprint\n  %s\n"
            "It must be what `batchaid fingerprint` prints on the daemon's machine.\n",
            l->url, found);
    if (read_line("Is it the same? [y/N] ", false, answer, e) < 0 ||
        (*answer != 'y' && *answer != 'Y'))
        return unconfirmed(l, found, e);
    return 0;
}

/* Finds the certificate of the authority: the file of --ca, which is trusted; otherwise the
 * daemon's, whose fingerprint must be that of --fingerprint, or be confirmed by the user. */
static int find_authority(struct login *l, struct err *e)
{
    char *pem = NULL, found[CERTS_FINGERPRINT_SIZE];
    int rc = l->o->ca ? fs_read(l->o->ca, CA_MAX, &pem, NULL, e)
                      : client_fetch_authority(l->url, &pem, e);
    if (rc == 0 && (rc = certs_fingerprint(pem, found, e)) < 0)
        err_prefix(e, "login: %.200s is not a certificate", l->o->ca ? l->o->ca : l->url);
    if (rc == 0 && (!l->o->ca || l->o->fingerprint))
        rc = confirm(l, found, e);
    if (rc == 0)
        rc = fs_mkdirs(l->folder, 0700, e);
    if (rc == 0)
        rc = fs_write_whole(l->unproven, pem, strlen(pem), 0600, false, e);
    free(pem);
    return rc;
}

/* --- the login -------------------------------------------------------------------------------- */

static void begin_environment(const struct login *l, struct environment *env)
{
    *env = (struct environment){.n = 0};
    environment_add(env, "BATCHAID_ENDPOINT", l->url);
    environment_add(env, "SSL_CERT_FILE", l->unproven);
    environment_add(env, "AZURE_CLIENT_ID", LOGIN_CLIENT);
    environment_add(env, LOGIN_USER, l->user);
}

static int ask_for_token(struct daemon_client *c, const struct login *l, char **refresh,
                         struct err *e)
{
    struct strbuf form = STRBUF_INIT;
    json_t *reply = NULL;
    char *user = client_escape(c, l->user), *password = client_escape(c, l->password);
    strbuf_puts(&form, "grant_type=password&client_id=" LOGIN_CLIENT "&username=");
    strbuf_concat(&form, user, "&password=", password);
    int rc = client_send(c, TOKEN_PATH, FORM, form.s, &reply, e);
    const char *token = json_string_value(json_object_get(reply, "refresh_token"));
    if (rc == 0 && !token)
        rc = err_set(e, ERR_PROTOCOL, NULL, "login: the daemon gave no refresh token");
    else if (rc < 0)
        err_prefix(e, "login");
    *refresh = rc == 0 ? xstrdup(token) : NULL;
    explicit_bzero(form.s, form.len);
    explicit_bzero(password, strlen(password));
    strbuf_free(&form);
    free(user);
    free(password);
    json_decref(reply);
    return rc;
}

static int find_subscription(struct daemon_client *c, struct environment *env, struct err *e)
{
    json_t *reply = NULL;
    if (client_call(c, "GET", "/subscriptions?api-version=2019-11-01", NULL, &reply, e) < 0)
        return -1;
    const char *id = json_string_value(
        json_object_get(json_array_get(json_object_get(reply, "value"), 0), "subscriptionId"));
    if (id)
        environment_add(env, "AZURE_SUBSCRIPTION_ID", id);
    json_decref(reply);
    return id ? 0
              : err_set(e, ERR_CONFIG, NULL,
                        "login: you have no role here yet; an administrator gives one: batchaid "
                        "user add, or az role assignment create");
}

/* If the user's name has no domain, adds the domain of the daemon. */
static int complete_name(struct login *l, struct err *e)
{
    static const char domain[] = "@batchaid";
    const char *given = l->o->user ? l->o->user : l->user;
    size_t n = strlen(given);
    if (n + sizeof domain > sizeof l->user)
        return err_set(e, ERR_CONFIG, NULL, "login: the name is too long");
    memmove(l->user, given, n + 1);
    if (!strchr(l->user, '@'))
        memcpy(l->user + n, domain, sizeof domain);
    return 0;
}

static int log_in(struct login *l, struct environment *kept, struct err *e)
{
    struct environment first, second;
    struct daemon_client *c = NULL;
    char *refresh = NULL;
    begin_environment(l, &first);
    int rc = client_reach_login(&first, &c, e);
    if (rc == 0)
        rc = ask_for_token(c, l, &refresh, e);
    client_close(c);
    c = NULL;
    if (rc < 0 || !refresh)
        return -1;
    begin_environment(l, kept);
    environment_add(kept, LOGIN_REFRESH, refresh);
    begin_environment(l, &second);
    environment_add(&second, LOGIN_REFRESH, refresh);
    explicit_bzero(refresh, strlen(refresh));
    free(refresh);
    rc = client_open_login(&second, &c, e);
    if (rc == 0)
        rc = find_subscription(c, kept, e);
    client_close(c);
    return rc;
}

static int keep(const struct login *l, const struct environment *env, struct err *e)
{
    char *authority = login_authority(l->folder);
    int rc = login_write(l->folder, env, e);
    if (rc == 0 && rename(l->unproven, authority) < 0)
        rc = err_errno(e, ERR_IO, "%.300s", authority);
    free(authority);
    return rc;
}

static int login(struct login *l, struct err *e)
{
    struct environment env = {.n = 0};
    int rc = find_authority(l, e);
    if (rc == 0 && !l->o->user)
        rc = read_line("User: ", false, l->user, e);
    if (rc == 0)
        rc = complete_name(l, e);
    if (rc == 0)
        rc = read_line("Password: ", true, l->password, e);
    if (rc == 0)
        rc = log_in(l, &env, e);
    if (rc == 0)
        rc = keep(l, &env, e);
    if (rc == 0 && l->o->json)
        json_print_new(json_pack("{s:s, s:s}", "endpoint", l->url, "user", l->user));
    else if (rc == 0)
        printf("logged in at %s as %s\n", l->url, l->user);
    environment_free(&env);
    return rc;
}

int cmd_login(const struct options *o)
{
    struct login l = {.o = o};
    struct err e;
    if (remote_check_endpoint(o->args[0], &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    l.url = remote_plain_url(o->args[0]);
    l.folder = login_folder(&e);
    l.unproven = l.folder ? fs_join(l.folder, "ca-new.pem") : NULL;
    int rc = l.folder ? login(&l, &e) : -1;
    if (rc < 0 && l.unproven)
        unlink(l.unproven);
    explicit_bzero(l.password, sizeof l.password);
    free(l.url);
    free(l.folder);
    free(l.unproven);
    return rc < 0 ? cli_fail(EXIT_FAILED, &e) : EXIT_DONE;
}

int cmd_logout(const struct options *o)
{
    struct err e;
    (void)o;
    char *folder = login_folder(&e);
    if (!folder)
        return cli_fail(EXIT_FAILED, &e);
    char *path = login_path(folder), *authority = login_authority(folder);
    bool was = unlink(path) == 0;
    int why = was ? 0 : errno;
    unlink(authority);
    if (was || why == ENOENT || why == ENOTDIR)
        printf(was ? "logged out\n" : "you were not logged in\n");
    else
        fprintf(stderr, "batchaid: %s: %s\n", path, strerror(why));
    free(path);
    free(authority);
    free(folder);
    return was || why == ENOENT || why == ENOTDIR ? EXIT_DONE : EXIT_FAILED;
}

/* --- the daemon's side ------------------------------------------------------------------------ */

int cmd_fingerprint(const struct options *o)
{
    struct state s;
    struct err e;
    char *pem = NULL, found[CERTS_FINGERPRINT_SIZE];
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = fs_read(s.ca_cert, CA_MAX, &pem, NULL, &e);
    if (rc == 0)
        rc = certs_fingerprint(pem, found, &e);
    if (rc == 0 && o->json)
        json_print_new(json_pack("{s:s}", "fingerprint", found));
    else if (rc == 0)
        printf("%s\n", found);
    free(pem);
    state_free(&s);
    return rc < 0 ? cli_fail(EXIT_FAILED, &e) : EXIT_DONE;
}
