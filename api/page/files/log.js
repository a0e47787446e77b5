// SPDX-License-Identifier: MIT
// A file as a log: its end first, by ranges; what is appended follows; what is before comes when the reader scrolls up or
// asks. At most MOST bytes are kept. Only lines that are seen are drawn.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./htm-preact.js";
import { fetched } from "./client.js";
import { bytes, count } from "./format.js";
import { Failed } from "./parts.js";
import { readLine, stylesOf } from "./text.js";

const PIECE = 128 * 1024; // of the end, first
const EARLIER = 1024 * 1024;
const MOST = 8 * 1024 * 1024;
const OVERLAP = 64; // bytes that are asked for again
const FOLLOW_MS = 2000;
const SOON_MS = 100;
const AGAIN_MOST_MS = 60000;
const LINE = 19; // pixels, as in style.css
const BEYOND = 20;

async function range(path, spec, signal) {
  const reply = await fetched(path, { headers: { Range: `bytes=${spec}` }, signal });
  const part = /^bytes (\d+)-\d+\/(\d+)$/.exec(reply.headers.get("Content-Range") ?? "");
  if (!part && Number(reply.headers.get("Content-Length") ?? Infinity) > MOST) {
    await reply.body?.cancel();
    throw new Error("Something between the daemon and here ignores ranges, and the file is too large to show; Download has all.");
  }
  const data = new Uint8Array(await reply.arrayBuffer());
  return part ? { data, from: Number(part[1]), size: Number(part[2]) } : { data, from: 0, size: data.length, isWhole: true };
}

