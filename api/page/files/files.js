// SPDX-License-Identifier: MIT
// A folder and its files: browsed, shown, downloaded. Pictures, text, CSV and JSON are shown. HTML and SVG of users are
// shown as text: the page never runs them, and the daemon sends each file with a policy that forbids it too.
import { html, useEffect, useMemo, useRef } from "./htm-preact.js";
import { fetched } from "./client.js";
import { bytes, count, many, NAME_MOST, plain, visible, when } from "./format.js";
import { Failed, keepFocus, useData } from "./parts.js";
import { Log } from "./log.js";
import { Table } from "./table.js";
import { indentJson, readCsv } from "./text.js";

const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];
const SHOWN_MOST = 256 * 1024; // bytes read of CSV and JSON
const EVERY_MS = 5000; // of a folder that is being written to: files have no events
const ROWS_MOST = 200;
const COLUMNS_MOST = 50;

function endOf(name) {
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
}

async function beginning(path, size, signal) {
  if (!size) return { text: "", cut: false };
  const reply = await fetched(path, { headers: { Range: `bytes=0-${SHOWN_MOST - 1}` }, signal });
  return { text: await reply.text(), cut: size > SHOWN_MOST };
}

// Of a text that is cut, the last row may be cut too.
function wholeRows(text, cut) {
  const read = readCsv(text, ROWS_MOST + 1);
  return cut && read.length <= ROWS_MOST ? read.slice(0, -1) : read;
}

function Csv({ text, cut }) {
  const rows = useMemo(() => wholeRows(text, cut), [text, cut]);
  if (!rows.length) return html`<p class="empty">The first row is longer than ${bytes(SHOWN_MOST)}; Download has all.</p>`;
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const wide = Math.min(COLUMNS_MOST, columns);
  return html`<div class="sheet"><table><thead><tr>${rows[0]?.slice(0, wide).map((cell) => html`<th scope="col">${plain(cell)}</th>`)}</tr></thead>
    <tbody>${rows.slice(1).map((row) => html`<tr>${row.slice(0, wide).map((cell) => html`<td>${plain(cell)}</td>`)}</tr>`)}</tbody></table></div>
    ${(cut || rows.length > ROWS_MOST) && html`<p class="quiet">These are the first ${count(rows.length - 1)} rows; Download has all.</p>`}
    ${columns > wide && html`<p class="quiet">These are the first ${wide} of ${count(columns)} columns; Download has all.</p>`}`;
}

function Json({ text, cut }) {
  const shown = useMemo(() => visible(cut ? text : indentJson(text)), [text, cut]);
  return html`<pre class="text">${shown}</pre>${cut && html`<p class="quiet">This is the beginning; Download has all.</p>`}`;
}

// version: another after each change of the file. What was shown stays until the new is there.
function Part({ path, size, version, show }) {
  const { data, error } = useData(`${path} ${version}`, (signal) => beginning(path, size, signal));
  const last = useRef();
  last.current = data ?? last.current;
  if (!size) return html`<p class="empty">The file is empty.</p>`;
  return html`<${Failed} error=${error} />${last.current && html`<${show} ...${last.current} />`}`;
}

function Shown({ file, content, follow }) {
  const path = content(false);
  const kind = endOf(file.name);
  const version = `${file.size} ${file.modifiedTime}`;
  if (PICTURES.includes(kind)) return html`<p><img class="picture" src=${`${path}&version=${encodeURIComponent(version)}`} alt=${`The picture ${plain(file.name, 80)}`} /></p>`;
  if (kind === "csv") return html`<${Part} path=${path} size=${file.size} version=${version} show=${Csv} />`;
  if (kind === "json" || kind === "ipynb") return html`<${Part} path=${path} size=${file.size} version=${version} show=${Json} />`;
  return html`<${Log} path=${path} follow=${follow} download=${content(true)} name=${plain(file.name, 80)} />`;
}

// The folders above a path, each with what names it: "a/b/c" has a and a/b.
function above(at) {
  const folders = [];
  for (let n = at.indexOf("/"); n >= 0 && n < at.length - 1; n = at.indexOf("/", n + 1)) folders.push(at.slice(0, n));
  return folders;
}

