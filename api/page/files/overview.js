// SPDX-License-Identifier: MIT
// Each GPU of the site as a square on one canvas, machine by machine and cluster by cluster; above it the reader's own
// jobs. States differ by shape as well as by colour.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./htm-preact.js";
import { useDark } from "./chart.js";
import { ask, jobKey, url } from "./client.js";
import { count, many, plain } from "./format.js";
import { address, Command, Failed, jobAddress, State, useData, useTitle } from "./parts.js";

const SQUARE = 12; // pixels, with the gap
const GAP = 2;
const LABEL = 18; // the height of a cluster's name
const KINDS = [["b", "busy", "a job has it, and it works"], ["u", "used", "a job has it; nobody knows whether it works"],
  ["i", "idle", "a job has it, and it does nothing"], ["f", "free", "a job can have it"],
  ["d", "drained", "free, but no job starts on its machine"],
  ["o", "outside", "used by processes of no job"], ["x", "unusable", "it cannot be used"]];

// The whole board in one request: the daemon makes it once a second for all who look at it. What it calls free on a drained
// machine is free for no job.
async function everyGpu(signal) {
  const { value, counts } = await ask("/batchaid/gpus", { cache: "no-cache", signal });
  const rows = value.map((row) => (row.drained ? { ...row, gpus: row.gpus.replaceAll("f", "d") } : row));
  const drained = rows.reduce((n, { gpus }) => n + gpus.split("d").length - 1, 0);
  return { rows, counts: { ...counts, free: counts.free - drained, drained } };
}