function same(a, b) {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

function joined(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

// The end of a file, as far as it is shown first. An empty file has no range.
async function beginning(path, signal) {
  const head = await fetched(path, { method: "HEAD", signal });
  if (head.headers.get("Content-Length") === "0") return { data: new Uint8Array(), from: 0, size: 0 };
  return range(path, `-${PIECE}`, signal);
}

// At most MOST bytes are kept.
function appended(data, from, more) {
  const all = joined(data, more);
  const over = Math.max(0, all.length - MOST);
  return { data: all.slice(over), from: from + over };
}

// The bytes [from, from + data.length) of a file of `size` bytes, as lines. Broken UTF-8 becomes U+FFFD.
function linesOf(data, from) {
  let text = new TextDecoder().decode(data);
  // The first line begins before this piece.
  if (from > 0) text = text.slice(text.indexOf("\n") + 1);
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

// `held` is the newest of what is here. A reading that took long compares what it began with, because the other reading,
// of what is before or of what follows, may have added to it meanwhile.
function useLog(path, follow) {
  const [log, set] = useState({ lines: [], from: 0, size: 0 });
  const held = useRef({});
  const show = (size) => set({ lines: linesOf(held.current.data, held.current.from), from: held.current.from, size, done: true });
  const earlier = async () => {
    const { data, from } = held.current;
    if (from === 0 || data.length >= MOST) return 0;
    const begin = Math.max(0, from - EARLIER);
    try {
      const piece = await range(path, `${begin}-${from - 1}`);
      const now = held.current;
      if (now.path !== path || now.from !== from || piece.from !== begin || piece.data.length !== from - begin) return 0;
      const before = linesOf(now.data, now.from).length;
      held.current = { path, data: joined(piece.data, now.data), from: begin };
      show(piece.size);
      return linesOf(held.current.data, begin).length - before;
    } catch (error) {
      if (held.current.path === path) set((was) => ({ ...was, error }));
      return 0;
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    const empty = () => ({ path, data: new Uint8Array(), from: 0 });
    let timer;
    let wait = FOLLOW_MS;
    let isNew = true; // what is shown is not what is held
    // The end of its job changes `follow` alone, and moves nothing under the reader.
    if (held.current.path !== path) {
      held.current = empty();
      set({ lines: [], from: 0, size: 0 });
    }
    // Takes a piece; returns whether there is more to read at once.
    const take = (piece, end, over) => {
      const now = held.current;
      if (end === 0 || piece.isWhole) held.current = { path, data: piece.data, from: piece.from };
      else if (!same(piece.data.subarray(0, over), now.data.subarray(now.data.length - over)) || piece.size - end > MOST) held.current = empty(); // another file, or one that has grown much
      else if (piece.data.length > over) held.current = { path, ...appended(now.data, now.from, piece.data.subarray(over)) };
      if (held.current !== now && held.current.data.length + now.data.length > 0) isNew = true;
      if (isNew) show(piece.size);
      isNew = false;
      wait = FOLLOW_MS;
      return (held.current.data.length === 0 && end > 0) || piece.from + piece.data.length < piece.size;
    };
    const next = async () => {
      const was = held.current;
      const end = was.from + was.data.length;
      const over = Math.min(OVERLAP, was.data.length);
      let soon = false;
      let failed = false;
      try {
        // With some bytes that are here: a range behind the end is an error, and in another file they differ.
        const piece = end === 0 ? await beginning(path, stop.signal) : await range(path, `${end - over}-${end + EARLIER - 1}`, stop.signal);
        if (held.current.path !== path) return;
        soon = take(piece, end, over);
      } catch (error) {
        if (error.name === "AbortError") return;
        isNew = true;
        soon = error.status === 416; // the file is shorter than it was, and is read again
        if (soon) held.current = empty();
        else set((before) => ({ ...before, error, done: true }));
        failed = !soon && (error.status === 0 || error.status === 429 || error.status >= 500);
        wait = Math.min(AGAIN_MOST_MS, 2 * wait);
      }
      if (soon || failed || follow) timer = setTimeout(next, soon ? SOON_MS : document.hidden ? Math.max(wait, 5 * FOLLOW_MS) : wait);
    };
    next();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, follow]);
  return { ...log, earlier };
}

function marked(text, wanted) {
  if (!wanted) return text;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(wanted)) {
    parts.push(text.slice(at, found.index), html`<mark>${found[0]}</mark>`);
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

function Line({ text, style, wanted, now }) {
  const [whole, set] = useState(false);
  const { pieces, cut } = readLine(text, style, whole);
  return html`<div class=${now ? "line now" : "line"}>${pieces.map((p) => (p.names || wanted ? html`<span class=${p.names}>${marked(p.text, wanted)}</span>` : p.text))}
    ${cut > 0 && html` <button onClick=${() => set(true)}>${count(cut)} more characters</button>`}</div>`;
}

// The text as an expression: it finds small and large letters, at the places where they are.
function expression(typed) {
  return typed ? new RegExp(typed.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&"), "giu") : null;
}

export function Log({ path, follow, download, name }) {
  const log = useLog(path, follow);
  const box = useRef();
  const bottom = useRef(true);
  const [seen, setSeen] = useState([0, 60]);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const wanted = useMemo(() => expression(typed), [typed]);
  const styles = useMemo(() => stylesOf(log.lines), [log.lines]);
  const hits = useMemo(() => (wanted ? log.lines.flatMap((line, index) => (line.search(wanted) >= 0 ? [index] : [])) : []), [log.lines, wanted]);
  const look = () => {
    const node = box.current;
    bottom.current = node.scrollTop + node.clientHeight >= node.scrollHeight - 2 * LINE;
    const from = Math.max(0, Math.floor(node.scrollTop / LINE) - BEYOND);
    setSeen([from, from + Math.ceil(node.clientHeight / LINE) + 2 * BEYOND]);
  };
  useLayoutEffect(() => {
    if (bottom.current) box.current.scrollTop = box.current.scrollHeight;
    look();
  }, [log.lines]);
  const older = async () => {
    const more = await log.earlier();
    if (!box.current) return;
    bottom.current = false;
    box.current.scrollTop += more * LINE;
  };
  const go = (step) => {
    if (!hits.length) return;
    const next = (at + step + hits.length) % hits.length;
    setAt(next);
    bottom.current = false;
    box.current.scrollTop = Math.max(0, hits[next] * LINE - box.current.clientHeight / 2);
    look();
  };
  const [from, to] = seen;
  return html`<section class="log" aria-label=${name}>
    <div class="bar"><label>Find <input type="search" value=${typed} onInput=${(e) => { setTyped(e.target.value); setAt(0); }}
        onKeyDown=${(e) => e.key === "Enter" && go(e.shiftKey ? -1 : 1)} /></label>
      ${wanted && html`<span class="quiet">${hits.length ? `${count(at + 1)} of ${count(hits.length)} lines` : "in no line that is loaded"}</span>
        <button onClick=${() => go(-1)}>Previous</button><button onClick=${() => go(1)}>Next</button>`}
      <span class="quiet">${log.done ? `${bytes(log.size)}${log.from ? `, the last ${bytes(log.size - log.from)} are loaded` : ""}` : "Reading…"}</span>
      ${log.from > 0 && (log.size - log.from < MOST ? html`<button onClick=${older}>Load what is before</button>` : html`<span class="quiet">Download has what is before</span>`)}
      <a href=${download} download>Download</a></div>
    <${Failed} error=${log.error} />
    <div class="lines" ref=${box} onScroll=${look} tabindex="0" role="log" aria-live="off" aria-label=${`Lines of ${name}`}>
      <div style=${{ height: `${Math.min(from, log.lines.length) * LINE}px` }}></div>
      ${log.lines.slice(from, to).map((text, n) => html`<${Line} key=${from + n} text=${text} style=${styles[from + n]} wanted=${wanted} now=${hits[at] === from + n} />`)}
      <div style=${{ height: `${Math.max(0, log.lines.length - to) * LINE}px` }}></div>
      ${log.done && !log.lines.length && html`<p class="empty">Nothing has been written.</p>`}
    </div></section>`;
}
