// SPDX-License-Identifier: MIT
// A file as a log: its end first, by ranges; what is appended follows; what is before comes when the reader scrolls up or
// asks. At most MOST bytes are kept. Only lines that are seen are drawn.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./htm-preact.js";
import { fetched } from "./client.js";
import { bytes, count } from "./format.js";
import { Failed } from "./parts.js";
import { readLine } from "./text.js";

const PIECE = 128 * 1024; // of the end, first
const EARLIER = 1024 * 1024;
const MOST = 8 * 1024 * 1024;
const FOLLOW_MS = 2000;
const LINE = 19; // pixels, as in style.css
const BEYOND = 20;

async function range(path, spec, signal) {
  const reply = await fetched(path, { headers: { Range: `bytes=${spec}` }, signal });
  const data = new Uint8Array(await reply.arrayBuffer());
  const [, from, size] = /bytes (\d+)-\d*\/(\d+)/.exec(reply.headers.get("Content-Range") ?? "") ?? [null, 0, data.length];
  return { data, from: Number(from), size: Number(size) };
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

function useLog(path, follow) {
  const [log, set] = useState({ lines: [], from: 0, size: 0 });
  const held = useRef({});
  const show = (size) => set({ lines: linesOf(held.current.data, held.current.from), from: held.current.from, size, done: true });
  const earlier = async () => {
    const { data, from } = held.current;
    if (from === 0 || data.length >= MOST) return 0;
    const begin = Math.max(0, from - EARLIER);
    const piece = await range(path, `${begin}-${from - 1}`);
    const before = log.lines.length;
    held.current = { path, data: joined(piece.data, data), from: begin };
    show(piece.size);
    return linesOf(held.current.data, begin).length - before;
  };
  useEffect(() => {
    const stop = new AbortController();
    let timer;
    // The end of its job changes `follow` alone, and moves nothing under the reader.
    if (held.current.path !== path) {
      held.current = { path, data: new Uint8Array(), from: 0 };
      set({ lines: [], from: 0, size: 0 });
    }
    const next = async () => {
      const { data, from } = held.current;
      const end = from + data.length;
      try {
        // With the last byte that is here: a range behind the end of a file is an error.
        const piece = end === 0 ? await beginning(path, stop.signal) : await range(path, `${end - 1}-`, stop.signal);
        if (end === 0) held.current = { path, data: piece.data, from: piece.from };
        else if (piece.data.length > 1) held.current = { path, ...appended(data, from, piece.data.subarray(1)) };
        show(piece.size);
      } catch (error) {
        if (error.name === "AbortError") return;
        // 416: the file is shorter than it was, and is read anew.
        if (error.status === 416) held.current = { path, data: new Uint8Array(), from: 0 };
        else set((before) => ({ ...before, error, done: true }));
      }
      if (follow) timer = setTimeout(next, document.hidden ? 5 * FOLLOW_MS : FOLLOW_MS);
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
  const lower = text.toLowerCase();
  let at = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, at)) {
    parts.push(text.slice(at, found), html`<mark>${text.slice(found, found + wanted.length)}</mark>`);
    at = found + wanted.length;
  }
  parts.push(text.slice(at));
  return parts;
}

function Line({ text, wanted, now }) {
  const [whole, set] = useState(false);
  const { pieces, cut } = readLine(text, {}, whole);
  return html`<div class=${now ? "line now" : "line"}>${pieces.map((p) => (p.names || wanted ? html`<span class=${p.names}>${marked(p.text, wanted)}</span>` : p.text))}
    ${cut > 0 && html` <button onClick=${() => set(true)}>${count(cut)} more characters</button>`}</div>`;
}

export function Log({ path, follow, download, name }) {
  const log = useLog(path, follow);
  const box = useRef();
  const bottom = useRef(true);
  const [seen, setSeen] = useState([0, 60]);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const wanted = typed.toLowerCase();
  const hits = wanted ? log.lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : [])) : [];
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
      ${log.from > 0 && html`<button onClick=${older}>Load what is before</button>`}
      <a href=${download} download>Download</a></div>
    <${Failed} error=${log.error} />
    <div class="lines" ref=${box} onScroll=${look} tabindex="0" role="log" aria-live="off" aria-label=${`Lines of ${name}`}>
      <div style=${{ height: `${Math.min(from, log.lines.length) * LINE}px` }}></div>
      ${log.lines.slice(from, to).map((text, n) => html`<${Line} key=${from + n} text=${text} wanted=${wanted} now=${hits[at] === from + n} />`)}
      <div style=${{ height: `${Math.max(0, log.lines.length - to) * LINE}px` }}></div>
      ${log.done && !log.lines.length && html`<p class="empty">Nothing has been written.</p>`}
    </div></section>`;
}
