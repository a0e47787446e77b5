/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the small files of the state directory: credentials and keys, which are made
 * once, and the endpoint, which exists while a daemon serves.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/http/principal.h"
#include "daemon/config/state.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/guid.h"
#include "lib/strbuf.h"

enum { MAX_FILE = 64 * 1024, SECRET_BYTES = 32 };

static int write_json(const char *path, json_t *o, bool sync, struct err *e)
{
    char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (!text)
        abort();
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s\n", text);
    int rc = fs_write_whole(path, b.s, b.len, 0600, sync, e);
    sodium_memzero(b.s, b.len);
    sodium_memzero(text, strlen(text));
    strbuf_free(&b);
    free(text);
    return rc;
}

/* Caller decrefs. */
static json_t *read_json(const char *path, struct err *e)
{
    char *text;
    if (fs_read(path, MAX_FILE, &text, NULL, e) < 0)
        return NULL;
    json_error_t why;
    json_t *o = json_loads(text, 0, &why);
    sodium_memzero(text, strlen(text));
    free(text);
    if (!o)
        err_set(e, ERR_CONFIG, NULL, "%s:%d: %s", path, why.line, why.text);
    return o;
}

/* The secret is hexadecimal, so that it never begins with a dash: `az login -p` would take it for
 * an option. */
static int make_credentials(const char *path, bool sync, struct err *e)
{
    char id[GUID_SIZE], secret[2 * SECRET_BYTES + 1];
    uint8_t bytes[SECRET_BYTES];
    guid_new(id);
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(secret, sizeof secret, bytes, sizeof bytes);
    json_t *o = json_pack("{s:s, s:s}", "client_id", id, "client_secret", secret);
    int rc = write_json(path, o, sync, e);
    json_decref(o);
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(secret, sizeof secret);
    return rc;
}

static int read_credentials(const char *path, struct credentials *out, struct err *e)
{
    json_t *o = read_json(path, e);
    if (!o)
        return -1;
    const char *id, *secret;
    json_error_t why;
    int rc = json_unpack_ex(o, &why, 0, "{s:s, s:s}", "client_id", &id, "client_secret", &secret);
    if (rc < 0) {
        err_set(e, ERR_CONFIG, NULL, "%s: %s", path, why.text);
    } else if (strlen(id) >= PRINCIPAL_ID_SIZE) {
        rc = err_set(e, ERR_CONFIG, NULL, "%s: client_id is longer than %d characters", path,
                     PRINCIPAL_ID_SIZE - 1);
    } else {
        out->client_id = xstrdup(id);
        out->client_secret = xstrdup(secret);
    }
    json_decref(o);
    return rc;
}

static int read_token_key(const char *path, uint8_t key[TOKEN_KEY_SIZE], struct err *e)
{
    char *data;
    size_t len;
    if (fs_read(path, MAX_FILE, &data, &len, e) < 0)
        return -1;
    int rc = 0;
    if (len == TOKEN_KEY_SIZE)
        memcpy(key, data, TOKEN_KEY_SIZE);
    else
        rc = err_set(e, ERR_CONFIG, NULL,
                     "%s has %zu bytes instead of %d; remove it to have a new one made", path, len,
                     TOKEN_KEY_SIZE);
    sodium_memzero(data, len);
    free(data);
    return rc;
}

static int make_token_key(const char *path, bool sync, struct err *e)
{
    uint8_t key[TOKEN_KEY_SIZE];
    randombytes_buf(key, sizeof key);
    int rc = fs_write_whole(path, key, sizeof key, 0600, sync, e);
    sodium_memzero(key, sizeof key);
    return rc;
}

int credentials_load(const struct state *s, struct credentials *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, NULL, "libsodium cannot be initialised");
    if (access(s->credentials, F_OK) < 0 &&
        make_credentials(s->credentials, !s->without_sync, e) < 0)
        return -1;
    if (access(s->token_key, F_OK) < 0 && make_token_key(s->token_key, !s->without_sync, e) < 0)
        return -1;
    if (read_credentials(s->credentials, out, e) < 0 ||
        read_token_key(s->token_key, out->token_key, e) < 0) {
        credentials_free(out);
        return -1;
    }
    return 0;
}

