/* SPDX-License-Identifier: MIT
 *
 * Gives pages back to the kernel after the start: code that the daemon used only then, and free
 * memory of malloc(); and blocks of several megabytes as soon as they are free.
 */
#include "lib/footprint.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Unmaps the read-only segments of a program or library. The kernel reads them again from the file,
 * which has the same contents. */
static int unmap_constants(struct dl_phdr_info *info, size_t size, void *page_size)
{
    (void)size;
    const uintptr_t mask = *(const uintptr_t *)page_size - 1;
    /* the other names are the kernel's */
    bool is_file = info->dlpi_name[0] == '\0' || info->dlpi_name[0] == '/';
    for (size_t i = 0; is_file && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || (p->p_flags & PF_W))
            continue;
        uintptr_t from = (info->dlpi_addr + p->p_vaddr) & ~mask;
        uintptr_t to = (info->dlpi_addr + p->p_vaddr + p->p_filesz + mask) & ~mask;
        (void)madvise((void *)from, to - from,
                      MADV_DONTNEED); /* NOLINT(performance-no-int-to-ptr) */
    }
    return 0;
}

void footprint_between(void)
{
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)dl_iterate_phdr(unmap_constants, &page_size);
}

/* The value that malloc() itself would choose: twice the size of what is mapped by itself. */
#define KEPT_BYTES (2 * FOOTPRINT_LARGE)

void footprint_begin(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, FOOTPRINT_LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void footprint_after_start(void)
{
    footprint_between();
    (void)malloc_trim(0);
}
