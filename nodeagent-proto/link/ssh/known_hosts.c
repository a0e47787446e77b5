/* SPDX-License-Identifier: MIT
 *
 * libssh2 reads the known_hosts file and compares the host key with it, in a separate session that
 * never connects. A new key is appended under a lock of the file, because other daemons and ssh may
 * use the file. Runs on a worker: fills in its `struct known_hosts`, and owns nothing else.
 */
#include "nodeagent-proto/link/ssh/known_hosts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

static void failed(struct known_hosts *k, const char *remedy, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void failed(struct known_hosts *k, const char *remedy, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->cause, sizeof k->cause, fmt, ap);
    va_end(ap);
    k->remedy = remedy;
    k->verdict = KNOWN_FAILED;
}

static void fingerprint(char out[FINGERPRINT_LEN], const void *key, size_t n)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[FINGERPRINT_LEN - 8];
    static_assert(sizeof text >= sodium_base64_ENCODED_LEN(
                                     sizeof hash, sodium_base64_VARIANT_ORIGINAL_NO_PADDING),
                  "a fingerprint has room");
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
        snprintf(out, FINGERPRINT_LEN, "an unreadable key");
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

/* ---- reading ---- */

static void list_types(struct known_hosts *k, LIBSSH2_KNOWNHOSTS *known)
{
    struct libssh2_knownhost *host = NULL;
    struct strbuf types = STRBUF_INIT;
    while (libssh2_knownhost_get(known, &host, host) == 0) {
        const char *type = type_name(host->typemask);
        if (type && host->name && strcmp(host->name, k->name) == 0)
            strbuf_printf(&types, "%s,", type);
    }
    free(k->types);
    k->types = strbuf_take(&types);
}

/* The name is passed without a separate port: given a port, libssh2 would accept the key of a
 * server on another port. No key type is passed, so that a key of another type than the recorded
 * key counts as a changed key. */
static void judge(struct known_hosts *k, LIBSSH2_KNOWNHOSTS *known)
{
    struct libssh2_knownhost *old = NULL;
    switch (libssh2_knownhost_checkp(known, k->name, -1, k->key, k->n_key,
                                     LIBSSH2_KNOWNHOST_TYPE_PLAIN | LIBSSH2_KNOWNHOST_KEYENC_RAW,
                                     &old)) {
    case LIBSSH2_KNOWNHOST_CHECK_MATCH:
        k->verdict = KNOWN_MATCH;
        break;
    case LIBSSH2_KNOWNHOST_CHECK_NOTFOUND:
        k->verdict = KNOWN_NEW;
        break;
    case LIBSSH2_KNOWNHOST_CHECK_MISMATCH:
        k->verdict = KNOWN_CHANGED;
        known_fingerprint(k->old, old);
        break;
    default:
        failed(k, NULL, "cannot check it against %s", k->path);
    }
}

static void read_file(struct known_hosts *k, LIBSSH2_SESSION *session)
{
    LIBSSH2_KNOWNHOSTS *known = libssh2_knownhost_init(session);
    char *why = NULL;
    k->verdict = KNOWN_NEW;
    if (!known) {
        failed(k, NULL, "no memory to read %s", k->path);
        return;
    }
    if (access(k->path, F_OK) == 0 &&
        libssh2_knownhost_readfile(known, k->path, LIBSSH2_KNOWNHOST_FILE_OPENSSH) < 0) {
        libssh2_session_last_error(session, &why, NULL, 0);
        failed(k, "repair the file; each line is: host type key", "cannot read %s: %s", k->path,
               why && *why ? why : "no reason given");
    } else if (k->key) {
        judge(k, known);
    } else {
        list_types(k, known);
    }
    libssh2_knownhost_free(known);
}

/* ---- recording ---- */

static int append(int fd, const struct known_hosts *k, const char *type)
{
    size_t cap = sodium_base64_ENCODED_LEN(k->n_key, sodium_base64_VARIANT_ORIGINAL);
    char *text = xcalloc(1, cap);
    struct strbuf line = STRBUF_INIT;
    sodium_bin2base64(text, cap, (const unsigned char *)k->key, k->n_key,
                      sodium_base64_VARIANT_ORIGINAL);
    strbuf_printf(&line, "%s %s %s\n", k->name, type, text);
    int rc = fs_write_all(fd, line.s, line.len) == 0 && fsync(fd) == 0 ? 0 : -1;
    strbuf_free(&line);
    free(text);
    return rc;
}

/* Locks the file and reads it once more, because another link or program may have recorded the key
 * meanwhile. */
static void record(struct known_hosts *k, LIBSSH2_SESSION *session)
{
    static const char remedy[] = "the daemon must be able to write it";
    const char *type = type_name((k->type + 1) << LIBSSH2_KNOWNHOST_KEY_SHIFT);
    if (!type) {
        failed(k, "give the machine an ed25519 host key", "its host key is of an unknown type");
        return;
    }
    int fd = open(k->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        failed(k, remedy, "cannot write %s: %s", k->path, strerror(errno));
    } else {
        read_file(k, session);
        if (k->verdict == KNOWN_NEW && append(fd, k, type) < 0)
            failed(k, remedy, "cannot write %s: %s", k->path, strerror(errno));
        k->recorded = k->verdict == KNOWN_NEW;
    }
    if (fd >= 0)
        close(fd);
}

void known_hosts_look(struct known_hosts *k)
{
    /* needed only for its memory and error texts */
    LIBSSH2_SESSION *session = libssh2_session_init();
    if (!session) {
        failed(k, NULL, "no memory to read %s", k->path);
        return;
    }
    if (k->key)
        fingerprint(k->shown, k->key, k->n_key);
    read_file(k, session);
    if (k->verdict == KNOWN_NEW && k->key && k->record)
        record(k, session);
    libssh2_session_free(session);
}
