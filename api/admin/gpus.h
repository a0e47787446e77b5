/* SPDX-License-Identifier: MIT
 *
 * A list of all GPUs of the site, one letter for each. Many clients request it often and all get
 * the same answer, so the list is made once and used for a while.
 */
#ifndef API_ADMIN_GPUS_H
#define API_ADMIN_GPUS_H

struct gpu_board;

struct gpu_board *gpu_board_create(void);
/* Call it after the server has stopped. */
void gpu_board_free(struct gpu_board *b);

#endif
