/* SPDX-License-Identifier: MIT
 *
 * Pages of directories and of whole shares, against what sorting everything gives.
 */
#include "storage/folders/walk.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "test/unit/storage/folders/changes.h"

struct paged {
    int times;
    enum file_fault fault;
    struct file_items found;
};

static void on_paged(void *ctx, const struct err *why, enum file_fault fault,
                     struct file_items *found)
{
    struct paged *p = ctx;
    p->times++;
    p->fault = fault;
    assert_int_equal(why == NULL, fault == FILE_FINE);
    assert_int_equal(why == NULL, found != NULL);
    if (found) {
        p->found = *found;
        *found = (struct file_items){0};
    }
}

/* All texts in one, each with a blank after it. */
static void join(char *to, size_t size, const struct file_items *items)
{
    to[0] = '\0';
    for (size_t i = 0; i < items->n; i++)
        snprintf(to + strlen(to), size - strlen(to), "%s%s ", items->item[i].name,
                 items->item[i].is_prefix            ? "*"
                 : items->item[i].facts.is_directory ? "/"
                                                     : "");
}

static void assert_items(struct paged *p, const char *want)
{
    char text[1000];
    assert_int_equal(p->times, 1);
    assert_int_equal(p->fault, FILE_FINE);
    join(text, sizeof text, &p->found);
    assert_string_equal(text, want);
    file_items_free(&p->found);
    p->times = 0;
}

