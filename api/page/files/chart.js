// SPDX-License-Identifier: MIT
// Lines over time by uPlot, in the colours of the page, and the same as a table.
import { html, useEffect, useRef, useState } from "./htm-preact.js";
import { when } from "./format.js";

const HEIGHT = 180;
const ROWS_MOST = 50; // of the table

function coloured(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Whether the page is dark: what is drawn by hand is drawn again when that changes.
export function useDark() {
  const [dark, set] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const asked = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => set(asked.matches);
    changed();
    asked.addEventListener("change", changed);
    return () => asked.removeEventListener("change", changed);
  }, []);
  return dark;
}

// Pixels drawn and left out, in turn: a colour is never alone.
const DASHES = [[], [8, 4], [2, 3], [16, 4], [8, 3, 2, 3], [16, 4, 2, 4], [8, 3, 2, 3, 2, 3], [5, 12]];

function dashOf(n) {
  return DASHES[n % DASHES.length];
}

// The same line for the legend.
function lineOf(colour, dash) {
  let at = 0;
  const stops = (dash.length ? dash : [1]).map((length, n) => `${n % 2 ? "transparent" : colour} ${at}px ${(at += length)}px`);
  return `repeating-linear-gradient(to right, ${stops.join()}) center / 100% 2px no-repeat`;
}

const HALF_DAY = 43200; // seconds

// The first and the last bar are drawn whole: each is of a day, in its middle.
function wholeBars(plot, low, high) {
  const first = plot.data[0][0];
  const last = plot.data[0].at(-1);
  return [low <= first ? first - HALF_DAY : low, high >= last ? last + HALF_DAY : high];
}

function plotted(node, { title, series, most, bars }, show, data) {
  const axis = { stroke: coloured("--ink"), grid: { stroke: coloured("--line"), width: 1 }, ticks: { stroke: coloured("--line") } };
  return new window.uPlot({
    width: node.clientWidth,
    height: HEIGHT,
    title,
    ...(bars ? { tzDate: (ts) => window.uPlot.tzDate(new Date(ts * 1000), "UTC") } : {}),
    scales: { x: bars ? { range: wholeBars } : {}, y: { range: (u, low, high) => [0, most ?? (high > 0 ? high * 1.05 : 1)] } },
    legend: bars ? {} : { markers: { width: 0, fill: (u, n) => lineOf(coloured(`--series-${(n - 1) % 6}`), dashOf(n - 1)) } },
    axes: [axis, { ...axis, size: 70, values: (u, ticks) => ticks.map((v) => show.current(v)) }],
    series: [{}, ...series.map((s, n) => ({
      label: s.name,
      stroke: coloured(`--series-${n % 6}`),
      fill: bars ? coloured(`--series-${n % 6}`) : undefined,
      dash: bars ? undefined : dashOf(n),
      width: 1.5,
      paths: bars ? window.uPlot.paths.bars({ size: [0.8, 60] }) : undefined,
      value: (u, v) => (v === null || v === undefined ? "–" : show.current(v)),
    }))],
  }, data, node);
}

// New values in a plot: a part that the reader has chosen stays chosen.
function renew(plot, data) {
  const { min, max } = plot.scales.x;
  const old = plot.data[0];
  const isPart = old.length > 0 && (min > old[0] || max < old[old.length - 1]);
  plot.setData(data, !isPart);
  if (isPart) plot.redraw();
}

// At most ROWS_MOST rows, evenly chosen of those that have a value.
function Values({ title, times, series, show, bars }) {
  const [open, setOpen] = useState(false);
  const all = open ? times.flatMap((time, n) => (series.some((s) => typeof s.values[n] === "number") ? [n] : [])) : [];
  const step = Math.max(1, Math.ceil(all.length / ROWS_MOST));
  const rows = all.filter((n, place) => place % step === 0);
  const time = (n) => (bars ? new Date(times[n] * 1000).toISOString().slice(0, 10) : when(times[n] * 1000));
  return html`<details onToggle=${(e) => setOpen(e.target.open)}><summary>${title} as a table</summary>${open && html`<div class="sheet"><table>
    ${step > 1 && html`<caption>${rows.length} of ${all.length} times</caption>`}
    <thead><tr><th scope="col">Time</th>${series.map((s) => html`<th scope="col">${s.name}</th>`)}</tr></thead>
    <tbody>${rows.map((n) => html`<tr><th scope="row">${time(n)}</th>${series.map((s) => html`<td class="number">${typeof s.values[n] === "number" ? show(s.values[n]) : "–"}</td>`)}</tr>`)}</tbody></table></div>`}</details>`;
}

// times: seconds; series: [{name, values}]; most: the top of the axis, if it is known; show(value): its text.
export function Chart({ title, times, series, most, show, bars }) {
  const box = useRef();
  const plot = useRef();
  const shown = useRef();
  shown.current = show;
  const dark = useDark();
  const data = [times, ...series.map((s) => s.values)];
  useEffect(() => {
    const mine = plotted(box.current, { title, series, most, bars }, shown, data);
    plot.current = mine;
    const watch = new ResizeObserver(() => mine.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    watch.observe(box.current);
    return () => {
      watch.disconnect();
      mine.destroy();
    };
  }, [title, series.map((s) => s.name).join(), dark]);
  useEffect(() => {
    if (plot.current.data !== data) renew(plot.current, data);
  }, [JSON.stringify(data)]);
  return html`<figure class="chart" ref=${box} role="img" aria-label=${title}></figure><${Values} title=${title} times=${times} series=${series} show=${show} bars=${bars} />`;
}
