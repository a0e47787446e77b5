/* SPDX-License-Identifier: MIT
 *
 * Builds the BPF program from single instructions: for each denied device it compares and jumps to
 * the end "deny"; otherwise it returns "allow". The kernel verifies the program when it is loaded.
 * The program's descriptor is closed after the program was attached; the kernel removes the program
 * with the cgroup.
 */
#include "nodeagent-proto/agent/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define AROUND     9 /* how many instructions the program has besides those of the devices */
#define PER_DEVICE 3
/* The bits of access_type that contain the type of the device; the other bits contain the kind of
 * access. */
#define TYPE_MASK 0xffff

enum { RESULT = BPF_REG_0, CONTEXT = BPF_REG_1, TYPE = BPF_REG_2, MAJOR, MINOR };

struct program {
    struct bpf_insn at[AROUND + PER_DEVICE * DEVICES_MAX];
    size_t n;
};

static void add(struct program *p, uint8_t code, uint8_t dst, int16_t off, int32_t imm)
{
    p->at[p->n++] = (struct bpf_insn){.code = code, .dst_reg = dst & 0xf, .off = off, .imm = imm};
}

static void load(struct program *p, uint8_t dst, size_t from)
{
    add(p, BPF_LDX | BPF_MEM | BPF_W, dst, (int16_t)from, 0);
    p->at[p->n - 1].src_reg = CONTEXT;
}

/* Adds a jump over the next `skip` instructions, taken if the register does not contain `value`. */
static void unless(struct program *p, uint8_t reg, int32_t value, size_t skip)
{
    add(p, BPF_JMP | BPF_JNE | BPF_K, reg, (int16_t)skip, value);
}

static void leave(struct program *p, bool allow)
{
    add(p, BPF_ALU64 | BPF_MOV | BPF_K, RESULT, 0, allow);
    add(p, BPF_JMP | BPF_EXIT, 0, 0, 0);
}

/* The distance of a jump counts from the instruction after the jump. */
static void write_program(struct program *p, const dev_t *devices, size_t n)
{
    load(p, TYPE, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    load(p, MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
    load(p, MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
    add(p, BPF_ALU | BPF_AND | BPF_K, TYPE, 0, TYPE_MASK);
    unless(p, TYPE, BPF_DEVCG_DEV_CHAR, n * PER_DEVICE);
    for (size_t i = 0; i < n; i++) {
        unless(p, MAJOR, (int32_t)major(devices[i]), 2);
        unless(p, MINOR, (int32_t)minor(devices[i]), 1);
        add(p, BPF_JMP | BPF_JA, 0, (int16_t)((n - i - 1) * PER_DEVICE + 2), 0);
    }
    leave(p, true);
    leave(p, false);
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, cmd, attr, sizeof *attr);
}

static int attach(const char *path, int program)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.target_fd = (uint32_t)fd;
    attr.attach_bpf_fd = (uint32_t)program;
    attr.attach_type = BPF_CGROUP_DEVICE;
    /* Permits several programs, because the maker of a parent cgroup may have attached one, too. */
    attr.attach_flags = BPF_F_ALLOW_MULTI;
    int rc = bpf(BPF_PROG_ATTACH, &attr), saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

int devices_deny(const char *path, const dev_t *devices, size_t n)
{
    struct program p = {.n = 0};
    union bpf_attr attr;
    if (n > DEVICES_MAX) {
        errno = E2BIG;
        return -1;
    }
    write_program(&p, devices, n);
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (uintptr_t)p.at;
    attr.insn_cnt = (uint32_t)p.n;
    attr.license = (uintptr_t) "MIT";
    int program = bpf(BPF_PROG_LOAD, &attr);
    if (program < 0)
        return -1;
    int rc = attach(path, program), saved = errno;
    close(program);
    errno = saved;
    return rc;
}
