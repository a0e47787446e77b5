/* SPDX-License-Identifier: MIT
 *
 * Every GPU of the site at a glance, a letter each. Many clients ask often, and all see the same:
 * the whole list is made once for a while.
 */
#ifndef API_ADMIN_GPUS_H
#define API_ADMIN_GPUS_H

struct gpu_board;

struct gpu_board *gpu_board_create(void);
/* After the server has stopped. */
void gpu_board_free(struct gpu_board *b);

#endif
