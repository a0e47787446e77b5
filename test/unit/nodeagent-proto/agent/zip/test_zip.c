/* SPDX-License-Identifier: MIT
 *
 * Archives, plain and hostile ones, made here byte by byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/zip/zip.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

#define UNIX    (3U << 8)
#define MODE(m) ((uint32_t)(m) << 16)

/* An entry, and what the archive is to say of it that is not so. */
struct one_entry {
    const char *name, *bytes;
    bool deflated;
    uint32_t flags, made_by, attributes;
    uint32_t say_size;             /* 0: its size */
    bool wrong_sum, cut, at_first; /* at_first: its header is that of the first entry */
    uint32_t method;               /* 0: as `deflated` says */
};

struct made {
    struct strbuf text;
    uint32_t header[16];
};

static void u16(struct strbuf *b, uint32_t v)
{
    const char bytes[] = {(char)(v & 0xff), (char)(v >> 8 & 0xff)};
    strbuf_add(b, bytes, sizeof bytes);
}

static void u32(struct strbuf *b, uint32_t v)
{
    u16(b, v & 0xffff);
    u16(b, v >> 16);
}

static size_t pack(const struct one_entry *x, unsigned char *to, size_t room)
{
    size_t n = strlen(x->bytes);
    if (!x->deflated) {
        memcpy(to, x->bytes, n);
        return n;
    }
    z_stream s = {0};
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_in = (unsigned char *)(uintptr_t)x->bytes;
    s.avail_in = (uInt)n;
    s.next_out = to;
    s.avail_out = (uInt)room;
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    size_t packed = room - s.avail_out;
    deflateEnd(&s);
    return packed;
}

static uint32_t sum_of(const struct one_entry *x)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)x->bytes, strlen(x->bytes)) + x->wrong_sum;
}

static uint32_t method_of(const struct one_entry *x)
{
    return x->method ? x->method : x->deflated ? 8 : 0;
}

static uint32_t size_of(const struct one_entry *x)
{
    return x->say_size ? x->say_size : (uint32_t)strlen(x->bytes);
}

static void add_local(struct made *m, const struct one_entry *x, size_t i,
                      const unsigned char *packed, size_t n)
{
    m->header[i] = (uint32_t)m->text.len;
    u32(&m->text, 0x04034b50);
    u16(&m->text, 20);
    u16(&m->text, x->flags);
    u16(&m->text, method_of(x));
    u32(&m->text, 0);
    u32(&m->text, sum_of(x));
    u32(&m->text, (uint32_t)n);
    u32(&m->text, size_of(x));
    u16(&m->text, (uint32_t)strlen(x->name));
    u16(&m->text, 0);
    strbuf_puts(&m->text, x->name);
    strbuf_add(&m->text, (const char *)packed, x->cut ? n / 2 : n);
}

static void add_entry(struct made *m, const struct one_entry *x, size_t i, size_t n)
{
    u32(&m->text, 0x02014b50);
    u16(&m->text, x->made_by | 20);
    u16(&m->text, 20);
    u16(&m->text, x->flags);
    u16(&m->text, method_of(x));
    u32(&m->text, 0);
    u32(&m->text, sum_of(x));
    u32(&m->text, (uint32_t)n);
    u32(&m->text, size_of(x));
    u16(&m->text, (uint32_t)strlen(x->name));
    for (int k = 0; k < 4; k++)
        u16(&m->text, 0);
    u32(&m->text, x->attributes);
    u32(&m->text, m->header[x->at_first ? 0 : i]);
    strbuf_puts(&m->text, x->name);
}

static void make(struct made *m, const struct one_entry *list, size_t n, const char *comment)
{
    static unsigned char packed[1 << 16];
    size_t sizes[16];
    assert_true(n <= 16);
    *m = (struct made){.text = STRBUF_INIT};
    for (size_t i = 0; i < n; i++) {
        sizes[i] = pack(&list[i], packed, sizeof packed);
        if (!list[i].at_first)
            add_local(m, &list[i], i, packed, sizes[i]);
    }
    uint32_t at = (uint32_t)m->text.len;
    for (size_t i = 0; i < n; i++)
        add_entry(m, &list[i], i, sizes[i]);
    uint32_t size = (uint32_t)m->text.len - at;
    u32(&m->text, 0x06054b50);
    u32(&m->text, 0);
    u16(&m->text, (uint32_t)n);
    u16(&m->text, (uint32_t)n);
    u32(&m->text, size);
    u32(&m->text, at);
    u16(&m->text, (uint32_t)strlen(comment));
    strbuf_puts(&m->text, comment);
}

