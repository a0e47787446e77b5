/* SPDX-License-Identifier: MIT
 *
 * Private keys of SSH, as far as it shows without a passphrase what they are: the container of
 * OpenSSH (PROTOCOL.key there), and PEM.
 */
#ifndef MODEL_BATCH_SSH_KEY_H
#define MODEL_BATCH_SSH_KEY_H

/* NULL: `text` may be a private key that needs no passphrase. Else why it is none, in words that
 * go on "it ..." and have nothing of the text in them. */
const char *ssh_private_key_fault(const char *text);

#endif
