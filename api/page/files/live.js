// SPDX-License-Identifier: MIT
// Changes as they happen. One page of a browser holds a lock (Web Locks), reads the daemon's stream of events, and passes
// each batch on to the others (BroadcastChannel): a browser has six connections to a host, and the seventh page would
// wait for ever. When that page is closed, the next gets the lock, and resumes after the last event that it has seen.
//
//   waiting for the lock -> reading <-> broken (the browser connects again by itself)
//                                   <-> refused (the page asks again, later each time)

import { checkLogin } from "./client.js";

const LOCK = "batchaid-live";
const AGAIN_MS = 3000;
const AGAIN_MOST_MS = 60000;

let channel;
let ended; // AbortController of this login
let last = ""; // the id of the last event
let state = "connecting";
const readers = new Set();

export function liveState() {
  return state;
}

// A state that is no news goes no further: "live" means that everything may have changed.
function tell(told) {
  const message = told.state === state ? { ...told, state: undefined } : told;
  if (message.id) last = message.id;
  if (message.state) state = message.state;
  for (const reader of readers) reader(message);
}

function pass(message) {
  channel.postMessage(message);
  tell(message);
}

// Reads until the login ends; never returns before that, because the lock is held as long.
function read(signal) {
  return new Promise((resolve) => {
    let source;
    let timer;
    let wait = AGAIN_MS;
    const open = () => {
      const isBlind = !last; // what happened between another page's stream and this one is not told
      source = new EventSource(last ? `/batchaid/events/stream?since=${encodeURIComponent(last)}` : "/batchaid/events/stream");
      source.onopen = () => {
        wait = AGAIN_MS;
        pass({ state: "live", reset: isBlind });
      };
      source.onerror = () => {
        const isRefused = source.readyState === EventSource.CLOSED;
        pass({ state: isRefused ? "refused" : "broken" });
        if (!isRefused) return;
        // By a daemon that ends or has too many streams, or because the login is over.
        clearTimeout(timer);
        timer = setTimeout(open, wait);
        wait = Math.min(2 * wait, AGAIN_MOST_MS);
        checkLogin();
      };
      source.addEventListener("changes", (e) => pass({ id: e.lastEventId, changes: JSON.parse(e.data).value }));
      source.addEventListener("machines", (e) => pass({ machines: JSON.parse(e.data) }));
      // The login or the rights have ended: the connection ends by itself. Without rights, all that was read is out of date.
      source.addEventListener("end", async () => {
        await checkLogin();
        if (!signal.aborted) pass({ reset: true });
      });
      source.addEventListener("reset", (e) => pass({ id: e.lastEventId, reset: true }));
    };
    open();
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      source.close();
      resolve();
    });
  });
}

// The lock and the channel are of one user: no event of one reaches the page of another.
export function startLive(user) {
  if (ended) return;
  ended = new AbortController();
  const { signal } = ended;
  channel = new BroadcastChannel(`${LOCK} ${user}`);
  channel.onmessage = (e) => {
    if (e.data.hello) {
      if (state !== "connecting") channel.postMessage({ state, id: last });
    } else {
      tell(e.data);
    }
  };
  channel.postMessage({ hello: true });
  navigator.locks.request(`${LOCK} ${user}`, { signal }, () => read(signal)).catch(() => {});
}

export function stopLive() {
  if (!ended) return;
  ended.abort();
  channel.close();
  ended = undefined;
  last = "";
  state = "connecting";
}

// Calls `reader` with each message until the returned function is called.
export function listen(reader) {
  readers.add(reader);
  return () => readers.delete(reader);
}
