/* SPDX-License-Identifier: MIT
 *
 * A client is one libcurl handle, which keeps its connection, and a token. When the daemon refuses
 * the token, the client gets a new one, because a command may run longer than a token is valid. A
 * reply is kept in memory up to a bound, and belongs to the caller. Secrets are wiped before their
 * memory is freed. Calls block; a command has one thread.
 */
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/client_priv.h"
#include "daemon/cli/table.h"
#include "lib/arena.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"

#define CONNECT_MS    10000L
#define REPLY_MS      60000L
#define REPLY_MAX     (512U << 20) /* bytes; so many, because dumps contain files */
#define TOKEN_PATH    "/adfs/oauth2/token"
#define HTTP_TOO_MANY 429L

void client_wipe(char *secret)
{
    if (secret)
        sodium_memzero(secret, strlen(secret));
}

void client_close(struct daemon_client *c)
{
    if (!c)
        return;
    if (c->curl)
        c->lib.curl_easy_cleanup(c->curl);
    client_wipe(c->authorization);
    free(c->authorization);
    client_wipe(c->for_storage);
    free(c->for_storage);
    environment_free(&c->env);
    c->lib.curl_global_cleanup();
    free(c);
}

static size_t on_reply(char *bytes, size_t size, size_t n, void *ctx)
{
    struct strbuf *reply = ctx;
    if (reply->len + size * n > REPLY_MAX)
        return 0;
    strbuf_add(reply, bytes, size * n);
    return size * n;
}

int client_refused(const json_t *reply, long status, struct err *e)
{
    const char *text = NULL, *described = NULL, *code = NULL;
    (void)json_unpack((json_t *)reply, "{s?{s?s, s?s}}", "error", "message", &text, "code", &code);
    (void)json_unpack((json_t *)reply, "{s?s}", "error_description", &described);
    if (!text)
        text = described;
    if (text) {
        bool ended = code && strcmp(code, "DaemonEndedDuringRequest") == 0;
        err_set(e,
                ended                     ? ERR_ENDED_DAEMON
                : status == HTTP_TOO_MANY ? ERR_UNAVAILABLE
                : status < HTTP_OF_DAEMON ? ERR_BAD_REQUEST
                                          : ERR_INTERNAL,
                code, "%s", text);
        table_clean(e->msg); /* the message may quote text from a machine */
        return -1;
    }
    return err_set(e, ERR_INTERNAL, NULL, "the daemon answered with status %ld and no reason",
                   status);
}

bool client_may_pass(const struct err *e)
{
    return e->code == ERR_UNAVAILABLE || e->code == ERR_ENDED_DAEMON || e->code == ERR_INTERNAL;
}

/* The error code of an exchange that failed. ERR_CONFIG for an invalid certificate, because waiting
 * does not make it valid. */
int client_not_reached(CURLcode rc)
{
    return rc == CURLE_PEER_FAILED_VERIFICATION ? ERR_CONFIG : ERR_UNAVAILABLE;
}

/* A request to the daemon; borrowed. */
struct daemon_call {
    const char *method, *path;
    const char *type, *body; /* its Content-Type; NULL: no body */
    bool is_login;           /* the request asks for a token, so it is sent without one */
};

void client_set(struct daemon_client *c, const char *url, char *trouble)
{
    CURL *h = c->curl;
    c->lib.curl_easy_reset(h);
    c->lib.curl_easy_setopt(h, CURLOPT_URL, url);
    c->lib.curl_easy_setopt(h, CURLOPT_CAINFO, environment_get(&c->env, "SSL_CERT_FILE"));
    if (!environment_get(&c->env, LOGIN_USER)) { /* the daemon is on this machine */
        c->lib.curl_easy_setopt(h, CURLOPT_NOPROXY, "*");
        /* otherwise each connection would read all authorities of the system, which takes 0.1 s */
        c->lib.curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    }
    c->lib.curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    c->lib.curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    c->lib.curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, c->limit_ms);
    c->lib.curl_easy_setopt(h, CURLOPT_ERRORBUFFER, trouble);
}

void client_doing(struct daemon_client *c, const char *words)
{
    c->doing = words;
}

void client_quiet(struct daemon_client *c, bool quiet)
{
    c->quiet = quiet;
}

