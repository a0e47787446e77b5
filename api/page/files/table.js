// SPDX-License-Identifier: MIT
// A list of any length: read page by page as it is scrolled, and drawn only where it is seen. Rows have one height, so
// that the place of each is known. A change reads the list again while its beginning is seen, as far as rows are seen or
// chosen; further down it says so instead, because rows must not move under the reader's hand.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./htm-preact.js";
import { count, many, NAME_MOST, plain } from "./format.js";
import { Failed, keepFocus, note, setQuery, useChanges } from "./parts.js";

const ROW = 34; // pixels, as in style.css
const BEYOND = 8; // rows drawn above and below what is seen
const PAGES_AGAIN = 10; // at most so many pages are read again after a change: those of a filter may be empty

// needed(): how many rows from the first a new reading has to have.
function useList(load, key, keyOf, kinds, every, atTop, needed) {
  const [list, set] = useState({ rows: [], leftOut: [], next: undefined, stale: false, done: false });
  const busy = useRef(false);
  const ends = useRef([]); // how many rows there are after each page that was read
  const known = useRef(new Set()); // the keys of the rows
  const round = useRef(0);
  const stop = useRef(); // an AbortController, for the reader who goes on
  const next = useRef(); // not of a drawing: an effect of an older drawing may run late
  // The number of pages that have so many rows.
  const pagesOf = (rows) => {
    const last = ends.current.findIndex((end) => end >= rows);
    return Math.max(1, last < 0 ? ends.current.length : last + 1);
  };
  // The rows that are not there yet: between two pages a row may have changed its place.
  const fresh = (rows, keys) => rows.filter((row) => {
    const before = keys.size;
    return keys.add(keyOf(row)).size > before;
  });
  const read = async (wanted, isAsked) => {
    const mine = ++round.current;
    busy.current = true;
    try {
      let rows = [];
      let page = { next: undefined };
      let head;
      const sizes = [];
      const leftOut = [];
      const keys = new Set();
      for (let n = 0; n < wanted; n++) {
        page = await load(page.next, stop.current.signal);
        if (mine !== round.current) return;
        head ??= page;
        rows = rows.concat(fresh(page.rows, keys));
        sizes.push(rows.length);
        leftOut.push(page.leftOut);
        if (page.next === undefined) break;
      }
      // The reader has gone on meanwhile: rows stay where they are.
      if (!isAsked && !atTop()) {
        set((before) => ({ ...before, stale: true }));
        return;
      }
      ends.current = sizes;
      known.current = keys;
      next.current = page.next;
      set({ rows, leftOut, next: page.next, count: head.count, isMinimum: head.isMinimum, stale: false, done: true, key });
    } catch (error) {
      if (mine !== round.current) return;
      next.current = undefined; // "Try again" begins again
      set((before) => ({ ...(before.key === key ? before : { rows: [], leftOut: [] }), error, done: true, key }));
    } finally {
      if (mine === round.current) busy.current = false;
    }
  };
  const more = async () => {
    if (busy.current || next.current === undefined) return;
    const mine = round.current;
    busy.current = true;
    try {
      const page = await load(next.current, stop.current.signal);
      if (mine !== round.current) return;
      const rows = fresh(page.rows, known.current);
      ends.current.push((ends.current.at(-1) ?? 0) + rows.length);
      next.current = page.next;
      set((before) => ({ ...before, rows: before.rows.concat(rows), leftOut: before.leftOut.concat([page.leftOut]), next: page.next, error: undefined }));
    } catch (error) {
      if (mine === round.current) set((before) => ({ ...before, error }));
    } finally {
      if (mine === round.current) busy.current = false;
    }
  };
  const first = (rows = 0) => read(Math.min(PAGES_AGAIN, pagesOf(rows)), true);
  const again = () => (next.current === undefined ? first() : set((before) => ({ ...before, error: undefined })));
  useLayoutEffect(() => {
    stop.current = new AbortController();
    read(1, true); // before the view is painted
    return () => {
      round.current++;
      stop.current.abort();
    };
  }, [key]);
  useChanges(kinds, async () => {
    const pages = pagesOf(needed());
    if (pages <= PAGES_AGAIN && atTop()) await read(pages);
    else set((before) => ({ ...before, stale: true }));
  }, every);
  return { ...list, more, first, again };
}

