/* SPDX-License-Identifier: MIT
 *
 * Verifies the machine (its host key, recorded in a known_hosts file) and authenticates the daemon
 * (key file, ssh-agent, password: in this order, each if given and accepted by the machine).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "nodeagent-proto/link/ssh/known_hosts.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

/* The types of host keys, preferred first. If known_hosts contains keys of this host, their types
 * are put before these types. */
#define HOST_KEY_TYPES "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521"

/* ---- known hosts ---- */

/* "host", or "[host]:port" if the port is not 22; as OpenSSH writes it. */
static char *known_name(const struct ssh *l)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, l->port == 22 ? "%s" : "[%s]:%d", l->host, l->port);
    return strbuf_take(&b);
}

struct known_file {
    struct ssh_file base; /* first */
    struct known_hosts k;
};

static struct known_hosts *known_of(struct ssh_file *f)
{
    return &CONTAINER_OF(f, struct known_file, base)->k;
}

static void known_work(struct ssh_file *f)
{
    known_hosts_look(known_of(f));
}

static void known_free(struct ssh_file *f)
{
    struct known_hosts *k = known_of(f);
    free((char *)(uintptr_t)k->name);
    free((char *)(uintptr_t)k->key);
    free(k->types);
}

static const struct ssh_file_kind known_kind = {known_work, known_free};

/* Looks up the machine and its key in known_hosts, by a worker. */
static enum ssh_step ask_known(struct ssh *l, const char *key, size_t n, int type)
{
    struct known_file *f = xcalloc(1, sizeof *f);
    char *copy = key ? xcalloc(1, n) : NULL;
    if (copy)
        memcpy(copy, key, n);
    f->base.kind = &known_kind;
    f->base.path = xstrdup(l->known_hosts);
    f->k = (struct known_hosts){.path = f->base.path,
                                .name = known_name(l),
                                .key = copy,
                                .n_key = n,
                                .type = type,
                                .record = !l->strict && !l->look};
    l->wanted = &f->base;
    return SSH_FILE;
}

/* ---- handshake ---- */

/* A machine has keys of several types. The handshake must request a type that is recorded in
 * known_hosts; with another type, an unchanged machine would seem to be changed. */
static enum ssh_step prefer_known_types(struct ssh *l)
{
    const struct known_hosts *k = known_of(l->file);
    if (k->verdict == KNOWN_FAILED)
        return ssh_fail(l, ERR_NODE, k->remedy, "%s", k->cause);
    struct strbuf types = STRBUF_INIT;
    strbuf_printf(&types, "%s" HOST_KEY_TYPES, k->types);
    libssh2_session_method_pref(l->session, LIBSSH2_METHOD_HOSTKEY, types.s);
    strbuf_free(&types);
    l->methods = xstrdup(""); /* not NULL: this step is done */
    ssh_file_drop(l);
    return SSH_NEXT;
}

enum ssh_step ssh_step_handshake(struct ssh *l)
{
    if (!l->methods && !l->file)
        return ask_known(l, NULL, 0, 0);
    if (!l->methods && prefer_known_types(l) == SSH_FAILED)
        return SSH_FAILED;
    /* libssh2 only passes the socket to our callbacks */
    int rc = libssh2_session_handshake(l->session, l->fd);
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return SSH_WAIT;
    if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE)
        return ssh_fail(l, ERR_NODE,
                        "the server must have an ed25519 or ECDSA host key and current algorithms",
                        "client and server have no algorithm in common: %s", ssh_lib_error(l));
    return rc < 0 ? ssh_fail_lib(l, rc, "failed") : SSH_NEXT;
}

/* ---- host key ---- */

static enum ssh_step refuse_new(struct ssh *l, const struct known_hosts *k)
{
    struct strbuf remedy = STRBUF_INIT;
    strbuf_printf(&remedy,
                  "if the machine itself shows this fingerprint, add its key: ssh-keyscan -p %d "
                  "%s >> %s; or let first use be recorded",
                  l->port, l->host, l->known_hosts);
    (void)ssh_fail(l, ERR_NODE, remedy.s, "its key %s is not in %s", k->shown, l->known_hosts);
    strbuf_free(&remedy);
    return SSH_FAILED;
}

