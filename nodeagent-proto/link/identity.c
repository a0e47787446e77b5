/* SPDX-License-Identifier: MIT
 *
 * Makes keys with libsodium rather than by running ssh-keygen: the daemon's machine then needs no
 * OpenSSH client, nothing blocks, and libsodium's secret key (seed, then public key) has the layout
 * of the file. The format: PROTOCOL.key of OpenSSH, cipher and kdf "none".
 */
#include "nodeagent-proto/link/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define KEY_TYPE   "ssh-ed25519"
#define LINE_CHARS 70U /* line length of base64, as ssh-keygen writes it */
#define BLOCK      8U  /* bytes; the private part is padded to a multiple of BLOCK */

static void put_u32(struct strbuf *b, uint32_t v)
{
    unsigned char bytes[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                              (unsigned char)(v >> 8), (unsigned char)v};
    strbuf_add(b, bytes, sizeof bytes);
}

static void put_string(struct strbuf *b, const void *data, size_t n)
{
    put_u32(b, (uint32_t)n);
    strbuf_add(b, data, n);
}

static void put_public(struct strbuf *b, const unsigned char *public_key)
{
    put_string(b, KEY_TYPE, strlen(KEY_TYPE));
    put_string(b, public_key, crypto_sign_PUBLICKEYBYTES);
}

static void put_private(struct strbuf *b, const unsigned char *public_key,
                        const unsigned char *secret_key, const char *comment)
{
    uint32_t check = randombytes_random(); /* stored twice; after decryption, two equal values prove
                                              the passphrase */
    put_u32(b, check);
    put_u32(b, check);
    put_public(b, public_key);
    put_string(b, secret_key, crypto_sign_SECRETKEYBYTES);
    put_string(b, comment, strlen(comment));
    for (char pad = 1; b->len % BLOCK; pad++)
        strbuf_putc(b, pad);
}

static void put_base64(struct strbuf *out, const struct strbuf *data, size_t line)
{
    size_t cap = sodium_base64_ENCODED_LEN(data->len, sodium_base64_VARIANT_ORIGINAL);
    char *text = xcalloc(1, cap);
    sodium_bin2base64(text, cap, (const unsigned char *)data->s, data->len,
                      sodium_base64_VARIANT_ORIGINAL);
    for (size_t at = 0, n = strlen(text); at < n; at += line) {
        strbuf_add(out, text + at, n - at < line ? n - at : line);
        if (line < n)
            strbuf_putc(out, '\n');
    }
    sodium_memzero(text, cap);
    free(text);
}

static void wipe(struct strbuf *b)
{
    if (b->s)
        sodium_memzero(b->s, b->cap);
    strbuf_free(b);
}

static void private_file(struct strbuf *out, const unsigned char *public_key,
                         const unsigned char *secret_key, const char *comment)
{
    static const char magic[] = "openssh-key-v1"; /* with its NUL */
    struct strbuf blob = STRBUF_INIT, public_part = STRBUF_INIT, private_part = STRBUF_INIT;
    put_public(&public_part, public_key);
    put_private(&private_part, public_key, secret_key, comment);
    strbuf_add(&blob, magic, sizeof magic);
    put_string(&blob, "none", 4);
    put_string(&blob, "none", 4);
    put_string(&blob, "", 0);
    put_u32(&blob, 1);
    put_string(&blob, public_part.s, public_part.len);
    put_string(&blob, private_part.s, private_part.len);
    strbuf_puts(out, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    put_base64(out, &blob, LINE_CHARS);
    strbuf_puts(out, "-----END OPENSSH PRIVATE KEY-----\n");
    wipe(&private_part);
    wipe(&blob);
    strbuf_free(&public_part);
}

static void public_file(struct strbuf *out, const unsigned char *public_key, const char *comment)
{
    struct strbuf blob = STRBUF_INIT;
    put_public(&blob, public_key);
    strbuf_puts(out, KEY_TYPE " ");
    put_base64(out, &blob, SIZE_MAX);
    strbuf_printf(out, " %s\n", comment);
    strbuf_free(&blob);
}

/* Never replaces a file: it may be the only key to the machines. */
static int write_new(const char *path, const struct strbuf *text, mode_t mode, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return err_set(e, ERR_CONFLICT, path, "%s exists; move it away to make a new key", path);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot make %s", path);
    bool ok = write(fd, text->s, text->len) == (ssize_t)text->len && fsync(fd) == 0;
    int saved = errno;
    close(fd);
    if (ok)
        return 0;
    unlink(path);
    errno = saved;
    return err_errno(e, ERR_IO, "cannot write %s", path);
}

static int write_pair(const char *path, const struct strbuf *key, const struct strbuf *line,
                      struct err *e)
{
    struct strbuf pub = STRBUF_INIT;
    strbuf_printf(&pub, "%s.pub", path);
    int rc = write_new(path, key, 0600, e);
    if (rc == 0 && (rc = write_new(pub.s, line, 0644, e)) < 0)
        unlink(path);
    strbuf_free(&pub);
    return rc;
}

static int make_pair(const char *comment, struct strbuf *key, struct strbuf *line, struct err *e)
{
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    if (strpbrk(comment, "\r\n"))
        return err_set(e, ERR_INVALID_PROPERTY, "comment", "a key's comment is one line");
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, NULL, "no source of randomness to make a key from");
    crypto_sign_keypair(public_key, secret_key);
    private_file(key, public_key, secret_key, comment);
    public_file(line, public_key, comment);
    sodium_memzero(secret_key, sizeof secret_key);
    return 0;
}

int node_identity_create(const char *path, const char *comment, char **public_line, struct err *e)
{
    struct strbuf key = STRBUF_INIT, line = STRBUF_INIT;
    int rc = make_pair(comment, &key, &line, e);
    if (rc == 0)
        rc = write_pair(path, &key, &line, e);
    if (rc == 0 && public_line)
        *public_line = strbuf_take(&line);
    wipe(&key);
    strbuf_free(&line);
    return rc;
}

int node_identity_make(const char *comment, char **private_text, char **public_line, struct err *e)
{
    struct strbuf key = STRBUF_INIT, line = STRBUF_INIT;
    if (make_pair(comment, &key, &line, e) < 0)
        return -1;
    *private_text = strbuf_take(&key);
    *public_line = strbuf_take(&line);
    return 0;
}
