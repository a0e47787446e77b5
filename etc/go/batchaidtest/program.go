// SPDX-License-Identifier: MIT

package batchaidtest

// embedded is the archive of this platform's module, if there is one; `make go-module` adds the files that set it.
var embedded []byte
