/* SPDX-License-Identifier: MIT
 *
 * Who the machine is (its key, pinned in a known_hosts file), and who we are (key file, ssh-agent,
 * password: in this order, each if given and accepted by the machine).
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

/* Ours first, unless the file has another for this host: then that type is asked for. */
#define HOST_KEY_TYPES "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521"

#define FINGERPRINT_LEN 64

/* ---- known hosts ---- */

static LIBSSH2_KNOWNHOSTS *read_known(struct ssh *l)
{
    LIBSSH2_KNOWNHOSTS *known = libssh2_knownhost_init(l->session);
    if (!known)
        return NULL;
    if (access(l->known_hosts, F_OK) == 0 &&
        libssh2_knownhost_readfile(known, l->known_hosts, LIBSSH2_KNOWNHOST_FILE_OPENSSH) < 0) {
        (void)ssh_fail(l, ERR_NODE, "repair the file; each line is: host type key",
                       "cannot read %s: %s", l->known_hosts, ssh_lib_error(l));
        libssh2_knownhost_free(known);
        return NULL;
    }
    return known;
}

/* "host", or "[host]:port" where the port is another than 22; as OpenSSH writes it. */
static char *known_name(const struct ssh *l)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, l->port == 22 ? "%s" : "[%s]:%d", l->host, l->port);
    return strbuf_take(&b);
}

static void fingerprint(char out[FINGERPRINT_LEN], const void *key, size_t n)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[FINGERPRINT_LEN - 8];
    crypto_hash_sha256(hash, key, n);
    sodium_bin2base64(text, sizeof text, hash, sizeof hash,
                      sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
    snprintf(out, FINGERPRINT_LEN, "SHA256:%s", text);
}

static void known_fingerprint(char out[FINGERPRINT_LEN], const struct libssh2_knownhost *host)
{
    size_t n = 0, cap = host && host->key ? strlen(host->key) : 0;
    unsigned char *key = xcalloc(1, cap + 1);
    if (cap == 0 || sodium_base642bin(key, cap, host->key, cap, "\r\n", &n, NULL,
                                      sodium_base64_VARIANT_ORIGINAL) < 0)
        snprintf(out, FINGERPRINT_LEN, "one that cannot be read");
    else
        fingerprint(out, key, n);
    free(key);
}

static const char *type_name(int mask)
{
    switch (mask & LIBSSH2_KNOWNHOST_KEY_MASK) {
    case LIBSSH2_KNOWNHOST_KEY_ED25519:
        return "ssh-ed25519";
    case LIBSSH2_KNOWNHOST_KEY_ECDSA_256:
        return "ecdsa-sha2-nistp256";
    case LIBSSH2_KNOWNHOST_KEY_ECDSA_384:
        return "ecdsa-sha2-nistp384";
    case LIBSSH2_KNOWNHOST_KEY_ECDSA_521:
        return "ecdsa-sha2-nistp521";
    case LIBSSH2_KNOWNHOST_KEY_SSHRSA:
        return "ssh-rsa";
    }
    return NULL;
}

/* A machine has keys of several types: the handshake must ask for one that was recorded, or an
 * honest machine would look like a changed one. */
static void prefer_known_types(struct ssh *l, LIBSSH2_KNOWNHOSTS *known)
{
    struct libssh2_knownhost *host = NULL;
    struct strbuf types = STRBUF_INIT;
    char *name = known_name(l);
    while (libssh2_knownhost_get(known, &host, host) == 0) {
        const char *type = type_name(host->typemask);
        if (type && host->name && strcmp(host->name, name) == 0)
            strbuf_printf(&types, "%s,", type);
    }
    strbuf_puts(&types, HOST_KEY_TYPES);
    libssh2_session_method_pref(l->session, LIBSSH2_METHOD_HOSTKEY, types.s);
    strbuf_free(&types);
    free(name);
}

/* ---- handshake ---- */