static int file_of(const char *bytes, size_t n)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, bytes, n), 0);
    return fd;
}

static int forget(void *ctx, const void *bytes, size_t n, struct err *e)
{
    (void)ctx, (void)bytes, (void)n, (void)e;
    return 0;
}

/* Reads all of it. 0, or -1 with *e set. */
static int check_bytes(const char *bytes, size_t n, const struct zip_limits *limits, struct err *e)
{
    struct zip *z = NULL;
    int fd = file_of(bytes, n);
    int rc = zip_open(fd, limits, &z, e);
    for (size_t i = 0; rc == 0 && i < zip_entries(z); i++)
        rc = zip_read(z, i, forget, NULL, e);
    zip_close(z);
    close(fd);
    return rc;
}

static void refused(const struct one_entry *list, size_t n, const char *why)
{
    struct made m;
    struct err e = {0};
    make(&m, list, n, "");
    int rc = check_bytes(m.text.s, m.text.len, &zip_usual_limits, &e);
    strbuf_free(&m.text);
    if (rc == 0 || !strstr(e.msg, why))
        fail_msg("'%s' instead of '%s'", rc == 0 ? "accepted" : e.msg, why);
    assert_int_equal(e.code, ERR_INVALID_CONTENT);
}

/* --- plain ones ------------------------------------------------------------------------------- */

struct zip_folder {
    char path[64];
    int fd;
};

static struct zip_folder folder_open(void)
{
    struct zip_folder f;
    memcpy(f.path, "/tmp/batchaid-zip-XXXXXX", sizeof "/tmp/batchaid-zip-XXXXXX");
    assert_non_null(mkdtemp(f.path));
    f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f.fd >= 0);
    return f;
}

static void folder_close(struct zip_folder *f)
{
    struct err e;
    close(f->fd);
    assert_int_equal(fs_remove_tree(f->path, &e), 0);
}

static int unpack(const struct made *m, const struct zip_folder *f, struct err *e)
{
    struct zip *z;
    int fd = file_of(m->text.s, m->text.len);
    int rc = zip_open(fd, &zip_usual_limits, &z, e);
    if (rc == 0)
        rc = zip_unpack(z, f->fd, e);
    zip_close(z);
    close(fd);
    return rc;
}

static void must_be(const struct zip_folder *f, const char *path, const char *bytes, mode_t mode)
{
    struct stat st;
    char *data, *whole = fs_join(f->path, path);
    struct err e;
    assert_int_equal(stat(whole, &st), 0);
    assert_int_equal(st.st_mode & 07777, mode);
    if (bytes) {
        assert_int_equal(fs_read(whole, 1 << 16, &data, NULL, &e), 0);
        assert_string_equal(data, bytes);
        free(data);
    }
    free(whole);
}

TEST(files_directories_and_programs_are_unpacked)
{
    static const struct one_entry list[] = {
        {.name = "bin/", .made_by = UNIX, .attributes = MODE(S_IFDIR | 0700), .bytes = ""},
        {.name = "bin/run",
         .bytes = "#!/bin/sh\n",
         .made_by = UNIX,
         .attributes = MODE(S_IFREG | 0700)},
        {.name = "data/deep/a.txt",
         .bytes = "aaaaaaaaaaaaaaaaaaaaaaaa",
         .deflated = true,
         .made_by = UNIX,
         .attributes = MODE(S_IFREG | 0600)},
        {.name = "win\\my app.exe", .bytes = "x"},
        {.name = "./dot/./b", .bytes = "", .deflated = true},
    };
    struct made m;
    struct err e = {0};
    struct zip_folder f = folder_open();
    make(&m, list, 5, "a comment");
    if (unpack(&m, &f, &e) < 0)
        fail_msg("%s", e.msg);
    must_be(&f, "bin", NULL, 0755);
    must_be(&f, "bin/run", "#!/bin/sh\n", 0555);
    must_be(&f, "data/deep/a.txt", "aaaaaaaaaaaaaaaaaaaaaaaa", 0444);
    must_be(&f, "win/my app.exe", "x", 0555);
    must_be(&f, "dot/b", "", 0555);
    strbuf_free(&m.text);
    folder_close(&f);
}

/* --- hostile ones ----------------------------------------------------------------------------- */

