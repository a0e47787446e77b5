/* SPDX-License-Identifier: MIT
 *
 * arc4random_buf() for the portable program. Debian's libexpat.a and libcrypt.a call it, and the C
 * library has it only since glibc 2.36: with this definition the program starts with glibc 2.34. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

void arc4random_buf(void *buf, size_t n)
{
    char *at = buf;
    while (n > 0) {
        ssize_t got = getrandom(at, n, 0);
        /* EINTR; any other failure leaves no randomness to go on with. */
        if (got < 0) {
            if (errno == EINTR)
                continue;
            abort();
        }
        at += got;
        n -= (size_t)got;
    }
}
