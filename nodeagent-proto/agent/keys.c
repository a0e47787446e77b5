/* SPDX-License-Identifier: MIT
 *
 * Writes the files in .ssh of an account, with the account's rights: authorized_keys and the key
 * pair. ssh-keygen computes the public key of the pair. A file is replaced as a whole. Memory with
 * keys is overwritten after use.
 */
#include "nodeagent-proto/agent/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/program.h"

static void wipe(struct strbuf *b)
{
    if (b->s)
        explicit_bzero(b->s, b->cap);
    strbuf_free(b);
}

/* OpenSSH requires a newline after the last line, and accepts only "\n" as the end of a line. */
static void add_key(struct strbuf *out, const char *private_key)
{
    for (const char *p = private_key; *p; p++)
        if (*p != '\r')
            strbuf_putc(out, *p);
    if (out->len > 0 && out->s[out->len - 1] != '\n')
        strbuf_putc(out, '\n');
}

/* Appends the line with the public key of the private key. */
static int find_public(const struct account *a, const char *private_key, struct strbuf *out,
                       struct err *e)
{
    const char *argv[] = {"ssh-keygen", "-y", "-P", "", "-f", "/dev/stdin", NULL};
    struct strbuf said = STRBUF_INIT;
    int rc = program_run(argv, private_key, &said, e);
    if (rc == 0 && said.len > 0)
        strbuf_printf(out, "%s\n", said.s);
    else if (rc >= 0)
        rc = err_set(e, ERR_INVALID_PROPERTY, "ssh_private_key",
                     "the private key of %s cannot be used: ssh-keygen ended with exit code %d: "
                     "%.300s",
                     a->name, rc, said.len ? said.s : "");
    strbuf_free(&said);
    return rc;
}

static int write_in(const char *dir, const char *name, const struct strbuf *text, mode_t mode,
                    struct err *e)
{
    char *path = fs_join(dir, name);
    int rc = file_replace(path, text->s, text->len, mode, e);
    free(path);
    return rc;
}

static int remove_in(const char *dir, const char *name, struct err *e)
{
    char *path = fs_join(dir, name);
    int rc = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
                 ? 0
                 : err_errno(e, ERR_IO, "cannot remove %s", path);
    free(path);
    return rc;
}

static int write_all(const char *dir, const struct strbuf *lines, const struct strbuf *key,
                     const struct strbuf *public_half, struct err *e)
{
    static const char authorized[] = "authorized_keys";
    if (!lines->len)
        return remove_in(dir, authorized, e);
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_errno(e, ERR_IO, "cannot make %s", dir);
    if (write_in(dir, authorized, lines, 0600, e) < 0)
        return -1;
    return !key->len || (write_in(dir, "id_rsa", key, 0600, e) == 0 &&
                         write_in(dir, "id_rsa.pub", public_half, 0644, e) == 0)
               ? 0
               : -1;
}

int keys_set(const struct account *a, const char *public_line, const char *private_key,
             struct err *e)
{
    struct strbuf key = STRBUF_INIT, public_half = STRBUF_INIT, lines = STRBUF_INIT;
    char *dir = fs_join(a->home, ".ssh");
    int rc = 0;
    if (private_key) {
        add_key(&key, private_key);
        rc = find_public(a, key.len ? key.s : "", &public_half, e);
    }
    if (public_line)
        strbuf_printf(&lines, "%s\n", public_line);
    if (public_half.len)
        strbuf_puts(&lines, public_half.s);
    if (rc == 0)
        rc = account_assume(a, e);
    if (rc == 0) {
        rc = write_all(dir, &lines, &key, &public_half, e);
        account_resume();
    }
    free(dir);
    strbuf_free(&lines);
    strbuf_free(&public_half);
    wipe(&key);
    return rc < 0 ? -1 : 0;
}
