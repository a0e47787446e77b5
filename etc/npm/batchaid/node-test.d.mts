// SPDX-License-Identifier: MIT
import type { Cloud } from "./index.js";

/** A daemon for the tests of this file, with the variables of clients in process.env; it ends with them. */
export function start(...options: string[]): Promise<Cloud>;
