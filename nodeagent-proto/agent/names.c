/* SPDX-License-Identifier: MIT
 *
 * Writes the record of a number and then a symbolic link to it, named by the uid, so a lookup by
 * uid finds only complete records. Removes both again, unless the link leads to another account's
 * record. Works only as root.
 */
#include "nodeagent-proto/agent/names.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"

#define RECORDS      "/run/userdb"
#define NSSWITCH     "/etc/nsswitch.conf"
#define NSSWITCH_MAX 65536
#define RECORD_MAX   8192 /* in bytes; a longer record is always written again */

/* Whether the C library reads user records when a program looks up an account. */
static bool are_read(void)
{
    char *text, *lines = NULL;
    bool read = false;
    if (fs_read(NSSWITCH, NSSWITCH_MAX, &text, NULL, NULL) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
        char *words = NULL, *word;
        line[strcspn(line, "#")] = '\0';
        word = strtok_r(line, " \t", &words);
        if (!word || strcmp(word, "passwd:") != 0)
            continue;
        while ((word = strtok_r(NULL, " \t", &words)))
            read = read || strcmp(word, "systemd") == 0;
    }
    free(text);
    return read;
}

char *name_of(uid_t uid)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "batchai-%u", (unsigned)uid);
    return strbuf_take(&b);
}

struct paths {
    char file[64]; /* the record's path relative to RECORDS, for the link */
    char record[96], by_number[96];
};

static void find_paths(uid_t number, uid_t uid, struct paths *out)
{
    char *name = name_of(number);
    snprintf(out->file, sizeof out->file, "%s.user", name);
    snprintf(out->record, sizeof out->record, RECORDS "/%s", out->file);
    snprintf(out->by_number, sizeof out->by_number, RECORDS "/%u.user", (unsigned)uid);
    free(name);
}

static int add_text(const char *text, size_t n, void *to)
{
    strbuf_add(to, text, n);
    return 0;
}

/* Writes the user record as JSON. It marks the account as locked, so that nobody can log in with
 * it. False: `home` is not UTF-8. */
static bool put_record(struct strbuf *to, uid_t number, uid_t uid, gid_t gid, const char *home,
                       const char *shell)
{
    char *name = name_of(number);
    json_t *record =
        json_pack("{s:s, s:I, s:I, s:s, s:s, s:b}", "userName", name, "uid", (json_int_t)uid, "gid",
                  (json_int_t)gid, "homeDirectory", home, "shell", shell, "locked", 1);
    bool is_text = record && json_dump_callback(record, add_text, to, JSON_COMPACT) == 0;
    json_decref(record);
    free(name);
    return is_text;
}

/* True: the link leads to this record; false: the uid belongs to another account now. */
static bool is_linked(const struct paths *p)
{
    char link[sizeof p->file];
    ssize_t to = readlink(p->by_number, link, sizeof link);
    return to == (ssize_t)strlen(p->file) && memcmp(link, p->file, (size_t)to) == 0;
}

/* True: the record exists with this text. This is frequent, because name_give() is called for each
 * task of an account. */
static bool is_given(const struct paths *p, const struct strbuf *text)
{
    char now[RECORD_MAX];
    int fd = is_linked(p) ? open(p->record, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, now, sizeof now) : -1;
    if (fd >= 0)
        close(fd);
    return n >= 0 && (size_t)n == text->len && memcmp(now, text->s, text->len) == 0;
}

/* Writes the record at its place, without a temporary file, so that a process that is killed
 * meanwhile leaves only files that name_take_back() removes. Makes the link by number last, so that
 * lookups by number find only complete records. */
void name_give(uid_t number, uid_t uid, gid_t gid, const char *home, const char *shell)
{
    struct strbuf text = STRBUF_INIT;
    struct paths p = {0};
    find_paths(number, uid, &p);
    if (!put_record(&text, number, uid, gid, home, shell) || is_given(&p, &text) || !are_read()) {
        strbuf_free(&text);
        return;
    }
    (void)mkdir(RECORDS, 0755);
    (void)unlink(p.record);
    int fd = open(p.record, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0 && fchmod(fd, 0644) == 0 && fs_write_all(fd, text.s, text.len) == 0) {
        (void)unlink(p.by_number);
        int ignored = symlink(p.file, p.by_number);
        (void)ignored;
    }
    if (fd >= 0)
        close(fd);
    strbuf_free(&text);
}

/* Returns the uid in the record, or `number` if the record contains no uid. */
static uid_t uid_in(const char *record, uid_t number)
{
    char *text = NULL;
    if (fs_read(record, RECORD_MAX, &text, NULL, NULL) < 0)
        return number;
    json_t *read = json_loads(text, 0, NULL);
    const json_t *uid = json_object_get(read, "uid");
    uid_t out = json_is_integer(uid) ? (uid_t)json_integer_value(uid) : number;
    json_decref(read);
    free(text);
    return out;
}

void name_take_back(uid_t number)
{
    struct paths p = {0};
    find_paths(number, number, &p);
    find_paths(number, uid_in(p.record, number), &p);
    if (is_linked(&p))
        (void)unlink(p.by_number);
    (void)unlink(p.record);
}
