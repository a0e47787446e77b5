// SPDX-License-Identifier: MIT

/** A running daemon. */
export interface Cloud {
  /** https://localhost:PORT */
  readonly endpoint: string;
  /** The certificate of its authority. This process trusts it already; others by NODE_EXTRA_CA_CERTS of `environment`. */
  readonly caFile: string;
  /** The variables of clients, as `batchaid env` prints them: AZURE_CLIENT_ID, AZURE_CLIENT_SECRET, ... */
  readonly environment: Readonly<Record<string, string>>;
  /** A request of tests, such as ("POST", "/faults", {...}); its JSON reply, or the array of a reply in lines of JSON, such as that
   *  of "/events". The error of a refusal has `status` and `code`. */
  testing(method: string, path: string, body?: unknown): Promise<any>;
  /** Empties all subscriptions, and removes faults, rules and the like. */
  reset(): Promise<{ resourceGroups: number }>;
  /** Ends the daemon, and removes all that it had. It may be called again. */
  stop(): Promise<void>;
}

/** Starts a daemon with these options of `batchaid serve`, such as "--fake-nodes", and waits until it is ready. */
export function start(...options: string[]): Promise<Cloud>;

/** As start(), for a runner of tests: sets the variables of clients, and calls `after` with a function that ends it all. */
export function startFor(after: (end: () => Promise<void>) => void, options: string[]): Promise<Cloud>;
