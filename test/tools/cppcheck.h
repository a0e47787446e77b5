/* SPDX-License-Identifier: MIT
 *
 * Loop macros of libraries, for cppcheck, which does not read the system's headers.
 */
/* clang-format off */
#define json_object_foreach(o, k, v) for (void *it = json_object_iter(o); it && (k = json_object_iter_key(it)) && (v = json_object_iter_value(it)); it = json_object_iter_next(o, it))
#define json_array_foreach(a, i, v) for (i = 0; i < json_array_size(a) && (v = json_array_get(a, i)); i++)
