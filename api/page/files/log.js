// SPDX-License-Identifier: MIT
// A file as a log: its end first, by ranges; what is appended follows; what is before comes when the reader scrolls up or
// asks. Only lines that are seen are drawn.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./htm-preact.js";
import { fetched } from "./client.js";
import { bytes, count, visible } from "./format.js";
import { append, BYTES_MOST, LINES_MOST, linesFrom, prepend } from "./lines.js";
import { Failed } from "./parts.js";
import { readLine, shownText } from "./text.js";

const PIECE = 128 * 1024; // of the end, first
const EARLIER = 1024 * 1024;
const OVERLAP = 64; // bytes that are asked for again
const FOLLOW_MS = 2000;
const SOON_MS = 100;
const AGAIN_MOST_MS = 60000;
const LINE = 19; // pixels, as in style.css
const BEYOND = 20;

async function range(path, spec, signal) {
  const reply = await fetched(path, { headers: { Range: `bytes=${spec}` }, signal });
  const part = /^bytes (\d+)-\d+\/(\d+)$/.exec(reply.headers.get("Content-Range") ?? "");
  if (!part && Number(reply.headers.get("Content-Length") ?? Infinity) > BYTES_MOST) {
    await reply.body?.cancel();
    throw new Error("Something between the daemon and here ignores ranges, and the file is too large to show; Download has all.");
  }
  const data = new Uint8Array(await reply.arrayBuffer());
  return part ? { data, from: Number(part[1]), size: Number(part[2]) } : { data, from: 0, size: data.length, isWhole: true };
}