/* libcurl calls this often while bytes are sent or received, and otherwise once in a second. */
static int on_progress(void *ctx, curl_off_t all, curl_off_t got, curl_off_t to_send,
                       curl_off_t sent)
{
    struct daemon_client *c = ctx;
    if (got == 0 && sent < to_send)
        progress_say_bytes(&c->progress, c->doing ? c->doing : "sending", sent, to_send);
    else if (got > 0)
        progress_say_bytes(&c->progress, c->doing ? c->doing : "receiving", got, all);
    else
        progress_say(&c->progress, "waiting for the daemon, %lld s%s%s",
                     (long long)(progress_us(&c->progress) / 1000000), c->doing ? ": " : "",
                     c->doing ? c->doing : "");
    return 0;
}

CURLcode client_perform(struct daemon_client *c)
{
    progress_begin(&c->progress);
    if (!c->quiet && c->progress.terminal) {
        c->lib.curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
        c->lib.curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
        c->lib.curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    }
    CURLcode rc = c->lib.curl_easy_perform(c->curl);
    progress_end(&c->progress);
    return rc;
}

static void set_request(struct daemon_client *c, const char *url, const struct daemon_call *call,
                        struct strbuf *reply, char *trouble)
{
    CURL *h = c->curl;
    client_set(c, url, trouble);
    c->lib.curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_reply);
    c->lib.curl_easy_setopt(h, CURLOPT_WRITEDATA, reply);
    if (strcmp(call->method, "GET") == 0)
        return;
    c->lib.curl_easy_setopt(h, CURLOPT_POSTFIELDS, call->body ? call->body : "");
    c->lib.curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, call->method);
}

static int exchange_once(struct daemon_client *c, const struct daemon_call *call, long *status,
                         json_t **out, struct err *e)
{
    struct strbuf url = STRBUF_INIT, reply = STRBUF_INIT, content = STRBUF_INIT;
    char trouble[CURL_ERROR_SIZE] = "";
    strbuf_printf(&url, "%s%s", environment_get(&c->env, "BATCHAID_ENDPOINT"), call->path);
    strbuf_printf(&content, "Content-Type: %s", call->type ? call->type : "application/json");
    struct curl_slist *headers = c->lib.curl_slist_append(NULL, content.s);
    if (c->authorization && !call->is_login)
        headers = c->lib.curl_slist_append(headers, c->authorization);
    set_request(c, url.s, call, &reply, trouble);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode rc = client_perform(c);
    c->lib.curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status);
    *out = rc == CURLE_OK && reply.len ? json_loadb(reply.s, reply.len, 0, NULL) : NULL;
    int result = 0;
    if (rc == CURLE_WRITE_ERROR)
        result = err_set(e, ERR_PROTOCOL, NULL, "the daemon's answer to %s is larger than %u MiB",
                         call->path, REPLY_MAX >> 20);
    else if (rc != CURLE_OK)
        result = err_set(e, client_not_reached(rc), NULL, "the daemon at %s does not answer: %s",
                         url.s, *trouble ? trouble : c->lib.curl_easy_strerror(rc));
    else if (*status < HTTP_REFUSE && reply.len && !*out)
        result = err_set(e, ERR_PROTOCOL, NULL, "the daemon's answer to %s is not JSON", url.s);
    client_wipe(reply.s); /* the reply may be a token */
    c->lib.curl_slist_free_all(headers);
    strbuf_free(&url);
    strbuf_free(&reply);
    strbuf_free(&content);
    return result;
}

/* Sends a request. Any reply, whatever its status, is a success; *out NULL: the reply is not JSON.
 * If the daemon refuses the token, gets a new token and sends the request once more. */
static int exchange(struct daemon_client *c, const struct daemon_call *call, long *status,
                    json_t **out, struct err *e)
{
    int rc = exchange_once(c, call, status, out, e);
    if (rc < 0 || call->is_login || !client_may_renew(c, *status))
        return rc;
    json_decref(*out);
    *out = NULL;
    return client_renew(c, NULL, &c->authorization, e) < 0 ? -1
                                                           : exchange_once(c, call, status, out, e);
}

static int request(struct daemon_client *c, const struct daemon_call *call, json_t **out,
                   struct err *e)
{
    long status = 0;
    json_t *parsed = NULL;
    int rc = exchange(c, call, &status, &parsed, e);
    if (rc == 0 && status >= HTTP_REFUSE)
        rc = client_refused(parsed, status, e);
    if (rc == 0)
        *out = parsed;
    else
        json_decref(parsed);
    return rc;
}

