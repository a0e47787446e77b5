// SPDX-License-Identifier: MIT
import { afterAll } from "vitest";
import { startFor } from "./index.js";

/** A daemon for the tests of this file, with the variables of clients in process.env; it ends with them. */
export const start = (...options) => startFor(afterAll, options);
