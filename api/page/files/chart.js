// SPDX-License-Identifier: MIT
// Lines over time by uPlot, in the colours of the page.
import { html, useEffect, useRef } from "./htm-preact.js";

const HEIGHT = 180;

function coloured(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// times: seconds; series: [{name, values, dash}]; most: the top of the axis, if it is known; show(value): its text.
export function Chart({ title, times, series, most, show, bars }) {
  const box = useRef();
  useEffect(() => {
    const ink = coloured("--ink");
    const axis = { stroke: ink, grid: { stroke: coloured("--line"), width: 1 }, ticks: { stroke: coloured("--line") } };
    const plot = new window.uPlot({
      width: box.current.clientWidth,
      height: HEIGHT,
      title,
      ...(bars ? { tzDate: (ts) => window.uPlot.tzDate(new Date(ts * 1000), "UTC") } : {}),
      scales: { y: { range: (u, low, high) => [0, most ?? (high > 0 ? high * 1.05 : 1)] } },
      axes: [axis, { ...axis, size: 70, values: (u, ticks) => ticks.map((v) => show(v)) }],
      series: [{}, ...series.map((s, n) => ({
        label: s.name,
        stroke: coloured(`--series-${n % 6}`),
        fill: bars ? coloured(`--series-${n % 6}`) : undefined,
        dash: s.dash,
        width: 1.5,
        paths: bars ? window.uPlot.paths.bars({ size: [0.8, 60] }) : undefined,
        value: (u, v) => (v === null || v === undefined ? "–" : show(v)),
      }))],
    }, [times, ...series.map((s) => s.values)], box.current);
    const watch = new ResizeObserver(() => plot.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    watch.observe(box.current);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [title, JSON.stringify(times), JSON.stringify(series)]);
  return html`<figure class="chart" ref=${box} role="img" aria-label=${title}></figure>`;
}