static enum ssh_step refuse_changed(struct ssh *l, const struct known_hosts *k)
{
    struct strbuf remedy = STRBUF_INIT;
    strbuf_printf(&remedy,
                  "the connection may be intercepted; if the machine was reinstalled, remove its "
                  "recorded key from %s: ssh-keygen -R '%s' -f %s",
                  l->known_hosts, k->name, l->known_hosts);
    (void)ssh_fail(l, ERR_NODE, remedy.s, "the key has changed: %s was recorded, the host shows %s",
                   k->old, k->shown);
    strbuf_free(&remedy);
    return SSH_FAILED;
}

static enum ssh_step judge(struct ssh *l, const struct known_hosts *k)
{
    l->link.new_host = k->verdict == KNOWN_NEW;
    if (k->recorded)
        LOG_INFO(l->link.log, "node.host_key_recorded", LF_STR("node", l->name),
                 LF_STR("fingerprint", k->shown));
    switch (k->verdict) {
    case KNOWN_MATCH:
        return SSH_NEXT;
    case KNOWN_NEW:
        return l->strict ? refuse_new(l, k) : SSH_NEXT;
    case KNOWN_CHANGED:
        return refuse_changed(l, k);
    case KNOWN_FAILED:
        break;
    }
    return ssh_fail(l, ERR_NODE, k->remedy, "%s", k->cause);
}

enum ssh_step ssh_step_host_key(struct ssh *l)
{
    size_t n;
    int type;
    if (!l->file) {
        const char *key = libssh2_session_hostkey(l->session, &n, &type);
        return key ? ask_known(l, key, n, type)
                   : ssh_fail(l, ERR_NODE, NULL, "the machine showed no key");
    }
    enum ssh_step s = judge(l, known_of(l->file));
    ssh_file_drop(l);
    return s;
}

/* ---- the key file ---- */

#define KEY_FILE_MAX 65536

struct key_file {
    struct ssh_file base; /* first */
    char *text;           /* NULL: it could not be read, see `why` */
    size_t n;
    struct err why;
};

static struct key_file *key_of(struct ssh_file *f)
{
    return CONTAINER_OF(f, struct key_file, base);
}

static void key_work(struct ssh_file *f)
{
    struct key_file *key = key_of(f);
    if (fs_read(f->path, KEY_FILE_MAX, &key->text, &key->n, &key->why) < 0)
        key->text = NULL;
}

static void key_free(struct ssh_file *f)
{
    struct key_file *key = key_of(f);
    if (key->text)
        explicit_bzero(key->text, key->n);
    free(key->text);
}

static const struct ssh_file_kind key_kind = {key_work, key_free};

static enum ssh_step ask_key(struct ssh *l)
{
    struct key_file *f = xcalloc(1, sizeof *f);
    f->base.kind = &key_kind;
    f->base.path = xstrdup(l->identity);
    l->wanted = &f->base;
    return SSH_FILE;
}

/* ---- login: these functions run on the thread pool ---- */

static int try_identity(struct ssh *l)
{
    const struct key_file *key = key_of(l->file);
    return libssh2_userauth_publickey_frommemory(l->session, l->user, strlen(l->user), NULL, 0,
                                                 key->text, key->n, l->passphrase);
}

static int connect_keys(struct ssh *l)
{
    l->keys = libssh2_agent_init(l->session);
    if (!l->keys)
        return LIBSSH2_ERROR_ALLOC;
    libssh2_agent_set_identity_path(l->keys, l->agent_socket);
    int rc = libssh2_agent_connect(l->keys);
    return rc ? rc : libssh2_agent_list_identities(l->keys);
}

/* Tries each key of the ssh-agent until one is accepted. */
static int try_keys(struct ssh *l)
{
    int rc = l->keys ? 0 : connect_keys(l);
    if (rc < 0)
        return rc;
    if (!l->agent_key && libssh2_agent_get_identity(l->keys, &l->agent_key, NULL) != 0)
        return LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    while ((rc = libssh2_agent_userauth(l->keys, l->user, l->agent_key)) < 0 &&
           rc != LIBSSH2_ERROR_EAGAIN)
        if (libssh2_agent_get_identity(l->keys, &l->agent_key, l->agent_key) != 0)
            break;
    return rc;
}

static int try_password(struct ssh *l)
{
    return libssh2_userauth_password_ex(l->session, l->user, (unsigned)strlen(l->user), l->password,
                                        (unsigned)strlen(l->password), NULL);
}