static void add_field(struct daemon_client *c, struct strbuf *form, const char *name,
                      const char *value)
{
    char *escaped = c->lib.curl_easy_escape(c->curl, value, 0);
    if (!escaped)
        abort();
    strbuf_printf(form, "%s%s=%s", form->len ? "&" : "", name, escaped);
    client_wipe(escaped);
    c->lib.curl_free(escaped);
}

/* Fills the form of a request for a token: with the credentials of the state directory, or with
 * those that `batchaid login` has stored. `scope` NULL: a token for batchaid's own services. */
static void add_credentials(struct daemon_client *c, const char *scope, struct strbuf *form)
{
    const char *refresh = environment_get(&c->env, LOGIN_REFRESH);
    add_field(c, form, "grant_type", refresh ? "refresh_token" : "client_credentials");
    add_field(c, form, "client_id", environment_get(&c->env, "AZURE_CLIENT_ID"));
    if (refresh)
        add_field(c, form, "refresh_token", refresh);
    else
        add_field(c, form, "client_secret", environment_get(&c->env, "AZURE_CLIENT_SECRET"));
    if (scope)
        add_field(c, form, "scope", scope);
}

static char *bearer(const char *token)
{
    struct strbuf line = STRBUF_INIT;
    strbuf_concat(&line, "Authorization: Bearer ", token);
    return strbuf_take(&line);
}

/* Uses the token from the environment variable for this scope. */
static int take_lent(struct daemon_client *c, const char *scope, char **authorization,
                     struct err *e)
{
    const char *token = environment_get(&c->env, scope ? LOGIN_STORAGE_TOKEN : LOGIN_TOKEN);
    if (!token)
        return err_set(e, ERR_CONFIG, NULL,
                       "BATCHAID_TOKEN is not valid at storage accounts, to which a folder is "
                       "copied; set BATCHAID_STORAGE_TOKEN to a token for %s, or copy nothing with "
                       "--no-copy",
                       scope);
    *authorization = bearer(token);
    return 0;
}

int client_log_in(struct daemon_client *c, const char *scope, char **authorization, struct err *e)
{
    struct strbuf form = STRBUF_INIT;
    json_t *reply = NULL;
    if (environment_get(&c->env, LOGIN_TOKEN))
        return take_lent(c, scope, authorization, e);
    add_credentials(c, scope, &form);
    const struct daemon_call call = {"POST", TOKEN_PATH, "application/x-www-form-urlencoded",
                                     form.s, true};
    int rc = request(c, &call, &reply, e);
    const char *token = json_string_value(json_object_get(reply, "access_token"));
    if (rc == 0 && !token)
        rc = err_set(e, ERR_PROTOCOL, NULL, "the daemon's token endpoint gave no access_token");
    else if (rc < 0 && e->code == ERR_BAD_REQUEST && environment_get(&c->env, LOGIN_REFRESH))
        err_set(e, ERR_CONFIG, NULL,
                "your login at %.200s is no longer valid; log in again: batchaid login %.200s",
                client_endpoint(c), client_endpoint(c));
    if (rc == 0)
        *authorization = bearer(token);
    json_decref(reply);
    client_wipe(form.s);
    strbuf_free(&form);
    return rc;
}

bool client_may_renew(const struct daemon_client *c, long status)
{
    return status == HTTP_UNAUTHORIZED && c->renewable;
}

int client_renew(struct daemon_client *c, const char *scope, char **authorization, struct err *e)
{
    char *fresh = NULL;
    if (client_log_in(c, scope, &fresh, e) < 0)
        return -1;
    client_wipe(*authorization);
    free(*authorization);
    *authorization = fresh;
    return 0;
}

/* Returns NULL on an error. Takes ownership of *env. */
static struct daemon_client *reach(struct environment *env, struct err *e)
{
    struct daemon_client *c = xcalloc(1, sizeof *c);
    c->limit_ms = REPLY_MS;
    c->env = *env;
    if (curl_functions_load(&c->lib, e) < 0) {
        environment_free(&c->env);
        free(c);
        return NULL;
    }
    if (c->lib.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        !(c->curl = c->lib.curl_easy_init())) {
        environment_free(&c->env);
        free(c);
        err_set(e, ERR_INTERNAL, NULL, "libcurl cannot be initialized");
        return NULL;
    }
    return c;
}