// Where each machine's first square is, for a width: {places: [{x, y, row}], labels, height}
function laidOut(rows, width) {
  const groups = new Map();
  for (const row of rows) {
    const name = row.cluster ?? "";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  const places = [];
  const labels = [];
  let y = 0;
  for (const [name, members] of [...groups].sort((a, b) => (a[0] === "" ? 1 : b[0] === "" ? -1 : a[0] < b[0] ? -1 : 1))) {
    labels.push({ y, name: name || "in no cluster", machines: members.length });
    y += LABEL;
    let x = 0;
    for (const row of members) {
      const size = row.gpus.length * SQUARE + GAP * 2;
      if (x > 0 && x + size > width) {
        x = 0;
        y += SQUARE + GAP;
      }
      places.push({ x, y, row });
      x += size;
    }
    y += SQUARE + 10;
  }
  return { places, labels, height: y };
}

function drawGpu(g, kind, x, y, colours) {
  const size = SQUARE - GAP;
  g.strokeStyle = g.fillStyle = colours[kind] ?? colours.x;
  if (kind === "b") {
    g.fillRect(x, y, size, size);
    return;
  }
  g.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  g.beginPath();
  if (kind === "u") g.fillRect(x + 2, y + 2, size - 4, size - 4);
  if (kind === "i") {
    g.fillRect(x, y + size / 2, size, size / 2);
  } else if (kind === "d") {
    g.moveTo(x + 2, y + size / 2);
    g.lineTo(x + size - 2, y + size / 2);
  } else if (kind === "o") {
    g.moveTo(x, y + size);
    g.lineTo(x + size, y);
  } else if (kind === "x") {
    g.moveTo(x, y);
    g.lineTo(x + size, y + size);
    g.moveTo(x + size, y);
    g.lineTo(x, y + size);
  }
  g.stroke();
}

// The squares of one machine as a picture: most machines are like others, and 16,000 squares take long.
function tileOf(gpus, scale, ink) {
  const tile = document.createElement("canvas");
  tile.width = Math.max(1, Math.round(gpus.length * SQUARE * scale));
  tile.height = Math.round(SQUARE * scale);
  const g = tile.getContext("2d");
  g.scale(scale, scale);
  for (let i = 0; i < gpus.length; i++) drawGpu(g, gpus[i], i * SQUARE, 0, ink);
  return tile;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries([...KINDS.map(([letter, name]) => [letter, style.getPropertyValue(`--gpu-${name}`).trim()]), ["ink", style.getPropertyValue("--ink").trim()]]);
}

function draw(canvas, plan, width) {
  // Browsers have limits for the sides and the area of a canvas.
  const scale = Math.min(window.devicePixelRatio || 1, 16000 / plan.height, Math.sqrt(16e6 / (width * plan.height)));
  canvas.width = width * scale;
  canvas.height = plan.height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${plan.height}px`;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  const ink = colours();
  g.font = "12px system-ui, sans-serif";
  for (const label of plan.labels) {
    g.fillStyle = ink.ink;
    g.fillText(`${plain(label.name, 60)}: ${many(label.machines, "machine")}`, 0, label.y + 13);
  }
  const tiles = new Map();
  for (const { x, y, row } of plan.places) {
    if (!tiles.has(row.gpus)) tiles.set(row.gpus, tileOf(row.gpus, scale, ink));
    g.drawImage(tiles.get(row.gpus), x, y, row.gpus.length * SQUARE, SQUARE);
  }
}

function under(plan, x, y) {
  const place = plan.places.find((p) => y >= p.y && y < p.y + SQUARE && x >= p.x && x < p.x + p.row.gpus.length * SQUARE);
  return place && { node: place.row.node, gpu: Math.floor((x - place.x) / SQUARE) };
}

function Gpus({ rows }) {
  const box = useRef();
  const canvas = useRef();
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState(null); // the square under the pointer, whose state may change there
  const plan = useMemo(() => laidOut(rows, width), [rows, width]);
  useLayoutEffect(() => {
    const look = () => setWidth(box.current.clientWidth);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const dark = useDark();
  useLayoutEffect(() => {
    if (width) draw(canvas.current, plan, width);
  }, [plan, width, dark]);
  const point = (e) => {
    const edge = canvas.current.getBoundingClientRect();
    return under(plan, e.clientX - edge.left, e.clientY - edge.top);
  };
  const open = (e) => {
    const found = point(e);
    if (found) location.hash = address(["machine", found.node]).slice(1);
  };
  const letter = over && rows.find((row) => row.node === over.node)?.gpus[over.gpu];
  const kind = KINDS.find((one) => one[0] === letter);
  return html`<div class="gpus" ref=${box}><canvas ref=${canvas} role="img" aria-label=${`GPUs of ${many(rows.length, "machine")}; the table below has the same in words`}
      onMouseMove=${(e) => setOver(point(e) ?? null)} onMouseLeave=${() => setOver(null)} onClick=${open}></canvas></div>
    <p class="quiet over">${kind ? `${plain(over.node, 60)}, GPU ${over.gpu}: ${kind[1]}` : "Point at a square for its machine; a click opens it."}</p>`;
}

// Each entry has its count as a number, so that shape and colour are not alone.
function Legend({ counts }) {
  const canvas = useRef({});
  const dark = useDark();
  useEffect(() => {
    const ink = colours();
    for (const [letter] of KINDS) {
      const g = canvas.current[letter].getContext("2d");
      g.clearRect(0, 0, SQUARE, SQUARE);
      drawGpu(g, letter, 0, 0, ink);
    }
  }, [dark]);
  return html`<ul class="legend">${KINDS.map(([letter, name, text]) => html`<li title=${text}>
    <canvas width=${SQUARE} height=${SQUARE} aria-hidden="true" ref=${(node) => { canvas.current[letter] = node; }}></canvas>
    <a href=${address(["machines"])}><strong>${count(counts[name] ?? 0)}</strong> ${name}</a></li>`)}</ul>`;
}

// The same in words, for readers without pictures; counted once it is open.
function Clusters({ rows }) {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(e) => setOpen(e.target.open)}><summary>As a table</summary>${open && html`<${ClusterTable} rows=${rows} />`}</details>`;
}

function ClusterTable({ rows }) {
  const clusters = new Map();
  for (const row of rows) {
    const name = row.cluster ?? "";
    const one = clusters.get(name) ?? { machines: 0 };
    one.machines++;
    for (const letter of row.gpus) one[letter] = (one[letter] ?? 0) + 1;
    clusters.set(name, one);
  }
  return html`<div class="sheet"><table><thead><tr><th scope="col">Cluster</th><th scope="col">Machines</th>${KINDS.map(([, name, text]) => html`<th scope="col" title=${text}>${name}</th>`)}</tr></thead>
    <tbody>${[...clusters].sort().map(([name, one]) => html`<tr><th scope="row">${name ? plain(name, 60) : "in no cluster"}</th><td class="number">${count(one.machines)}</td>${KINDS.map(([letter]) => html`<td class="number">${count(one[letter] ?? 0)}</td>`)}</tr>`)}</tbody></table></div>`;
}

export function Overview({ session }) {
  useTitle("Overview");
  const gpus = useData("gpus", (signal) => (session.may.readMachines ? everyGpu(signal) : { rows: [], counts: {} }), ["node", "job"]);
  const mine = useData("mine", (signal) => ask(url("/batchaid/jobs", { mine: true, max: 10 }), { signal }), ["job"]);
  const rows = useMemo(() => gpus.data?.rows.filter((row) => row.gpus) ?? [], [gpus.data]);
  const none = gpus.data && !rows.length;
  return html`<h1>Overview</h1>
    <section aria-label="Your jobs"><h2>Your last jobs</h2><${Failed} error=${mine.error} again=${mine.again} />
    ${mine.data && !mine.data.value.length && html`<p class="empty">You have no jobs. <code>batchaid submit -- python train.py</code> submits one, from the folder of its program.</p>`}
    <ul class="cards">${mine.data?.value.map((job) => html`<li key=${jobKey(job)}><a href=${jobAddress(job)}>${plain(job.name, 60)}</a> <${State} of=${job.state} /> <span class="quiet">${plain(job.cluster ?? "", 40)}</span></li>`)}</ul></section>
    ${session.may.readMachines && html`<section aria-label="GPUs"><h2>GPUs</h2><${Failed} error=${gpus.error} again=${gpus.again} />
    ${gpus.data && html`<${Legend} counts=${gpus.data.counts} />`}${none && html`<p class="empty">No machine has told of a GPU. <a href=${address(["machines"])}>Machines</a></p>`}
    ${rows.length > 0 && html`<${Gpus} rows=${rows} /><${Clusters} rows=${rows} />`}</section>`}
    <${Command} words=${session.may.readMachines ? ["batchaid", "top"] : ["batchaid", "jobs", "--mine"]} />`;
}