TEST(names_that_lead_out_are_refused)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"../a", "leaves the archive"}, {"a/../../b", "leaves the archive"},
        {"a/..", "leaves the archive"}, {"..\\a", "leaves the archive"},
        {"/etc/passwd", "absolute"},    {"\\a", "absolute"},
        {"C:\\Windows", "absolute"},    {"", "no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct one_entry x = {.name = cases[i].name, .bytes = "x"};
        refused(&x, 1, cases[i].why);
    }
    char longest[300];
    memset(longest, 'a', 256);
    longest[256] = '\0';
    refused(&(struct one_entry){.name = longest, .bytes = ""}, 1, "too long");
}

TEST(links_and_devices_are_refused)
{
    const struct one_entry link = {
        .name = "a", .bytes = "/etc", .made_by = UNIX, .attributes = MODE(S_IFLNK | 0777)};
    const struct one_entry device = {
        .name = "a", .bytes = "", .made_by = UNIX, .attributes = MODE(S_IFCHR | 0600)};
    const struct one_entry fifo = {
        .name = "a", .bytes = "", .made_by = UNIX, .attributes = MODE(S_IFIFO | 0600)};
    refused(&link, 1, "symbolic link");
    refused(&device, 1, "neither a file nor a directory");
    refused(&fifo, 1, "neither a file nor a directory");
}

TEST(a_path_is_there_once)
{
    static const struct one_entry twice[] = {
        {.name = "a/b", .bytes = "1"}, {.name = "c", .bytes = "x"}, {.name = "a\\b", .bytes = "2"}};
    static const struct one_entry below[] = {
        {.name = "a", .bytes = "1"}, {.name = "a-b", .bytes = ""}, {.name = "a/b", .bytes = "2"}};
    static const struct one_entry deeper[] = {{.name = "a/b", .bytes = "1"},
                                              {.name = "a/b/c/d", .bytes = "2"}};
    static const struct one_entry both[] = {{.name = "a", .bytes = "1"},
                                            {.name = "a/", .bytes = ""}};
    refused(twice, 3, "is there twice");
    refused(below, 3, "is below a file");
    refused(deeper, 2, "is below a file");
    refused(both, 2, "is there twice");
}

TEST(sizes_and_sums_must_hold)
{
    const char *text = "some bytes that are there, and there, and there again";
    const uint32_t n = (uint32_t)strlen(text);
    const struct one_entry sum = {.name = "a", .bytes = text, .deflated = true, .wrong_sum = true};
    const struct one_entry larger = {
        .name = "a", .bytes = text, .deflated = true, .say_size = n - 1};
    const struct one_entry shorter = {
        .name = "a", .bytes = text, .deflated = true, .say_size = n + 1};
    const struct one_entry two = {.name = "a", .bytes = text, .say_size = n + 1};
    const struct one_entry cut = {.name = "a", .bytes = text, .deflated = true, .cut = true};
    const struct one_entry secret = {.name = "a", .bytes = text, .flags = 1};
    const struct one_entry method = {.name = "a", .bytes = text, .method = 93};
    const struct one_entry full = {.name = "a/", .bytes = text};
    refused(&sum, 1, "wrong checksum");
    refused(&larger, 1, "wrong checksum");
    refused(&shorter, 1, "shorter than its recorded size");
    refused(&two, 1, "two sizes");
    refused(&cut, 1, "");
    refused(&secret, 1, "encrypted");
    refused(&method, 1, "method 93");
    refused(&full, 1, "directory with bytes");
}

/* One stream of bytes that many entries claim. */
TEST(shared_bytes_are_refused)
{
    static char bytes[1001];
    memset(bytes, 'x', sizeof bytes - 1);
    const struct one_entry list[] = {{.name = "a", .bytes = bytes},
                                     {.name = "b", .bytes = bytes, .at_first = true}};
    refused(list, 2, "shares bytes with another entry");
}