int client_reach(const struct state *s, struct daemon_client **out, struct err *e)
{
    struct environment env;
    if (environment_build(s, &env, e) < 0)
        return -1;
    *out = reach(&env, e);
    return *out ? 0 : -1;
}

int client_enter(struct daemon_client *c, struct err *e)
{
    if (client_log_in(c, NULL, &c->authorization, e) < 0)
        return -1;
    c->renewable = !environment_get(&c->env, LOGIN_TOKEN);
    return 0;
}

static int open_with(struct daemon_client *c, struct daemon_client **out, struct err *e)
{
    if (!c)
        return -1;
    if (client_enter(c, e) < 0) {
        client_close(c);
        return -1;
    }
    *out = c;
    return 0;
}

int client_open(const struct state *s, struct daemon_client **out, struct err *e)
{
    struct daemon_client *c = NULL;
    return client_reach(s, &c, e) < 0 ? -1 : open_with(c, out, e);
}

int client_reach_login(struct environment *login, struct daemon_client **out, struct err *e)
{
    *out = reach(login, e);
    return *out ? 0 : -1;
}

int client_open_login(struct environment *login, struct daemon_client **out, struct err *e)
{
    return open_with(reach(login, e), out, e);
}

const char *client_endpoint(const struct daemon_client *c)
{
    return environment_get(&c->env, "BATCHAID_ENDPOINT");
}

const char *client_subscription(const struct daemon_client *c)
{
    return environment_get(&c->env, "AZURE_SUBSCRIPTION_ID");
}

void client_mean(struct daemon_client *c, const char *subscription)
{
    c->meant = subscription;
}

const char *client_meant(const struct daemon_client *c)
{
    return c->meant;
}

const char *client_user(const struct daemon_client *c)
{
    return environment_get(&c->env, LOGIN_USER);
}

json_t *client_login_body(const struct daemon_client *c)
{
    const char *refresh = environment_get(&c->env, LOGIN_REFRESH);
    return refresh ? json_pack("{s:s}", "token", refresh)
                   : json_pack("{s:s, s:s}", "user", environment_get(&c->env, "AZURE_CLIENT_ID"),
                               "password", environment_get(&c->env, "AZURE_CLIENT_SECRET"));
}

int client_open_testing(const struct state *s, struct daemon_client **out, struct err *e)
{
    struct strbuf line = STRBUF_INIT;
    struct daemon_client *c = NULL;
    if (client_reach(s, &c, e) < 0)
        return -1;
    const char *key = environment_get(&c->env, "BATCHAID_TESTING_KEY");
    if (!key) {
        client_close(c);
        return err_set(
            e, ERR_UNAVAILABLE, NULL,
            "the daemon accepts no requests for tests: it was started without --testing");
    }
    strbuf_concat(&line, "x-batchaid-testing-key: ", key);
    c->authorization = strbuf_take(&line);
    *out = c;
    return 0;
}

void client_limit(struct daemon_client *c, long milliseconds)
{
    c->limit_ms = milliseconds;
}

int client_send(struct daemon_client *c, const char *path, const char *type, const char *text,
                json_t **out, struct err *e)
{
    return request(c, &(struct daemon_call){"POST", path, type, text}, out, e);
}

int client_look(struct daemon_client *c, const char *path, long *status, json_t **out,
                struct err *e)
{
    return exchange(c, &(struct daemon_call){.method = "GET", .path = path}, status, out, e);
}

int client_try(struct daemon_client *c, const char *method, const char *path, const json_t *body,
               long *status, json_t **out, struct err *e)
{
    char *text = body ? jsontext(body) : NULL;
    int rc = exchange(c, &(struct daemon_call){.method = method, .path = path, .body = text},
                      status, out, e);
    free(text);
    return rc;
}

int client_call(struct daemon_client *c, const char *method, const char *path, const json_t *body,
                json_t **out, struct err *e)
{
    char *text = body ? jsontext(body) : NULL;
    int rc =
        request(c, &(struct daemon_call){.method = method, .path = path, .body = text}, out, e);
    free(text);
    return rc;
}

/* Adds "max=200" to the query of the path, and "after=NEXT" if there is a next page. */
static void set_page(struct daemon_client *c, const char *path, const char *next,
                     struct strbuf *out)
{
    char *after = next ? client_escape(c, next) : NULL;
    strbuf_reset(out);
    strbuf_concat(out, path, strchr(path, '?') ? "&" : "?", "max=200", after ? "&after=" : "",
                  after ? after : "");
    free(after);
}

