/* SPDX-License-Identifier: MIT
 *
 * Listing a directory of a disk that does not answer all questions. The kernel refuses the system
 * call in a child, by a filter.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/wire/listing.h"
#include "test/unit/support/tests.h"

enum listing_result { LISTED = 10, LISTED_BY_KIND, NOT_LISTED, NO_FILTER };

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))

/* From now on this call of this process ends with EIO if its fourth argument is `fourth`; -1:
 * whatever that is. */
static void refuse(unsigned call, int fourth)
{
    struct sock_filter code[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        LOAD(args[3]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)fourth, 0, fourth < 0 ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) < 0)
        _exit(NO_FILTER);
}

static enum listing_result list(const char *base)
{
    struct disk_listing l;
    struct err e = {0};
    if (disk_list(base, "", &l, &e) < 0)
        return e.code == ERR_IO && strstr(e.msg, base) && l.n == 0 ? NOT_LISTED : 0;
    if (l.n != 2 || strcmp(l.entries[0].name, "directory") != 0 || !l.entries[0].is_dir ||
        strcmp(l.entries[1].name, "file") != 0 || l.entries[1].is_dir)
        return 0;
    return l.entries[1].size == 4 ? LISTED : LISTED_BY_KIND;
}

/* What a child finds in a directory with a file of 4 bytes, and a directory. */
static int answer_without(unsigned call, int fourth)
{
    char base[] = "/tmp/batchaid-list-XXXXXX";
    struct err e;
    int status = 0;
    assert_non_null(mkdtemp(base));
    char *file = fs_join(base, "file"), *directory = fs_join(base, "directory");
    assert_int_equal(fs_write_atomic(file, "text", 4, 0644, &e), 0);
    assert_int_equal(mkdir(directory, 0755), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (call)
            refuse(call, fourth);
        _exit((int)list(base));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(fs_remove_tree(base, &e), 0);
    free(file);
    free(directory);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(test_a_disk_that_answers)
{
    assert_int_equal(answer_without(0, -1), LISTED);
}

TEST(test_a_list_that_cannot_be_read_to_its_end_is_an_error)
{
    assert_int_equal(answer_without(SYS_getdents64, -1), NOT_LISTED);
}

/* It is there: whoever compares the list with what should be there must not miss it. */
TEST(test_an_entry_of_which_only_the_kind_is_known_is_listed)
{
    assert_int_equal(answer_without(SYS_newfstatat, AT_SYMLINK_NOFOLLOW), LISTED_BY_KIND);
}