static enum ssh_step prepare_handshake(struct ssh *l)
{
    LIBSSH2_KNOWNHOSTS *known = read_known(l);
    if (!known)
        return SSH_FAILED;
    prefer_known_types(l, known);
    libssh2_knownhost_free(known);
    l->methods = xstrdup(""); /* marks that this was done */
    return SSH_NEXT;
}

enum ssh_step ssh_step_handshake(struct ssh *l)
{
    if (!l->methods && prepare_handshake(l) == SSH_FAILED)
        return SSH_FAILED;
    int rc = libssh2_session_handshake(l->session, l->fd); /* which it only tells our callbacks */
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return SSH_WAIT;
    if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE)
        return ssh_fail(l, ERR_NODE,
                        "the server must have an ed25519 or ECDSA host key and current algorithms",
                        "no agreement on algorithms: %s", ssh_lib_error(l));
    return rc < 0 ? ssh_fail_lib(l, rc, "failed") : SSH_NEXT;
}

/* ---- host key ---- */

static int append_line(const char *path, const char *line, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = write(fd, line, n) == (ssize_t)n && fsync(fd) == 0 ? 0 : -1, saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

static enum ssh_step record(struct ssh *l, const char *key, size_t n, int type, const char *print)
{
    const char *name = type_name((type + 1) << LIBSSH2_KNOWNHOST_KEY_SHIFT);
    size_t cap = sodium_base64_ENCODED_LEN(n, sodium_base64_VARIANT_ORIGINAL);
    char *text = xcalloc(1, cap), *host = known_name(l);
    struct strbuf line = STRBUF_INIT;
    enum ssh_step s = SSH_NEXT;
    sodium_bin2base64(text, cap, (const unsigned char *)key, n, sodium_base64_VARIANT_ORIGINAL);
    strbuf_printf(&line, "%s %s %s\n", host, name ? name : "unknown", text);
    if (!name)
        s = ssh_fail(l, ERR_NODE, "give the machine an ed25519 host key",
                     "its host key is of an unknown type");
    else if (!l->look && append_line(l->known_hosts, line.s, line.len) < 0)
        s = ssh_fail(l, ERR_NODE, "the daemon must be able to write it", "cannot write %s: %s",
                     l->known_hosts, strerror(errno));
    else if (!l->look)
        LOG_INFO(l->link.log, "node.host-key-recorded", LF_STR("node", l->name),
                 LF_STR("fingerprint", print));
    strbuf_free(&line);
    free(text);
    free(host);
    return s;
}

static enum ssh_step judge(struct ssh *l, int verdict, const struct libssh2_knownhost *old,
                           const char *print)
{
    char recorded[FINGERPRINT_LEN], *name;
    struct strbuf remedy = STRBUF_INIT;
    switch (verdict) {
    case LIBSSH2_KNOWNHOST_CHECK_MATCH:
        return SSH_NEXT;
    case LIBSSH2_KNOWNHOST_CHECK_NOTFOUND:
        strbuf_printf(
            &remedy,
            "if the machine itself shows this fingerprint, add its key: ssh-keyscan -p %d "
            "%s >> %s; or let first use be recorded",
            l->port, l->host, l->known_hosts);
        (void)ssh_fail(l, ERR_NODE, remedy.s, "its key %s is not in %s", print, l->known_hosts);
        strbuf_free(&remedy);
        return SSH_FAILED;
    case LIBSSH2_KNOWNHOST_CHECK_MISMATCH:
        known_fingerprint(recorded, old);
        name = known_name(l);
        strbuf_printf(&remedy,
                      "somebody may be in between; if the machine was made anew, remove its line "
                      "from %s: ssh-keygen -R '%s' -f %s",
                      l->known_hosts, name, l->known_hosts);
        free(name);
        (void)ssh_fail(l, ERR_NODE, remedy.s, "it has changed: %s was recorded, the host shows %s",
                       recorded, print);
        strbuf_free(&remedy);
        return SSH_FAILED;
    }
    return ssh_fail(l, ERR_NODE, NULL, "cannot check it: %s", ssh_lib_error(l));
}

enum ssh_step ssh_step_host_key(struct ssh *l)
{
    char print[FINGERPRINT_LEN];
    struct libssh2_knownhost *old = NULL;
    size_t n;
    int type;
    const char *key = libssh2_session_hostkey(l->session, &n, &type);
    LIBSSH2_KNOWNHOSTS *known = key ? read_known(l) : NULL;
    if (!known)
        return ssh_fail(l, ERR_NODE, NULL, "the machine showed no key"); /* or was said already */
    fingerprint(print, key, n);
    /* Without a key type: a key of another type than the one recorded is a changed key. */
    /* The name is made here: given a port, libssh2 would take the key of another port's server. */
    char *name = known_name(l);
    int verdict = libssh2_knownhost_checkp(
        known, name, -1, key, n, LIBSSH2_KNOWNHOST_TYPE_PLAIN | LIBSSH2_KNOWNHOST_KEYENC_RAW, &old);
    free(name);
    l->link.new_host = verdict == LIBSSH2_KNOWNHOST_CHECK_NOTFOUND;
    enum ssh_step s = verdict == LIBSSH2_KNOWNHOST_CHECK_NOTFOUND && !l->strict
                          ? record(l, key, n, type, print)
                          : judge(l, verdict, old, print);
    libssh2_knownhost_free(known);
    return s;
}

/* ---- login: these run on the pool ---- */

static int try_identity(struct ssh *l)
{
    return libssh2_userauth_publickey_fromfile_ex(l->session, l->user, (unsigned)strlen(l->user),
                                                  NULL, l->identity, l->passphrase);
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

/* Each key that the ssh-agent holds, until one is accepted. */
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
    size_t setting;   /* offset of the text that turns it on */
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
    l->work_rc = methods[l->method].attempt(l);
}

/* ---- login: on the loop ---- */

static enum ssh_step refused(struct ssh *l)
{
    return ssh_fail(l, ERR_NODE,
                    "check the user, the key or password, and authorized_keys on the machine "
                    "(ssh-copy-id puts a key there)",
                    "refused for user '%s': %s; the host accepts %s", l->user,
                    l->tried.len ? l->tried.s : "nothing to try", l->methods);
}

/* libssh2 calls a key that the host does not know an invalid combination. */
static const char *why_not(struct ssh *l)
{
    bool by_host = l->work_rc == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED ||
                   l->work_rc == LIBSSH2_ERROR_AUTHENTICATION_FAILED;
    return by_host ? "the host does not accept it" : ssh_lib_error(l);
}

static void note_failure(struct ssh *l)
{
    const struct method *m = &methods[l->method];
    bool secret = m->attempt == try_password;
    strbuf_printf(&l->tried, "%s%s%s%s: %s", l->tried.len ? "; " : "", m->what, secret ? "" : " ",
                  secret ? "" : setting(l, m), why_not(l));
}

static enum ssh_step after_work(struct ssh *l)
{
    l->work_done = false;
    if (l->work_rc == 0)
        return SSH_NEXT;
    if (l->work_rc == LIBSSH2_ERROR_EAGAIN)
        return SSH_WAIT;
    if (l->work_rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || l->work_rc == LIBSSH2_ERROR_SOCKET_SEND ||
        l->work_rc == LIBSSH2_ERROR_SOCKET_RECV)
        return ssh_fail_lib(l, l->work_rc, "the connection broke");
    note_failure(l);
    l->method++;
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
        return SSH_NEXT; /* a host that asks for nothing */
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
    while (l->method < N_METHODS && !usable(l, &methods[l->method]))
        l->method++;
    if (l->method == N_METHODS)
        return refused(l);
    ssh_work(l, work_login);
    return SSH_WAIT;
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
