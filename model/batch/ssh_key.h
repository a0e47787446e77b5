/* SPDX-License-Identifier: MIT
 *
 * Checks private keys of SSH, as far as possible without a passphrase. They may be in OpenSSH's own
 * format (PROTOCOL.key in its sources) or in PEM.
 */
#ifndef MODEL_BATCH_SSH_KEY_H
#define MODEL_BATCH_SSH_KEY_H

/* NULL: `text` may be a private key without a passphrase. Otherwise returns the reason, as words
 * that continue a sentence after "it", without any part of the text. */
const char *ssh_private_key_fault(const char *text);

#endif