static const struct method {
    const char *wire; /* as the host lists it */
    size_t setting;   /* offset of the text in node_ssh_config that enables the method */
    const char *what;
    int (*attempt)(struct ssh *l);
} methods[] = {
    {"publickey", offsetof(struct ssh, identity), "key", try_identity},
    {"publickey", offsetof(struct ssh, agent_socket), "ssh-agent", try_keys},
    {"password", offsetof(struct ssh, password), "password", try_password},
};
#define N_METHODS (sizeof methods / sizeof methods[0])

static const char *setting(const struct ssh *l, const struct method *m)
{
    return *(char *const *)(const void *)((const char *)l + m->setting);
}

static void work_login(uv_work_t *work)
{
    struct ssh *l = work->data;
    assert(l->method < N_METHODS);
    l->work_rc = methods[l->method].attempt(l);
}

/* ---- login: on the loop ---- */

static enum ssh_step refused(struct ssh *l)
{
    return ssh_fail(l, ERR_NODE,
                    "check the user, the key or password, and authorized_keys on the machine "
                    "(ssh-copy-id puts a key there)",
                    "refused for user '%s': %s; the host accepts %s", l->user,
                    l->tried.len ? l->tried.s : "no method is configured", l->methods);
}

/* For a key that the host does not know, libssh2's own text ("invalid combination") would
 * mislead. */
static const char *why_not(struct ssh *l)
{
    bool by_host = l->work_rc == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED ||
                   l->work_rc == LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    return by_host ? "the host does not accept it" : ssh_lib_error(l);
}

/* Notes the failure; the next method is tried. */
static void note_failure(struct ssh *l, const char *why)
{
    const struct method *m = &methods[l->method];
    bool secret = m->attempt == try_password;
    strbuf_printf(&l->tried, "%s%s%s%s: %s", l->tried.len ? "; " : "", m->what, secret ? "" : " ",
                  secret ? "" : setting(l, m), why);
    l->method++;
}

static enum ssh_step after_work(struct ssh *l)
{
    l->work_done = false;
    if (l->work_rc == 0) {
        ssh_file_drop(l);
        return SSH_NEXT;
    }
    if (l->work_rc == LIBSSH2_ERROR_EAGAIN)
        return SSH_WAIT;
    if (l->work_rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || l->work_rc == LIBSSH2_ERROR_SOCKET_SEND ||
        l->work_rc == LIBSSH2_ERROR_SOCKET_RECV)
        return ssh_fail_lib(l, l->work_rc, "the connection broke");
    note_failure(l, why_not(l));
    ssh_file_drop(l);
    return SSH_FAILED;
}

static bool usable(const struct ssh *l, const struct method *m)
{
    return setting(l, m) && strstr(l->methods, m->wire);
}

static enum ssh_step list_methods(struct ssh *l)
{
    const char *list = libssh2_userauth_list(l->session, l->user, (unsigned)strlen(l->user));
    if (list) {
        free(l->methods);
        l->methods = xstrdup(list);
        l->method_tried = true;
        return SSH_WAIT;
    }
    if (libssh2_userauth_authenticated(l->session))
        return SSH_NEXT; /* the host asks for no authentication */
    int rc = libssh2_session_last_errno(l->session);
    return rc == LIBSSH2_ERROR_EAGAIN ? SSH_WAIT : ssh_fail_lib(l, rc, "asking how");
}

enum ssh_step ssh_step_login(struct ssh *l)
{
    if (!l->method_tried) {
        enum ssh_step s = list_methods(l);
        if (s != SSH_WAIT || !l->method_tried)
            return s;
    }
    if (l->work_done) {
        enum ssh_step s = after_work(l);
        if (s != SSH_FAILED || l->link.why.code != ERR_NONE)
            return s;
    }
    if (l->file && !key_of(l->file)->text) {
        note_failure(l, key_of(l->file)->why.msg);
        ssh_file_drop(l);
    }
    while (l->method < N_METHODS && !usable(l, &methods[l->method]))
        l->method++;
    if (l->method == N_METHODS)
        return refused(l);
    if (methods[l->method].attempt == try_identity && !l->file)
        return ask_key(l);
    l->job = work_login;
    return SSH_WORK;
}

void ssh_login_free(struct ssh *l)
{
    if (l->keys) {
        libssh2_agent_disconnect(l->keys);
        libssh2_agent_free(l->keys);
    }
    strbuf_free(&l->tried);
    free(l->methods);
}