// Which rows are drawn, and the first that is seen: [from, to, first]. The state knows nothing of `total`, so that rows that
// come are drawn at once.
function useWindow(box, total) {
  const [[from, end, first], set] = useState([0, 40, 0]);
  useLayoutEffect(() => {
    const look = () => {
      // A list that has become shorter is not where it was.
      const { scrollTop, clientHeight } = box.current;
      const begin = Math.ceil(Math.min(scrollTop, Math.max(0, (total + 1) * ROW - clientHeight)) / ROW);
      const top = Math.max(0, begin - BEYOND);
      const bottom = top + Math.ceil(clientHeight / ROW) + 2 * BEYOND;
      set((before) => (before[2] === begin && before[1] === bottom ? before : [top, bottom, begin]));
    };
    look();
    const node = box.current;
    const watch = new ResizeObserver(look);
    watch.observe(node);
    node.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      node.removeEventListener("scroll", look);
    };
  }, [total]);
  return [from, Math.min(total, end), first];
}

// The keyboard goes on in the list if the row that had the focus is gone.
function useFocus(box, rows) {
  const focused = useRef(null);
  useEffect(() => {
    const node = box.current;
    const came = (e) => { focused.current = e.target; };
    // A row that is removed loses the focus too; one that is still there has lost it to something else.
    const left = () => queueMicrotask(() => {
      if (focused.current?.isConnected && !node.contains(document.activeElement)) focused.current = null;
    });
    node.addEventListener("focusin", came);
    node.addEventListener("focusout", left);
    return () => {
      node.removeEventListener("focusin", came);
      node.removeEventListener("focusout", left);
    };
  }, []);
  useLayoutEffect(() => {
    if (!focused.current || focused.current.isConnected || document.activeElement !== document.body) return;
    (box.current.querySelector("tr[tabindex='0']") ?? box.current).focus({ preventScroll: true });
  }, [rows]);
}

function Head({ columns, query, pick, picked, rows }) {
  const sorted = query.sort ?? "";
  const cell = (c) => {
    if (!c.sort) return html`<th class=${c.kind} scope="col">${c.title}</th>`;
    const down = sorted === `-${c.sort}`;
    const up = sorted === c.sort;
    const to = up ? `-${c.sort}` : down ? "" : c.sort;
    return html`<th class=${c.kind} scope="col" aria-sort=${up ? "ascending" : down ? "descending" : undefined}>
      <button class="sort" onClick=${() => setQuery({ sort: to })}>${c.title} <span aria-hidden="true">${up ? "▲" : down ? "▼" : ""}</span></button></th>`;
  };
  return html`<thead><tr>${pick && html`<th class="pick"><input type="checkbox" aria-label="Choose all rows that are loaded"
    checked=${picked.size > 0 && picked.size === rows.length} onChange=${(e) => pick(e.target.checked ? rows : [])} /></th>`}
    ${columns.map(cell)}</tr></thead>`;
}

function moveFocus(box, index, total) {
  const to = Math.max(0, Math.min(total - 1, index));
  const node = box.current;
  if (to * ROW < node.scrollTop) node.scrollTop = to * ROW;
  else if ((to + 2) * ROW > node.scrollTop + node.clientHeight) node.scrollTop = (to + 2) * ROW - node.clientHeight;
  // The row is drawn after the scroll.
  requestAnimationFrame(() => requestAnimationFrame(() => node.querySelector(`[data-index="${to}"]`)?.focus()));
}

function summaryOf(list, noun) {
  const shown = list.rows.length;
  if (!list.done) return "Reading…";
  if (list.error && !shown) return "";
  if (list.count === undefined || (list.isMinimum && shown >= list.count)) return `${many(shown, noun)}${list.next !== undefined ? ", and more below" : ""}`;
  const all = `${list.isMinimum ? "more than " : ""}${count(list.count)}`;
  return shown < list.count ? `${count(shown)} of ${all} ${noun}s` : many(list.count, noun);
}

// The number of rows is said aloud when other filters have been read, and not for each page and each change.
function Summary({ list, noun }) {
  const words = summaryOf(list, noun);
  const said = useMemo(() => (list.done ? words : ""), [list.key, list.done]);
  return html`<span class="quiet">${words}</span><span class="unseen" role="status">${said}</span>`;
}

