// SPDX-License-Identifier: MIT
// A folder and its files: browsed, shown, downloaded. Pictures, text, CSV and JSON are shown. HTML and SVG of users are
// shown as text: the page never runs them, and the daemon sends each file with a policy that forbids it too.
import { html, useEffect, useState } from "./htm-preact.js";
import { fetched } from "./client.js";
import { bytes, count, plain, visible, when } from "./format.js";
import { Failed, useData } from "./parts.js";
import { Log } from "./log.js";
import { Table } from "./table.js";
import { readCsv } from "./text.js";

const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];
const SHOWN_MOST = 256 * 1024; // bytes read of CSV and JSON
const ROWS_MOST = 200;

function endOf(name) {
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
}

async function beginning(path, size) {
  if (!size) return { text: "", cut: false };
  const reply = await fetched(path, { headers: { Range: `bytes=0-${SHOWN_MOST - 1}` } });
  return { text: await reply.text(), cut: size > SHOWN_MOST };
}

function Csv({ text, cut }) {
  const rows = readCsv(text, ROWS_MOST + 1);
  const wide = Math.min(50, Math.max(0, ...rows.map((row) => row.length)));
  return html`<div class="sheet"><table><thead><tr>${rows[0]?.slice(0, wide).map((cell) => html`<th scope="col">${plain(cell)}</th>`)}</tr></thead>
    <tbody>${rows.slice(1).map((row) => html`<tr>${row.slice(0, wide).map((cell) => html`<td>${plain(cell)}</td>`)}</tr>`)}</tbody></table></div>
    ${(cut || rows.length > ROWS_MOST) && html`<p class="quiet">These are the first ${count(rows.length - 1)} rows; Download has all.</p>`}`;
}

function Json({ text, cut }) {
  let shown = text;
  try {
    if (!cut) shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not valid JSON: shown as it is.
  }
  return html`<pre class="text">${visible(shown)}</pre>${cut && html`<p class="quiet">This is the beginning; Download has all.</p>`}`;
}

function Part({ path, size, show }) {
  const { data, error } = useData(path, () => beginning(path, size));
  return html`<${Failed} error=${error} />${data && html`<${show} ...${data} />`}`;
}

function Shown({ file, content, follow }) {
  const path = content(false);
  const kind = endOf(file.name);
  if (PICTURES.includes(kind)) return html`<p><img class="picture" src=${path} alt=${`The picture ${plain(file.name, 80)}`} /></p>`;
  if (kind === "csv") return html`<${Part} path=${path} size=${file.size} show=${Csv} />`;
  if (kind === "json" || kind === "ipynb") return html`<${Part} path=${path} size=${file.size} show=${Json} />`;
  return html`<${Log} path=${path} follow=${follow} download=${content(true)} name=${plain(file.name, 80)} />`;
}

// at: the path below the folder, "" is its root. to(path): an address. content(path, download): where its bytes are.
// list(path, after): {value, next}. One level up of a file is its folder.
export function Browser({ label, at, isFile, to, list, content, follow, kinds = [] }) {
  const parts = at.split("/").filter(Boolean);
  const crumbs = html`<nav class="crumbs" aria-label="Folders"><a href=${to("")}>${label}</a>${parts.map((part, n) => html` / <a href=${to(parts.slice(0, n + 1).join("/"))}>${plain(part, 60)}</a>`)}</nav>`;
  const [file, setFile] = useState(null);
  useEffect(() => setFile(null), [at]);
  const above = parts.slice(0, -1).join("/");
  const own = useData(isFile ? at : "", async () => {
    if (!isFile) return null;
    // The list of its folder knows its size.
    let after;
    do {
      const page = await list(above, after);
      const found = page.value.find((one) => one.name === parts[parts.length - 1]);
      if (found) return found;
      after = page.next;
    } while (after !== undefined);
    throw new Error(`There is no file '${plain(at)}'.`);
  });
  if (isFile) {
    const known = file ?? own.data;
    return html`${crumbs}<${Failed} error=${own.error} again=${own.again} />${known && html`<p class="bar"><span class="quiet">${bytes(known.size)}, ${when(known.modifiedTime)}</span>
      <a href=${content(at, true)} download>Download</a></p><${Shown} file=${known} content=${(download) => content(at, download)} follow=${follow} />`}`;
  }
  const path = (one) => (at ? `${at}/${one.name}` : one.name);
  const columns = [
    { title: "Name", kind: "name", cell: (one) => html`<a href=${to(path(one), !one.isDirectory)}>${plain(one.name, 120)}${one.isDirectory ? "/" : ""}</a>` },
    { title: "Size", kind: "number", cell: (one) => (one.isDirectory ? "" : bytes(one.size)) },
    { title: "Changed", kind: "wide", cell: (one) => when(one.modifiedTime) },
    { title: "", cell: (one) => !one.isDirectory && html`<a href=${content(path(one), true)} download>Download</a>` }];
  const load = async (after) => {
    const page = await list(at, after);
    return { rows: page.value, next: page.next };
  };
  return html`${crumbs}<${Table} name="Files" noun="file" columns=${columns} load=${load} listKey=${`${label}/${at}`} kinds=${kinds} keyOf=${(one) => one.name} empty="The folder is empty." />`;
}