TEST(a_bomb_is_refused_by_what_it_says_and_by_what_it_does)
{
    static const struct zip_limits small = {1000, 2};
    char zeros[2001];
    memset(zeros, '0', 2000);
    zeros[2000] = '\0';
    struct one_entry list[3] = {{.name = "a", .bytes = zeros, .deflated = true},
                                {.name = "b", .bytes = "", .deflated = false},
                                {.name = "c", .bytes = ""}};
    struct made m;
    struct err e = {0};
    make(&m, list, 1, "");
    assert_int_equal(check_bytes(m.text.s, m.text.len, &small, &e), -1);
    assert_says(e.msg, "more than 1000 bytes");
    strbuf_free(&m.text);
    list[0].say_size = 10;
    make(&m, list, 1, "");
    assert_int_equal(check_bytes(m.text.s, m.text.len, &small, &e), -1);
    assert_says(e.msg, "wrong checksum");
    strbuf_free(&m.text);
    list[0] = (struct one_entry){.name = "a", .bytes = ""};
    make(&m, list, 3, "");
    assert_int_equal(check_bytes(m.text.s, m.text.len, &small, &e), -1);
    assert_says(e.msg, "3 entries; it may have 2");
    strbuf_free(&m.text);
    list[0].bytes = list[1].bytes = zeros + 1400;
    make(&m, list, 2, "");
    assert_int_equal(check_bytes(m.text.s, m.text.len, &small, &e), -1);
    strbuf_free(&m.text);
}

TEST(what_is_no_archive_is_refused)
{
    static const char *const texts[] = {"", "PK", "not an archive, but as long as one at least"};
    struct err e = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(check_bytes(texts[i], strlen(texts[i]), &zip_usual_limits, &e), -1);
        assert_says(e.msg, "not a zip file, or is damaged");
    }
}

/* Any byte of an archive may be another one, and it may end anywhere: nothing but an error. */
TEST(damage_is_only_an_error)
{
    static const struct one_entry list[] = {
        {.name = "a/b", .bytes = "aaaaaaaaaaaaaaaaaaa", .deflated = true},
        {.name = "c", .bytes = "some bytes"}};
    struct made m;
    struct err e;
    make(&m, list, 2, "");
    for (size_t i = 0; i < m.text.len; i++) {
        char was = m.text.s[i];
        for (int k = 0; k < 3; k++) {
            m.text.s[i] = (char)(k == 0 ? 0xff : k == 1 ? 0 : was ^ 1);
            (void)!check_bytes(m.text.s, m.text.len, &zip_usual_limits, &e);
        }
        m.text.s[i] = was;
        (void)!check_bytes(m.text.s, i, &zip_usual_limits, &e);
    }
    assert_int_equal(check_bytes(m.text.s, m.text.len, &zip_usual_limits, &e), 0);
    strbuf_free(&m.text);
}

/* Somebody who can write there put a link into the place. */
TEST(nothing_is_written_through_a_link)
{
    static const struct one_entry list[] = {{.name = "a/b", .bytes = "x"}};
    static const struct one_entry file[] = {{.name = "c", .bytes = "x"}};
    struct made m;
    struct err e = {0};
    struct zip_folder f = folder_open(), other = folder_open();
    assert_int_equal(symlinkat(other.path, f.fd, "a"), 0);
    assert_int_equal(symlinkat("/nonexistent", f.fd, "c"), 0);
    make(&m, list, 1, "");
    assert_int_equal(unpack(&m, &f, &e), -1);
    assert_int_equal(e.code, ERR_IO);
    assert_int_equal(faccessat(other.fd, "b", F_OK, 0), -1);
    strbuf_free(&m.text);
    make(&m, file, 1, "");
    assert_int_equal(unpack(&m, &f, &e), -1);
    strbuf_free(&m.text);
    folder_close(&f);
    folder_close(&other);
}

/* A full disk is not the fault of the archive. */
TEST(a_full_disk_is_told_apart)
{
    enum { MORE_THAN_FITS = 256 * 1024 };
    char *bytes = xcalloc(1, MORE_THAN_FITS);
    memset(bytes, 'x', MORE_THAN_FITS - 1);
    const struct one_entry list[] = {{.name = "large", .bytes = bytes, .deflated = true}};
    struct made m;
    struct err e = {0};
    struct zip_folder f = folder_open();
    if (mount("tmpfs", f.path, "tmpfs", 0, "size=64k") < 0) {
        folder_close(&f);
        free(bytes);
        skip_because("not allowed to mount: %s", strerror(errno));
    }
    close(f.fd);
    f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make(&m, list, 1, "");
    assert_int_equal(unpack(&m, &f, &e), -1);
    assert_int_equal(e.code, ERR_QUOTA);
    assert_says(e.msg, "large", "No space left on device");
    strbuf_free(&m.text);
    assert_int_equal(umount2(f.path, MNT_DETACH), 0);
    folder_close(&f);
    free(bytes);
}