static void make_dir(const struct files_fx *f, const char *name)
{
    FREED char *path = path_in(f, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* --- one directory ---------------------------------------------------------------------------- */

static struct paged page(struct files_fx *f, const char *path, const char *prefix,
                         const char *after, size_t max)
{
    struct paged p = {0};
    const struct files_page what = {{f->share, path}, prefix, after, max};
    files_page(f->files, &what, on_paged, &p);
    come_back_all(f);
    assert_int_equal(p.times, 1);
    return p;
}

FOLDER_TEST(test_a_directory_comes_page_by_page)
{
    make_dir(f, "sub");
    make_dir(f, "tea");
    put(f->share, "a", "", 0);
    put(f->share, "tel", "12", 2);
    put(f->share, ".batchaid-unfinished-0", "", 0);
    put(f->share, "latin\xe9", "", 0);
    link_in(f, "link", "ten");
    link_in(f, "out", "/etc/passwd");
    link_in(f, "here", "sub");
    pipe_in(f, "pipe");
    struct paged p = page(f, "", NULL, NULL, 100);
    assert_null(p.found.last);
    assert_int_equal(p.found.left_out, 1);
    assert_int_equal(p.found.item[1].facts.size, 10); /* the link has the file's facts */
    assert_int_equal(p.found.item[4].facts.size, 2);
    assert_items(&p, "a link sub/ tea/ tel ten ");
    p = page(f, "", "te", NULL, 2);
    assert_string_equal(p.found.last, "tel");
    assert_items(&p, "tea/ tel ");
    p = page(f, "", "te", "tel", 1);
    assert_null(p.found.last);
    assert_items(&p, "ten ");
    p = page(f, "", NULL, "here", 2); /* a link to a directory takes a place */
    assert_string_equal(p.found.last, "out");
    assert_items(&p, "link ");
    p = page(f, "", NULL, "out", 2);
    assert_string_equal(p.found.last, "tea");
    assert_items(&p, "sub/ tea/ ");
    p = page(f, "sub", NULL, NULL, 1);
    assert_null(p.found.last);
    assert_items(&p, "");
}

FOLDER_TEST(test_what_is_no_directory_has_no_page)
{
    assert_int_equal(page(f, "ten", NULL, NULL, 1).fault, FILE_IS_FILE);
    assert_int_equal(page(f, "none", NULL, NULL, 1).fault, FILE_MISSING);
    assert_int_equal(page(f, "none/none", NULL, NULL, 1).fault, FILE_PARENT_MISSING);
    link_in(f, "out", "/etc");
    assert_int_equal(page(f, "out", NULL, NULL, 1).fault, FILE_LEADS_OUT);
    make_dir(f, ".batchaid-unfinished-d");
    assert_int_equal(page(f, ".batchaid-unfinished-d", NULL, NULL, 1).fault, FILE_MISSING);
}

/* All are the same file, which is much faster than as many files. */
static void put_many(const struct files_fx *f, const char *below, int n)
{
    FREED char *ten = path_in(f, "ten");
    for (int i = 0; i < n; i++) {
        char name[100];
        snprintf(name, sizeof name, "%sf%05d", below, i * 7919 % n);
        FREED char *path = path_in(f, name);
        assert_int_equal(link(ten, path), 0);
    }
}

FOLDER_TEST(test_pages_of_a_large_directory)
{
    char last[20] = "";
    int n = 0;
    put_many(f, "", 3000);
    for (bool more = true; more;) {
        struct paged p = page(f, "", "f", last, 500);
        assert_int_equal(p.found.n, 500);
        for (size_t i = 0; i < p.found.n; i++) {
            char name[20];
            snprintf(name, sizeof name, "f%05d", n++);
            assert_string_equal(p.found.item[i].name, name);
        }
        more = p.found.last;
        snprintf(last, sizeof last, "%s", more ? p.found.last : "");
        file_items_free(&p.found);
    }
    assert_int_equal(n, 3000);
}

/* --- a whole share ---------------------------------------------------------------------------- */

static struct paged walk(struct files_fx *f, const char *prefix, const char *delimiter,
                         const char *after, size_t max)
{
    struct paged p = {0};
    const struct files_walk what = {f->share, prefix, delimiter, after, max};
    files_walk(f->files, &what, on_paged, &p);
    come_back_all(f);
    assert_int_equal(p.times, 1);
    return p;
}

/* Root's threads read everything, unless they give that up; false: it cannot be given back. */
static bool reads_everything(bool yes)
{
    const uint32_t reads = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    if (syscall(SYS_capget, &head, caps) < 0)
        return false;
    caps[0].effective = yes ? caps[0].permitted : caps[0].effective & ~reads;
    return syscall(SYS_capset, &head, caps) == 0;
}

FOLDER_TEST(test_a_directory_that_may_not_be_read_is_counted)
{
    char *path = path_in(f, "closed");
    make_dir(f, "closed");
    put(f->share, "closed/x", "", 0);
    put(f->share, "latin\xe9", "", 0);
    assert_int_equal(chmod(path, 0), 0);
    assert_true(reads_everything(false));
    struct paged p = walk(f, NULL, NULL, NULL, 10);
    assert_true(reads_everything(true));
    assert_int_equal(chmod(path, 0700), 0);
    free(path);
    assert_int_equal(p.found.closed, 1);
    assert_int_equal(p.found.left_out, 2);
    assert_items(&p, "ten ");
}

FOLDER_TEST(test_a_slash_is_a_byte_among_others)
{
    make_dir(f, "a");
    make_dir(f, "a/empty");
    make_dir(f, "empty");
    make_dir(f, "a0");
    put(f->share, "a/b", "1", 1);
    put(f->share, "a.txt", "", 0);
    put(f->share, "a-b", "", 0);
    put(f->share, "a0/x", "", 0);
    put(f->share, "a/.batchaid-unfinished-0", "", 0);
    link_in(f, "a/link", "../ten");
    link_in(f, "round", ".");
    pipe_in(f, "a/pipe");
    struct paged p = walk(f, NULL, NULL, NULL, 100);
    assert_int_equal(p.found.item[2].facts.size, 1);
    assert_int_equal(p.found.item[3].facts.size, 10);
    assert_items(&p, "a-b a.txt a/b a/link a0/x ten ");
    p = walk(f, NULL, "/", NULL, 100);
    assert_items(&p, "a-b a.txt a/* a0/* ten ");
    p = walk(f, "a/", "/", NULL, 100);
    assert_items(&p, "a/b a/link ");
    p = walk(f, "empty/", "/", NULL, 100);
    assert_items(&p, "");
    p = walk(f, NULL, "/", "a/", 1);
    assert_string_equal(p.found.last, "a0/");
    assert_items(&p, "a0/* ");
    p = walk(f, NULL, "b", NULL, 100);
    assert_items(&p, "a-b* a.txt a/b* a/link a0/x ten ");
    static const char *const nothing[] = {"/", "a//b", "round/t", "ten/x", "../", "./t", "b/c/d"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        p = walk(f, nothing[i], NULL, NULL, 100);
        assert_items(&p, "");
    }
}

FOLDER_TEST(test_a_share_without_a_folder)
{
    struct paged p = {0};
    const struct files_walk what = {.share = "/nowhere/at/all", .max = 1};
    files_walk(f->files, &what, on_paged, &p);
    come_back_all(f);
    assert_int_equal(p.fault, FILE_MISSING);
}

/* A directory of more names than a walk keeps of one. */
FOLDER_TEST(test_a_directory_of_many_names)
{
    enum { MANY = 9000 };
    make_dir(f, "many");
    put_many(f, "many/", MANY);
    char last[40] = "";
    int n = 0;
    for (bool more = true; more;) {
        struct paged p = walk(f, "many/", NULL, last, 8500);
        for (size_t i = 0; i < p.found.n; i++) {
            char name[40];
            snprintf(name, sizeof name, "many/f%05d", n++);
            assert_string_equal(p.found.item[i].name, name);
        }
        more = p.found.last;
        snprintf(last, sizeof last, "%s", more ? p.found.last : "");
        file_items_free(&p.found);
    }
    assert_int_equal(n, MANY);
    struct paged p = walk(f, "", "/", NULL, 10);
    assert_items(&p, "many/* ten ");
}

FOLDER_TEST(test_a_walk_lets_others_go_first_and_can_be_ended)
{
    struct paged p[2] = {{0}};
    struct files_told t = {0};
    int before = open_descriptors();
    make_dir(f, "many");
    put_many(f, "many/", 2000);
    const struct files_walk what = {.share = f->share, .max = 5000};
    for (int i = 0; i < 2; i++)
        files_walk(f->files, &what, on_paged, &p[i]);
    open_file(f, f->share, "ten", &t);
    for (int i = 0; i < 3 && !t.times; i++)
        fake_come_back(&f->loop, 0);
    assert_int_equal(t.times, 1);
    assert_int_equal(p[0].times + p[1].times, 0);
    forget(&t);
    files_end_requests(f->files);
    assert_int_equal(p[0].fault, FILE_UNAVAILABLE);
    assert_int_equal(p[1].fault, FILE_UNAVAILABLE);
    come_back_all(f);
    assert_int_equal(open_descriptors(), before);
}

/* --- random trees ----------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t chance(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static const char *const parts[] = {"a", "b", "a.", "a-",  "a b", "ab", "\xc3\xa9", "\x01",
                                    "~", "A", "-",  "..a", "a+",  "aa", "0",        "b.txt"};

static const char *any_part(void)
{
    return parts[chance(sizeof parts / sizeof *parts)];
}

/* The paths of all files, to be ordered. */
struct walk_paths {
    char *at[4000];
    size_t n;
};

static void grow(const struct files_fx *f, const char *below, int depth, struct walk_paths *files)
{
    uint64_t n = chance(6);
    for (uint64_t i = 0; i < n; i++) {
        char name[1000];
        snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", any_part());
        char *path = path_in(f, name);
        uint64_t kind = chance(10);
        if (access(path, F_OK) == 0 || files->n == 4000) {
            free(path);
            continue;
        }
        if (kind < 5 && depth > 0 && mkdir(path, 0700) == 0)
            grow(f, name, depth - 1, files);
        else if (kind == 5)
            assert_int_equal(mkfifo(path, 0600), 0);
        else if (kind == 6)
            assert_int_equal(symlink("..", path), 0);
        else if (kind > 6) {
            put(f->share, name, "x", 1);
            files->at[files->n++] = xstrdup(name);
        }
        free(path);
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The items that the whole list has, one after the other. */
static void expect(const struct walk_paths *files, const char *prefix, const char *delimiter,
                   struct walk_paths *items)
{
    items->n = 0;
    for (size_t i = 0; i < files->n; i++) {
        if (strncmp(files->at[i], prefix, strlen(prefix)) != 0)
            continue;
        char *item = xstrdup(files->at[i]);
        char *end = *delimiter ? strstr(item + strlen(prefix), delimiter) : NULL;
        if (end)
            end[strlen(delimiter)] = '\0';
        if (items->n > 0 && strcmp(items->at[items->n - 1], item) == 0)
            free(item);
        else
            items->at[items->n++] = item;
    }
}

static void clear(struct walk_paths *p)
{
    while (p->n > 0)
        free(p->at[--p->n]);
}

static void check_pages(struct files_fx *f, const struct walk_paths *items, const char *prefix,
                        const char *delimiter)
{
    size_t max = 1 + chance(chance(2) ? 5 : 500), n = 0;
    char *after = NULL;
    do {
        struct paged p = walk(f, prefix, delimiter, after, max);
        free(after);
        if (p.found.n != (items->n - n < max ? items->n - n : max))
            fail_msg("prefix '%s', delimiter '%s', %zu a page: %zu of %zu after %zu", prefix,
                     delimiter, max, p.found.n, items->n, n);
        for (size_t i = 0; i < p.found.n; i++, n++)
            assert_string_equal(p.found.item[i].name, items->at[n]);
        after = p.found.last ? xstrdup(p.found.last) : NULL;
        file_items_free(&p.found);
    } while (after);
    assert_int_equal(n, items->n);
}

/* A prefix that may occur, and a name to begin after. */
static void any_path(const struct walk_paths *files, char *out, size_t size)
{
    snprintf(out, size, "%s", files->n && chance(4) ? files->at[chance(files->n)] : any_part());
    if (chance(3) == 0)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", chance(2) ? "/" : "", any_part());
    else
        out[chance(strlen(out) + 1)] = '\0';
}

FOLDER_TEST(test_random_trees_are_listed_as_sorting_would)
{
    static struct walk_paths files, items;
    static const char *const delimiters[] = {"", "/", "a", "-", "/a", "a/"};
    struct err e;
    for (int tree = 0; tree < 60; tree++) {
        seed = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(tree + 1);
        char *path = path_in(f, "ten");
        unlink(path);
        free(path);
        grow(f, "", 5, &files);
        qsort(files.at, files.n, sizeof *files.at, by_bytes);
        for (int i = 0; i < 12; i++) {
            char prefix[1100] = "", after[1100];
            const char *delimiter = delimiters[chance(6)];
            if (chance(3))
                any_path(&files, prefix, sizeof prefix);
            expect(&files, prefix, delimiter, &items);
            check_pages(f, &items, prefix, delimiter);
            any_path(&files, after, sizeof after);
            struct paged p = walk(f, prefix, delimiter, after, 10000);
            size_t first = 0;
            while (first < items.n && strcmp(items.at[first], after) <= 0)
                first++;
            if (p.found.n != items.n - first)
                fail_msg("tree %d: prefix '%s', delimiter '%s', after '%s': %zu, not %zu", tree,
                         prefix, delimiter, after, p.found.n, items.n - first);
            file_items_free(&p.found);
            clear(&items);
        }
        clear(&files);
        assert_int_equal(fs_remove_tree(f->share, &e), 0);
        assert_int_equal(mkdir(f->share, 0700), 0);
    }
}