function lastOf(path) {
  const name = path.endsWith("/") ? path.slice(0, -1) : path;
  return name.slice(name.lastIndexOf("/") + 1);
}

// Names of blobs may have two slashes in sequence, or begin with a slash: then the slash is of the folder's name.
function folderOf(at) {
  const n = at.lastIndexOf("/");
  if (n < 0) return "";
  return n === 0 || at[n - 1] === "/" ? at.slice(0, n + 1) : at.slice(0, n);
}

// A place in a list by names that is before the name, and near to it. [...]: no half of a character is left.
function before(name) {
  return [...name].slice(0, -1).join("") || undefined;
}

// A file as the list of its folder has it: with its size.
async function found(list, at, byNames, signal) {
  let after = byNames ? before(lastOf(at)) : undefined;
  do {
    const page = await list(folderOf(at), after, signal);
    const one = page.value.find((entry) => entry.path === at);
    if (one) return one;
    after = page.next;
  } while (after !== undefined);
  throw new Error(`There is no file '${plain(at)}'.`);
}

function OneFile({ label, at, list, byNames, content, follow }) {
  const { data: file, error, again } = useData(`${label} ${at}`, (signal) => found(list, at, byNames, signal), [], follow ? EVERY_MS : undefined);
  // The last that its job wrote, once the job has ended.
  const followed = useRef(follow);
  useEffect(() => {
    if (followed.current && !follow) again();
    followed.current = follow;
  }, [follow]);
  return html`<${Failed} error=${error} again=${again} />${file && html`<p class="bar"><span class="quiet">${bytes(file.size)}, ${when(file.modifiedTime)}</span>
    <a href=${content(at, true)} download>Download</a></p><${Shown} file=${file} content=${(download) => content(at, download)} follow=${follow} />`}`;
}

// at: the path below the folder, as the list names it; "" is its root. to(path, isFile): an address. list(path, after,
// signal): a page of entries. byNames: `after` is a name, so a list may begin anywhere. content(path, download): where its bytes are.
export function Browser({ label, at, isFile, to, list, byNames, content, follow, every, kinds = [] }) {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) keepFocus();
    first.current = false;
  }, [at, isFile]);
  const crumbs = html`<nav class="crumbs" aria-label="Folders"><a href=${to("")}>${label}</a>${above(at).map((folder) => html` / <a href=${to(folder)}>${plain(lastOf(folder), 60)}</a>`)}${at && html` / <span title=${plain(lastOf(at), NAME_MOST)}>${plain(lastOf(at), 60)}</span>`}</nav>`;
  if (isFile) return html`${crumbs}<${OneFile} key=${`${label} ${at}`} label=${label} at=${at} list=${list} byNames=${byNames} content=${content} follow=${follow} />`;
  const columns = [
    { title: "Name", kind: "name", cell: (one) => html`<a href=${to(one.path, !one.isDirectory)}>${plain(one.name, 120)}${one.isDirectory ? "/" : ""}</a>` },
    { title: "Size", kind: "number", cell: (one) => (one.isDirectory ? "" : bytes(one.size)) },
    { title: "Changed", kind: "wide", cell: (one) => when(one.modifiedTime) },
    { title: "", cell: (one) => !one.isDirectory && html`<a href=${content(one.path, true)} download>Download</a>` }];
  const load = async (after, signal) => {
    const page = await list(at, after, signal);
    return { rows: page.value, next: page.next, leftOut: page.leftOut };
  };
  const leftOut = (said) => {
    const n = said.reduce((sum, one) => sum + one, 0);
    return n > 0 && html`<p class="quiet">${many(n, "name")} cannot be shown (not UTF-8, a special file, or a link to a directory, to nothing or to another place).</p>`;
  };
  return html`${crumbs}
    <${Table} name="Files" noun="file" columns=${columns} load=${load} listKey=${`${label}/${at}`} kinds=${kinds} every=${follow ? EVERY_MS : every} keyOf=${(one) => `${one.isDirectory ? "/" : ""}${one.path}`} leftOut=${leftOut} empty="The folder is empty." />`;
}