void credentials_free(struct credentials *c)
{
    if (c->client_secret)
        sodium_memzero(c->client_secret, strlen(c->client_secret));
    free(c->client_id);
    free(c->client_secret);
    sodium_memzero(c, sizeof *c);
}

int endpoint_publish(const struct state *s, const struct endpoint *ep, struct err *e)
{
    json_t *o = json_pack("{s:s, s:I, s:s, s:s*, s:s*}", "endpoint", ep->url, "pid",
                          (json_int_t)getpid(), "subscription_id", ep->subscription_id, "config",
                          ep->config, "testing_key", ep->testing_key);
    /* not synced, because after a power cut it is not needed */
    int rc = write_json(s->endpoint, o, false, e);
    json_decref(o);
    return rc;
}

void endpoint_withdraw(const struct state *s)
{
    unlink(s->endpoint);
}

static int nobody_serves(const struct state *s, struct err *e)
{
    if (access(s->dir, F_OK) < 0 && errno == ENOENT)
        return err_set(e, ERR_UNAVAILABLE, NULL,
                       "no batchaid daemon is serving %s, which does not exist; set --state-dir or "
                       "BATCHAID_STATE_DIR to the state directory of a daemon, or start one with: "
                       "batchaid serve --state-dir %s",
                       s->dir, s->dir);
    return err_set(
        e, ERR_UNAVAILABLE, NULL,
        "no batchaid daemon is serving %s; start one with: batchaid serve --state-dir %s", s->dir,
        s->dir);
}

/* Whether a daemon holds the lock: a killed daemon leaves the file, but not the lock. */
static bool is_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct flock lk = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool locked = fcntl(fd, F_OFD_GETLK, &lk) == 0 && lk.l_type != F_UNLCK;
    close(fd);
    return locked;
}

int endpoint_read(const struct state *s, struct endpoint *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    if (access(s->dir, F_OK) == 0 && access(s->lock, R_OK | W_OK) < 0 && errno == EACCES)
        return err_set(e, ERR_UNAVAILABLE, NULL, "%s belongs to another user", s->dir);
    if (!is_locked(s->lock) || access(s->endpoint, F_OK) < 0)
        return nobody_serves(s, e);
    json_t *o = read_json(s->endpoint, e);
    if (!o)
        return -1;
    const char *url, *subscription, *config = NULL, *testing_key = NULL;
    json_int_t pid;
    json_error_t why;
    int rc = json_unpack_ex(o, &why, 0, "{s:s, s:I, s:s, s?s, s?s}", "endpoint", &url, "pid", &pid,
                            "subscription_id", &subscription, "config", &config, "testing_key",
                            &testing_key);
    if (rc < 0) {
        err_set(e, ERR_CONFIG, NULL, "%s: %s", s->endpoint, why.text);
    } else {
        out->url = xstrdup(url);
        out->subscription_id = xstrdup(subscription);
        out->config = config ? xstrdup(config) : NULL;
        out->testing_key = testing_key ? xstrdup(testing_key) : NULL;
        out->pid = (pid_t)pid;
    }
    json_decref(o);
    return rc;
}

void endpoint_free(struct endpoint *ep)
{
    free(ep->url);
    free(ep->subscription_id);
    free(ep->config);
    free(ep->testing_key);
    memset(ep, 0, sizeof *ep);
}

char *endpoint_for_clients(const char *url)
{
    static const char *const local[] = {"https://127.",
                                        "https://[::1]:", "https://0.0.0.0:", "https://[::]:"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (strncmp(url, local[i], strlen(local[i])) != 0)
            continue;
        struct strbuf b = STRBUF_INIT;
        strbuf_printf(&b, "https://localhost%s", strrchr(url, ':'));
        return strbuf_take(&b);
    }
    return xstrdup(url);
}