// columns: {title, cell(row), sort, kind}; actions: {title, run(rows), for(row)}. run() resolves to the rows that failed, which
// stay chosen, or to nothing if the reader went back. leftOut(said): words for what load() has said as `leftOut` of each page.
export function Table({ name, noun, columns, load, listKey, kinds = [], every, keyOf, query = {}, actions = [], leftOut, empty }) {
  const box = useRef();
  const [picked, setPicked] = useState(new Set()); // keys
  const view = useRef({ to: 0, last: -1 });
  const list = useList(load, listKey, keyOf, kinds, every, () => !box.current || box.current.scrollTop < ROW, () => Math.max(view.current.to, view.current.last + 1));
  const [from, to, first] = useWindow(box, list.rows.length);
  useFocus(box, list.rows);
  const chosen = picked.size ? list.rows.filter((one) => picked.has(keyOf(one))) : [];
  view.current = { to, last: chosen.length ? list.rows.lastIndexOf(chosen.at(-1)) : -1 };
  useEffect(() => {
    setPicked(new Set());
    box.current.scrollTop = 0;
  }, [listKey]);
  // What has left the list is no longer chosen.
  useEffect(() => {
    if (chosen.length < picked.size) setPicked(new Set(chosen.map(keyOf)));
  }, [list.rows]);
  useEffect(() => {
    if (!list.error && list.next !== undefined && to + 2 * BEYOND >= list.rows.length) list.more();
  });
  const again = (rows) => {
    box.current.scrollTop = 0;
    return list.first(rows);
  };
  const pick = actions.length ? (rows) => setPicked(new Set(rows.map(keyOf))) : null;
  const toggle = (row) => setPicked((before) => {
    const after = new Set(before);
    if (!after.delete(keyOf(row))) after.add(keyOf(row));
    return after;
  });
  const keys = (e, row, index) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity };
    if (e.key in steps) {
      moveFocus(box, index + steps[e.key], list.rows.length);
    } else if (e.key === "Enter" && e.target === e.currentTarget) {
      e.currentTarget.querySelector("a")?.click();
    } else if (e.key === " " && e.target === e.currentTarget && pick) {
      toggle(row);
    } else {
      return;
    }
    e.preventDefault();
  };
  const run = async (action) => {
    const rows = chosen.filter((row) => !action.for || action.for(row));
    if (!rows.length) {
      note(`${action.title}: no chosen ${noun} can be changed so any more.`, "failed");
      return;
    }
    const failed = await action.run(rows);
    if (!failed || !box.current) return;
    setPicked(new Set(failed.map(keyOf)));
    await again(failed.length ? view.current.last + 1 : 0);
    keepFocus(box.current);
  };
  const row = (one, index) => html`<tr key=${keyOf(one)} data-index=${index} aria-rowindex=${index + 2} tabindex=${index === Math.min(first, to - 1) ? 0 : -1}
    onKeyDown=${(e) => keys(e, one, index)} class=${picked.has(keyOf(one)) ? "picked" : ""}>
    ${pick && html`<td class="pick"><input type="checkbox" tabindex="-1" aria-label=${`Choose ${plain(one.name, 80)}`} checked=${picked.has(keyOf(one))} onChange=${() => toggle(one)} /></td>`}
    ${columns.map((c) => html`<td class=${c.kind} title=${c.kind === "name" ? plain(one.name, NAME_MOST) : undefined}>${c.cell(one)}</td>`)}</tr>`;
  const width = columns.length + (pick ? 1 : 0);
  return html`<section class="list" aria-label=${name}>
    <div class="bar"><${Summary} list=${list} noun=${noun} />
      ${list.stale && html`<button onClick=${() => again(view.current.last + 1)}>The list ${every ? "may have" : "has"} changed: read it again</button>`}
      <span class="actions"><span role="status">${chosen.length > 0 && `${count(chosen.length)} chosen:`}</span> ${chosen.length > 0 && actions.map((action) => {
        const n = chosen.filter((one) => !action.for || action.for(one)).length;
        return html`<button disabled=${!n || (action.one && n !== 1)} onClick=${() => run(action)}>${action.title}${n !== chosen.length ? ` (${count(n)})` : ""}</button> `;
      })}</span></div>
    <${Failed} error=${list.error} again=${list.again} />${leftOut?.(list.leftOut.filter(Boolean))}
    <div class="scroll" ref=${box} tabindex="-1">
      <table aria-rowcount=${list.count === undefined ? -1 : list.count + 1}><${Head} columns=${columns} query=${query} pick=${pick} picked=${picked} rows=${list.rows} />
      <tbody>${from > 0 && html`<tr class="space" aria-hidden="true" style=${{ height: `${from * ROW}px` }}><td colspan=${width}></td></tr>`}
        ${list.rows.slice(from, to).map((one, n) => row(one, from + n))}
        ${to < list.rows.length && html`<tr class="space" aria-hidden="true" style=${{ height: `${(list.rows.length - to) * ROW}px` }}><td colspan=${width}></td></tr>`}
      </tbody></table>
      ${list.done && !list.rows.length && list.next === undefined && !list.error && html`<p class="empty">${empty}</p>`}
    </div></section>`;
}
