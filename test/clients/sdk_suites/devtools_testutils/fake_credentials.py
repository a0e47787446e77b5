# SPDX-License-Identifier: MIT
BATCH_TEST_PASSWORD = "kt#_gahr!@aGERDXA"
