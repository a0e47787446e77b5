/* SPDX-License-Identifier: MIT
 *
 * WRAP(int, name, struct err *e) { ... } stands in the place of the function `name` in a program
 * that is linked with -Wl,--wrap=name. In it, __real_name() is the function itself.
 */
#ifndef TEST_SIM_WRAP_H
#define TEST_SIM_WRAP_H

#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

#endif
