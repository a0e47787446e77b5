// SPDX-License-Identifier: MIT
// What all views are made of: addresses with filters, data that is kept fresh, messages, dialogs, the same as a command.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./htm-preact.js";
import { count, many, plain, present, quoted, visible } from "./format.js";
import { listen } from "./live.js";

// --- addresses: #/view/part?filter=value --------------------------------------------------------

export function readAddress(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { view: parts[0] ?? "overview", parts: parts.slice(1), query: Object.fromEntries(new URLSearchParams(query)) };
}

export function address(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

// A job of the configured subscription names none.
export function jobAddress(job, part, query = {}) {
  return address(["job", job.resourceGroup, job.workspace, job.experiment, job.name, ...(part ? [part] : [])], { subscription: job.subscription, ...query });
}

// Changes filters of the present address; the browser's Back goes to the filters before.
export function setQuery(changes) {
  const now = readAddress();
  location.hash = address([now.view, ...now.parts], { ...now.query, ...changes }).slice(1);
}

// --- data ---------------------------------------------------------------------------------------

const FRESH_MS = 1000; // between two readings because of changes

// Whether a message of live.js is about one of these kinds; a reset is about all.
function isAbout(message, kinds) {
  if (message.reset || message.state === "live") return true;
  if (message.machines && kinds.includes("node")) return true;
  return message.changes?.some((change) => kinds.includes(change.kind)) ?? false;
}

// Calls `call` after changes of these kinds, at most once in FRESH_MS, and never while the page is hidden; and all `every`
// milliseconds, for what has no events.
export function useChanges(kinds, call, every) {
  const latest = useRef();
  latest.current = call;
  useLayoutEffect(() => {
    let timer;
    let due = false;
    let running = false;
    let again = false;
    let over = false;
    // One reading at a time: a slow one would otherwise be outdated by the next for ever.
    const plan = () => {
      if (running) again = true;
      else timer ??= setTimeout(run, FRESH_MS);
    };
    const run = async () => {
      timer = undefined;
      if (document.hidden) {
        due = true;
        return;
      }
      due = again = false;
      running = true;
      try {
        await latest.current();
      } finally {
        running = false;
        if (again && !over) plan();
      }
    };
    const seen = () => {
      if (!document.hidden && due && !running) run();
    };
    const stop = listen((message) => {
      if (isAbout(message, kinds)) plan();
    });
    const ticks = every && setInterval(plan, every);
    document.addEventListener("visibilitychange", seen);
    return () => {
      over = true;
      stop();
      clearTimeout(timer);
      clearInterval(ticks);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [kinds.join(), every]);
}

// {data, error, again}: reads when `key` changes and as useChanges() says. Old data stays until the new is there. `every`
// may be a function of the data. The first reading begins in the effect that does not wait for the view to be painted. read()
// gets a signal that ends it when the reader has gone to another view, as the daemon and the browser have other work then.
export function useData(key, read, kinds = [], every) {
  const [state, set] = useState({});
  const round = useRef(0);
  const stop = useRef();
  const again = async () => {
    const mine = ++round.current;
    try {
      const data = await read(stop.current.signal);
      if (mine === round.current) set({ key, data });
    } catch (error) {
      if (mine === round.current) set((before) => ({ key, data: before.key === key ? before.data : undefined, error }));
    }
  };
  useLayoutEffect(() => {
    stop.current = new AbortController();
    again();
    return () => {
      round.current++;
      stop.current.abort();
    };
  }, [key]);
  useChanges(kinds, again, typeof every === "function" ? every(state.key === key ? state.data : undefined) : every);
  return state.key === key ? { ...state, again } : { again };
}

// The time, for durations: drawn again after so many milliseconds.
export function useNow(every = 1000) {
  const [now, set] = useState(present());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || set(present()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export function useTitle(title) {
  useLayoutEffect(() => {
    document.title = `${title} – batchaid`;
  }, [title]);
}

// --- pieces -------------------------------------------------------------------------------------

export function Failed({ error, again }) {
  if (!error) return null;
  return html`<p class="failed" role="alert">${visible(error.message)}${again && html` <button onClick=${again}>Try again</button>`}</p>`;
}

// The words of a state, with a sign of its own: a colour is never alone.
const SIGNS = {
  running: "▶", queued: "…", terminating: "◼", succeeded: "✓", failed: "✕", idle: "○", free: "○", preparing: "◔", unusable: "✕", unreachable: "⚡",
  leaving: "◌", unknown: "?", busy: "●", used: "◍", outside: "◈", active: "▶", completed: "✓", steady: "○", resizing: "◔", disabled: "‖",
};

export function State({ of }) {
  if (!of) return null;
  return html`<span class="state s-${SIGNS[of] ? of : "other"}"><span aria-hidden="true">${SIGNS[of] ?? "·"}</span> ${of}</span>`;
}

// The words for an option that has a value; in one word if the value would be taken for an option.
export function option(name, value) {
  if (value === undefined || value === "") return [];
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}

// For Command. az batch asks the account that it was logged in to; its login reads the account itself, and not only what is in it.
export function batchCommand(session, account, group, subscription, words) {
  if (!session.may.readBatchAccounts) return { none: "az reads the Batch account first, which your role does not allow." };
  return { words, after: ["az", "batch", "account", "login", ...option("--resource-group", group), ...option("--name", account), ...option("--subscription", subscription)] };
}

// az replaces such a word by the text of the reader's own file, however it is quoted.
function isReadByAz(words) {
  return words[0] === "az" && words.some((word) => word?.startsWith("@"));
}

// after: the words of a command that has to be run first. none: why there is no command; instead of words.
export function Command({ words = [], after, none }) {
  const [copied, set] = useState(false);
  const line = (command) => command.filter((word) => word !== undefined && word !== "").map(quoted).join(" ");
  const text = after ? `${line(after)} && ${line(words)}` : line(words);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch (error) {
      note(`The browser does not let the page copy: ${error.message}`, "failed");
      return;
    }
    set(true);
    setTimeout(() => set(false), 2000);
  };
  if (isReadByAz([...(after ?? []), ...words])) none = "az would take the name that begins with @ for a file, and read it.";
  if (none) return html`<p class="command"><span>No command does the same: ${none}</span></p>`;
  return html`<p class="command"><span>The same as a command:</span> <code>${visible(text)}</code> <button onClick=${copy}>${copied ? "Copied" : "Copy"}</button></p>`;
}

// Chooses a filter of the address. labels: other words for some values; also: what changes together with it.
export function Choice({ name, label, values, query, any = "any", labels = {}, also = {} }) {
  const now = query[name] === undefined || query[name] === any ? "" : query[name];
  const all = now === "" || values.includes(now) ? values : [...values, now];
  return html`<label>${label} <select value=${now} onChange=${(e) => setQuery({ ...also, [name]: e.target.value })}>
    <option value="">${plain(any, 80)}</option>${all.map((v) => html`<option value=${v}>${labels[v] ?? plain(v, 80)}</option>`)}</select></label>`;
}

// Text of a filter; the address follows when the writer pauses.
export function Text({ name, label, query, placeholder }) {
  const timer = useRef();
  const now = query[name] ?? "";
  const sent = useRef(now);
  const [typed, setTyped] = useState(now);
  useEffect(() => {
    if (now === sent.current) return; // by this field, in which more may have been typed since
    sent.current = now;
    clearTimeout(timer.current);
    setTyped(now);
  }, [now]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const changed = (e) => {
    const value = e.target.value;
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = value.trim();
      setQuery({ [name]: sent.current });
    }, 300);
  };
  return html`<label>${label} <input type="search" value=${typed} placeholder=${placeholder} onInput=${changed} /></label>`;
}

export function Tabs({ tabs, now, to }) {
  return html`<nav class="tabs" aria-label="Parts">${tabs.map((tab) => html`<a href=${to(tab)} aria-current=${tab === now ? "page" : undefined}>${tab}</a>`)}</nav>`;
}

// A definition list of the members that have a value.
export function Facts({ rows }) {
  return html`<dl class="facts">${rows.filter(([, value]) => value !== undefined && value !== "" && value !== null)
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

// --- messages and questions ---------------------------------------------------------------------

let say = () => {};

export function note(text, kind = "done") {
  say({ text, kind });
}

const NOTES_MOST = 4;
const NOTE_MS = 5000;

// A failure stays until the reader closes it.
export function Notes() {
  const [notes, set] = useState([]);
  const close = (one) => set((before) => before.filter((n) => n !== one));
  useEffect(() => {
    let number = 0;
    say = (one) => {
      const mine = { ...one, number: ++number };
      set((before) => [...before.filter((n) => n.text !== one.text).slice(1 - NOTES_MOST), mine]);
      if (one.kind !== "failed") setTimeout(() => close(mine), NOTE_MS);
    };
  }, []);
  return html`<div class="notes" role="status" aria-live="polite">${notes.map((n) => html`<p class=${n.kind} key=${n.number}>${visible(n.text)}${n.kind === "failed" && html` <button onClick=${() => close(n)}>Close</button>`}</p>`)}</div>`;
}

let question = () => Promise.resolve(null);

// Asks before something is done: {title, text, rows, action, back, fields}. Resolves to the fields' values, or null.
export function confirm(asked) {
  return question(asked);
}

export function Question() {
  const [asked, set] = useState(null);
  const dialog = useRef();
  useEffect(() => {
    question = (what) => new Promise((resolve) => set({ ...what, resolve }));
  }, []);
  useLayoutEffect(() => {
    if (asked && !dialog.current.open) dialog.current.showModal();
  }, [asked]);
  if (!asked) return null;
  const end = (value) => {
    dialog.current.close();
    asked.resolve(value);
    set(null);
  };
  const submit = (e) => {
    e.preventDefault();
    end(Object.fromEntries(new FormData(e.target)));
  };
  return html`<dialog ref=${dialog} aria-labelledby="question" onCancel=${(e) => { e.preventDefault(); end(null); }}>
    <form onSubmit=${submit}><h2 id="question">${asked.title}</h2>
    ${asked.text && html`<p>${asked.text}</p>`}
    ${asked.rows && html`<ul class="rows">${asked.rows.slice(0, 10).map((row) => html`<li>${row}</li>`)}
      ${asked.rows.length > 10 && html`<li>and ${count(asked.rows.length - 10)} more</li>`}</ul>`}
    ${asked.fields?.map((f) => html`<label>${f.label} ${f.values
      ? html`<select name=${f.name}>${f.values.map((v) => html`<option value=${v}>${v}</option>`)}</select>`
      : html`<input name=${f.name} type=${f.type ?? "text"} required=${f.required} autocomplete="off" />`}</label>`)}
    <p class="buttons"><button type="button" onClick=${() => end(null)}>${asked.back ?? "No, go back"}</button> <button type="submit" class="strong">${asked.action}</button></p></form></dialog>`;
}

const FAILURES_NAMED = 3;

function failureWords(failed, total) {
  const named = failed.slice(0, FAILURES_NAMED).map(({ row, error }) => `${plain(row.name, 80)}: ${error.message}`);
  const more = failed.length - named.length;
  return `${count(failed.length)} of ${count(total)} failed. ${named.join(" ")}${more ? ` And ${count(more)} more.` : ""}`;
}

// Does something to each row, six at once, says what came of it, and resolves to the rows for which it was not done.
export async function forEach(rows, call, done) {
  const failed = [];
  const well = new Set();
  let next = 0;
  const worker = async () => {
    while (next < rows.length) {
      const row = rows[next++];
      try {
        await call(row);
        well.add(row);
      } catch (error) {
        failed.push({ row, error });
        // The login is over: the rest is not to be done by the login that follows.
        if (error.status === 401) next = rows.length;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(6, rows.length) }, worker));
  if (well.size) note(done(well.size));
  if (failed.length) note(failureWords(failed, rows.length), "failed");
  return rows.filter((row) => !well.has(row));
}

// The keyboard goes on in `node`, if the button that was pressed is gone once the view is drawn again.
export function keepFocus(node = document.getElementById("main")) {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (!document.activeElement || document.activeElement === document.body) node?.focus();
  }));
}

// An action on chosen rows: it is said before it is done. text(rows): what it does; call(row, values of the fields); done(n):
// the words for n rows; only(row): whether it is for this row; unique(rows): those that are meant. run() resolves to the rows
// that failed, or to nothing if the reader went back.
export function rowsAction({ title, noun, text, call, done, only, fields, removes, unique = (rows) => rows }) {
  const run = async (chosen) => {
    const rows = unique(chosen);
    const words = `${title} ${many(rows.length, noun)}`;
    const said = await confirm({ title: `${words}?`, text: text(chosen), fields, rows: rows.map((row) => plain(row.name, 80)), action: words });
    if (!said) return undefined;
    return forEach(rows, (row) => call(row, said), done ?? ((n) => `${title}: ${many(n, noun)}.`));
  };
  return { title, removes, for: only, run };
}
