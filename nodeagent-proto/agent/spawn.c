/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/spawn.h"

#include <errno.h>
#include <sys/syscall.h>

/* AddressSanitizer would mistake the child's use of the stack for the parent's. */
#if defined __SANITIZE_ADDRESS__
#define INSTRUMENTED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define INSTRUMENTED 1
#endif
#endif

#if defined __x86_64__ && !defined INSTRUMENTED

/* Parent and child use one stack, so neither may return from a function that the other still needs,
 * as the C library's syscall() would. So the child calls fn from here, at a lower stack address
 * than all data of the parent (128 bytes below the stack pointer may be in use). */
static long clone3(const struct clone_args *args, void (*fn)(void *arg), void *arg)
{
    long rc;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "sub $128, %%rsp\n\t"
                     "and $-16, %%rsp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %[arg], %%rdi\n\t"
                     "call *%[fn]\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(rc)
                     : "a"(SYS_clone3), "D"(args), "S"(sizeof *args), [fn] "d"(fn), [arg] "b"(arg)
                     : "rcx", "r11", "cc", "memory");
    return rc;
}

pid_t spawn(struct clone_args *args, void (*fn)(void *arg), void *arg)
{
    args->flags |= CLONE_VM | CLONE_VFORK;
    long rc = clone3(args, fn, arg);
    if (rc < 0)
        errno = (int)-rc;
    return rc < 0 ? -1 : (pid_t)rc;
}

#else

pid_t spawn(struct clone_args *args, void (*fn)(void *arg), void *arg)
{
    (void)args;
    (void)fn;
    (void)arg;
    errno = ENOSYS;
    return -1;
}

#endif