int client_call_pages(struct daemon_client *c, const char *path, json_t **out, struct err *e)
{
    json_t *reply = NULL, *value = json_array();
    struct strbuf page = STRBUF_INIT;
    const char *next = NULL;
    int rc;
    do {
        set_page(c, path, next, &page);
        json_decref(reply);
        reply = NULL;
        rc = client_call(c, "GET", page.s, NULL, &reply, e);
        json_array_extend(value, json_object_get(reply, "value"));
        next = json_string_value(json_object_get(reply, "next"));
    } while (rc == 0 && next);
    json_decref(reply);
    strbuf_free(&page);
    *out = rc == 0 ? json_pack("{s:O}", "value", value) : NULL;
    json_decref(value);
    return rc;
}

int client_fetch_authority(const char *url, char **pem, struct err *e)
{
    struct environment env = {.n = 0};
    struct strbuf there = STRBUF_INIT, reply = STRBUF_INIT;
    char trouble[CURL_ERROR_SIZE] = "";
    long status = 0;
    environment_add(&env, LOGIN_USER, "");
    struct daemon_client *c = reach(&env, e);
    if (!c)
        return -1;
    strbuf_concat(&there, url, "/batchaid/ca.pem");
    c->limit_ms = CONNECT_MS;
    set_request(c, there.s, &(struct daemon_call){.method = "GET"}, &reply, trouble);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_CAINFO, NULL);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, 0L);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    CURLcode rc = client_perform(c);
    c->lib.curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    int result = 0;
    if (rc != CURLE_OK)
        result = err_set(e, ERR_UNAVAILABLE, NULL, "the daemon at %.200s does not answer: %s", url,
                         *trouble ? trouble : c->lib.curl_easy_strerror(rc));
    else if (status != HTTP_OK || !reply.len)
        result = err_set(e, ERR_PROTOCOL, NULL,
                         "what answers at %.200s is not a batchaid daemon: status %ld for "
                         "/batchaid/ca.pem",
                         url, status);
    *pem = result == 0 ? strbuf_take(&reply) : NULL;
    client_close(c);
    strbuf_free(&there);
    strbuf_free(&reply);
    return result;
}

/* Connects to the daemon under the host name of this URL. CURLE_OK: its certificate is valid for
 * that name. `own`: the certificate must also be from the daemon's authority. */
static CURLcode try_name(struct daemon_client *c, const char *url, bool own, char *trouble)
{
    struct strbuf there = STRBUF_INIT, reply = STRBUF_INIT;
    strbuf_printf(&there, "::%s",
                  environment_get(&c->env, "BATCHAID_ENDPOINT") + strlen("https://"));
    struct curl_slist *here = c->lib.curl_slist_append(NULL, there.s);
    set_request(c, url, &(struct daemon_call){.method = "GET"}, &reply, trouble);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_CONNECT_TO, here);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, own ? 1L : 0L);
    CURLcode rc = client_perform(c);
    c->lib.curl_slist_free_all(here);
    strbuf_free(&there);
    strbuf_free(&reply);
    return rc;
}

int client_check_name(struct daemon_client *c, const char *url, struct err *e)
{
    char trouble[CURL_ERROR_SIZE] = "";
    CURLcode rc = try_name(c, url, true, trouble);
    if (rc == CURLE_OK)
        return 0;
    if (rc != CURLE_PEER_FAILED_VERIFICATION)
        return err_set(e, ERR_UNAVAILABLE, NULL, "the daemon does not answer for %.100s: %s", url,
                       *trouble ? trouble : c->lib.curl_easy_strerror(rc));
    if (try_name(c, url, false, trouble) == CURLE_OK)
        return err_set(e, ERR_CONFIG, NULL,
                       "clients of %.100s get the site's own certificate (tls.certificate), but "
                       "trust only the daemon's authority; use another name of tls.names, one that "
                       "is not in that certificate",
                       url);
    return err_set(e, ERR_CONFIG, NULL,
                   "the daemon's certificate is not valid for %.100s; in its configuration add the "
                   "name to tls.names, or the address to listen, and start it again",
                   url);
}

char *client_escape(struct daemon_client *c, const char *name)
{
    char *escaped = c->lib.curl_easy_escape(c->curl, name, 0);
    char *copy = escaped ? xstrdup(escaped) : NULL;
    c->lib.curl_free(escaped);
    if (!copy)
        abort();
    return copy;
}
