/* SPDX-License-Identifier: MIT
 *
 * The files that sshd reads for logins on a local node: host key, configuration, keys and
 * accounts.
 */
#include <crypt.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/link/identity.h"
#include "nodeagent-proto/login/login_priv.h"

#define ETC_MAX (1 << 20)

int login_write_in(const char *dir, const char *name, const struct strbuf *text, struct err *e)
{
    char *path = fs_join(dir, name);
    fs_remove_leftovers(path);
    int rc = fs_write_atomic(path, text->s ? text->s : "", text->len, 0600, e);
    free(path);
    return rc;
}

int login_make_host_key(const struct login_files *f, struct err *e)
{
    char *path = fs_join(f->dir, "host_key");
    int rc = access(path, F_OK) == 0 ? 0 : node_identity_create(path, "batchaid node", NULL, e);
    free(path);
    return rc;
}

static int write_config(const struct login_files *f, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "HostKey \"%s/host_key\"\nAuthorizedKeysFile \"%s/authorized_keys\"\n",
                  f->dir, f->dir);
    strbuf_printf(&b, "AllowUsers \"%s\"\nPasswordAuthentication %s\n", f->name,
                  f->password ? "yes" : "no");
    strbuf_puts(&b, "PermitRootLogin yes\nKbdInteractiveAuthentication no\nUsePAM no\n"
                    "StrictModes no\nPidFile none\nPrintMotd no\nPrintLastLog no\n"
                    "X11Forwarding no\nSubsystem sftp internal-sftp\n");
    int rc = login_write_in(f->dir, "sshd_config", &b, e);
    strbuf_free(&b);
    return rc;
}

static int write_key(const struct login_files *f, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    if (f->key)
        strbuf_printf(&b, "%s\n", f->key);
    int rc = login_write_in(f->dir, "authorized_keys", &b, e);
    strbuf_free(&b);
    return rc;
}

/* Hashes the password; without a password, the result is "*", which no password matches. */
static int hash(const char *password, struct strbuf *out, struct err *e)
{
    if (!password) {
        strbuf_puts(out, "*");
        return 0;
    }
    char salt[CRYPT_GENSALT_OUTPUT_SIZE];
    struct crypt_data *data = xcalloc(1, sizeof *data);
    const char *hashed = NULL;
    if (crypt_gensalt_rn("$6$", 0, NULL, 0, salt, sizeof salt))
        hashed = crypt_r(password, salt, data);
    if (hashed && *hashed != '*')
        strbuf_puts(out, hashed);
    int rc = out->len ? 0 : err_errno(e, ERR_NODE, "cannot hash the password");
    explicit_bzero(data, sizeof *data);
    free(data);
    return rc;
}

/* The login account comes first, so that it hides an account of the machine with this name. Then
 * the accounts of the machine follow, because sshd also looks up the account that it runs as. */
int login_write_accounts(const struct login_files *f, struct err *e)
{
    struct strbuf b = STRBUF_INIT, hashed = STRBUF_INIT;
    char *text = NULL;
    size_t n = 0;
    int rc = hash(f->password, &hashed, e);
    if (rc == 0)
        rc = fs_read("/etc/passwd", ETC_MAX, &text, &n, e);
    if (rc == 0) {
        strbuf_printf(&b, "%s:%s:%d:%d::%s:%s\n", f->name, hashed.s, (int)getuid(), (int)getgid(),
                      f->home, access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
        strbuf_add(&b, text, n);
        rc = login_write_in(f->dir, "passwd", &b, e);
    }
    free(text);
    text = NULL;
    if (rc == 0)
        rc = fs_read("/etc/group", ETC_MAX, &text, &n, e);
    if (rc == 0) {
        strbuf_reset(&b);
        strbuf_add(&b, text, n);
        rc = login_write_in(f->dir, "group", &b, e);
    }
    free(text);
    strbuf_free(&hashed);
    strbuf_free(&b);
    return rc;
}

/* An sshd that runs as root needs this empty folder (privilege separation), and refuses all logins
 * without it. On Debian, the folder is made by the sshd service, not by the installation of the
 * package. */
int login_make_empty_folder(struct err *e)
{
    if (geteuid() != 0 || mkdir(SSHD_EMPTY_DIR, 0755) == 0 || errno == EEXIST)
        return 0;
    return err_errno(e, ERR_NODE, "cannot make %s, which sshd needs", SSHD_EMPTY_DIR);
}

int login_files_write(const struct login_files *f, struct err *e)
{
    if (login_make_empty_folder(e) < 0)
        return -1;
    if (fs_mkdirs(f->dir, 0700, e) < 0 || fs_mkdirs(f->home, 0700, e) < 0)
        return -1;
    if (login_make_host_key(f, e) < 0 || write_config(f, e) < 0 || write_key(f, e) < 0)
        return -1;
    return login_write_accounts(f, e);
}
