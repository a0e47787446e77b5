/* SPDX-License-Identifier: MIT
 *
 * Checks private keys of SSH as far as possible without a passphrase: the container of OpenSSH
 * (PROTOCOL.key there), and PEM.
 */
#ifndef MODEL_BATCH_SSH_KEY_H
#define MODEL_BATCH_SSH_KEY_H

/* NULL: `text` may be a private key without a passphrase. Otherwise the reason why not, in words
 * that follow "it ..." and contain no part of the text. */
const char *ssh_private_key_fault(const char *text);

#endif