function same(a, b) {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

// The end of a file, as far as it is shown first. An empty file has no range. A refusal of HEAD has no body: the request for
// the range gets the daemon's sentence.
async function beginning(path, signal) {
  const head = await fetched(path, { method: "HEAD", signal }).catch((error) => {
    if (!error.status) throw error;
  });
  if (head?.headers.get("Content-Length") === "0") return { data: new Uint8Array(), from: 0, size: 0 };
  return range(path, `-${PIECE}`, signal);
}

const NOTHING = new Uint8Array();

// `held` is the newest of what is here, with its file's path; `life` is another for each file. A reading that took long
// compares what it began with, because the other reading, of what is before or of what follows, may have added to it.
function useLog(path, follow) {
  const [log, set] = useState({ ...linesFrom(NOTHING, 0), size: 0 });
  const [round, setRound] = useState(0);
  const held = useRef({ life: 0 });
  const hold = (kept) => { held.current = { ...kept, path, life: held.current.life }; };
  const begin = () => { held.current = { ...linesFrom(NOTHING, 0), path, life: held.current.life + 1 }; };
  const show = (size) => set({ ...held.current, size, done: true });
  const earlier = async () => {
    const { from, isFull } = held.current;
    if (from === 0 || isFull) return;
    const first = Math.max(0, from - EARLIER);
    try {
      const piece = await range(path, `${first}-${from - 1}`);
      const now = held.current;
      if (now.path !== path || now.from !== from || piece.from !== first || piece.data.length !== from - first) return;
      hold(prepend(now, piece.data));
      show(piece.size);
    } catch (error) {
      if (held.current.path === path) set((was) => ({ ...was, error, again: earlier }));
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    let timer;
    let wait = FOLLOW_MS;
    let isNew = true; // what is shown is not what is held
    // The end of its job changes `follow` alone, and moves nothing under the reader.
    if (held.current.path !== path) {
      begin();
      set({ ...held.current, size: 0 });
    }
    // Takes a piece; returns whether there is more to read at once.
    const take = (piece, end, over) => {
      const now = held.current;
      if (end === 0 || piece.isWhole) {
        begin();
        hold(linesFrom(piece.data, piece.from));
      } else if (!same(piece.data.subarray(0, over), now.data.subarray(now.data.length - over)) || piece.size - end > BYTES_MOST) {
        begin(); // another file, or one that has grown much
      } else if (piece.data.length > over) {
        hold(append(now, piece.data.subarray(over)));
      }
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
        if (soon) begin();
        else set((before) => ({ ...before, error, again: () => setRound((n) => n + 1), done: true }));
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
  }, [path, follow, round]);
  return { ...log, earlier };
}

// The pieces of a line, with marks on the hits, which may go over several pieces.
function marked(pieces, wanted) {
  const text = pieces.map((piece) => piece.text).join("");
  const hits = [...text.matchAll(wanted)].map((found) => [found.index, found.index + found[0].length]);
  let begin = 0;
  let n = 0;
  return pieces.map((piece) => {
    const end = begin + piece.text.length;
    const parts = [];
    for (let at = begin; at < end;) {
      while (n < hits.length && hits[n][1] <= at) n++;
      const [from, to] = n < hits.length ? hits[n] : [end, end];
      const isHit = from <= at;
      const part = text.slice(at, Math.min(end, isHit ? to : from));
      parts.push(isHit ? html`<mark>${part}</mark>` : part);
      at += part.length;
    }
    begin = end;
    return html`<span class=${piece.names}>${parts}</span>`;
  });
}

function Line({ text, style, wanted, now }) {
  const [whole, set] = useState(false);
  const { pieces, cut } = readLine(text, style, whole);
  return html`<div class=${now ? "line now" : "line"}>${wanted ? marked(pieces, wanted) : pieces.map((p) => (p.names ? html`<span class=${p.names}>${p.text}</span>` : p.text))}
    ${cut > 0 && html` <button onClick=${() => set(true)}>${count(cut)} more characters</button>`}</div>`;
}

// The text as an expression: it finds small and large letters, at the places where they are.
function expression(typed) {
  return typed ? new RegExp(typed.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&"), "giu") : null;
}

// What is seen of lines with escapes or overwritten text, for one search after the other. Not of long lines: a progress bar
// is one line that grows with each reading.
const SEEN_MOST = 200000;
const SEEN_LENGTH = 1000;
const seenTexts = new Map();

function seenText(line) {
  if (line.length > SEEN_LENGTH) return shownText(line);
  if (!line.includes("\u001b") && !line.includes("\r")) return visible(line);
  let text = seenTexts.get(line);
  if (text === undefined) {
    if (seenTexts.size >= SEEN_MOST) seenTexts.clear();
    text = shownText(line);
    seenTexts.set(line, text);
  }
  return text;
}

// The numbers of the lines with a hit. Lines that were searched before are not searched again.
function useHits(log, wanted) {
  const before = useRef({});
  return useMemo(() => {
    const was = before.current;
    const end = log.first + log.lines.length;
    const hits = [];
    const search = (from, to) => {
      for (let n = from; n < to; n++) if (seenText(log.lines[n - log.first]).search(wanted) >= 0) hits.push(n);
    };
    if (wanted && was.wanted === wanted && was.life === log.life) {
      const last = Math.max(was.end - 1, log.first); // which may have gone on
      search(log.first, Math.min(was.first, last));
      for (const n of was.hits) if (n >= log.first && n < last) hits.push(n);
      search(last, end);
    } else if (wanted) {
      search(log.first, end);
    }
    before.current = { wanted, hits, life: log.life, first: log.first, end };
    return hits;
  }, [log.lines, wanted]);
}

export function Log({ path, follow, download, name }) {
  const log = useLog(path, follow);
  const box = useRef();
  const bottom = useRef(true);
  const shown = useRef({});
  const [seen, setSeen] = useState([0, 60]);
  const [typed, setTyped] = useState("");
  const [current, setCurrent] = useState(null); // the number of the line that the reader went to
  const wanted = useMemo(() => expression(typed), [typed]);
  const hits = useHits(log, wanted);
  // The place among the hits; of a line that is gone, the next.
  const at = useMemo(() => {
    const n = current === null ? 0 : hits.findIndex((line) => line >= current);
    return n < 0 ? Math.max(0, hits.length - 1) : n;
  }, [hits, current]);
  const look = () => {
    const node = box.current;
    bottom.current = node.scrollTop + node.clientHeight >= node.scrollHeight - 2 * LINE;
    const from = Math.max(0, Math.floor(node.scrollTop / LINE) - BEYOND);
    setSeen([from, from + Math.ceil(node.clientHeight / LINE) + 2 * BEYOND]);
  };
  useLayoutEffect(() => {
    const moved = shown.current.life === log.life ? log.first - shown.current.first : 0;
    shown.current = { life: log.life, first: log.first };
    if (bottom.current) box.current.scrollTop = box.current.scrollHeight;
    else if (moved) box.current.scrollTop -= moved * LINE; // lines have come or gone in front
    look();
  }, [log.lines]);
  const show = (place) => {
    setCurrent(hits[place]);
    bottom.current = false;
    box.current.scrollTop = Math.max(0, (hits[place] - log.first) * LINE - box.current.clientHeight / 2);
    look();
  };
  useLayoutEffect(() => {
    if (hits.length) show(0);
    else setCurrent(null);
  }, [wanted]);
  const go = (step) => {
    if (!hits.length) return;
    const isThere = hits[at] === current;
    show(isThere ? (at + step + hits.length) % hits.length : at);
  };
  const [from, to] = seen;
  return html`<section class="log" aria-label=${name}>
    <div class="bar"><label>Find <input type="search" value=${typed} onInput=${(e) => setTyped(e.target.value)}
        onKeyDown=${(e) => e.key === "Enter" && go(e.shiftKey ? -1 : 1)} /></label>
      <span class="quiet" role="status">${wanted && (hits.length ? `${count(at + 1)} of ${count(hits.length)} lines` : "in no line that is loaded")}</span>
      ${wanted && html`<button onClick=${() => go(-1)}>Previous</button><button onClick=${() => go(1)}>Next</button>`}
      <span class="quiet">${log.done ? `${bytes(log.size)}${log.from ? `, the last ${bytes(log.size - log.from)} are loaded` : ""}` : "Reading…"}</span>
      ${log.from > 0 && (log.isFull ? html`<span class="quiet">Download has what is before; here are at most ${bytes(BYTES_MOST)} and ${count(LINES_MOST)} lines</span>` : html`<button onClick=${log.earlier}>Load what is before</button>`)}
      <a href=${download} download>Download</a></div>
    <${Failed} error=${log.error} again=${log.again} />
    <div class="lines" ref=${box} onScroll=${look} tabindex="0" role="log" aria-live="off" aria-label=${`Lines of ${name}`}>
      <div style=${{ height: `${Math.min(from, log.lines.length) * LINE}px` }}></div>
      ${log.lines.slice(from, to).map((text, n) => html`<${Line} key=${`${log.life} ${log.first + from + n}`} text=${text} style=${log.styles[from + n]} wanted=${wanted} now=${wanted && hits[at] === log.first + from + n} />`)}
      <div style=${{ height: `${Math.max(0, log.lines.length - to) * LINE}px` }}></div>
      ${log.done && !log.lines.length && html`<p class="empty">Nothing has been written.</p>`}
    </div></section>`;
}
