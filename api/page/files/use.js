// SPDX-License-Identifier: MIT
// Who used what: the report as a table and as bars, and the days of a month.
import { html } from "./htm-preact.js";
import { ask, url } from "./client.js";
import { Chart } from "./chart.js";
import { count, duration, hours, plain, present } from "./format.js";
import { Choice, Command, Failed, setQuery, useData, useTitle } from "./parts.js";

const BY = ["user", "group", "cluster", "gpu", "experiment"];
const DAY = 86400000;
const SHOWN = 100;
const DAYS_MOST = 31; // of the chart: a request each

function isDay(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text ?? "") && !Number.isNaN(Date.parse(text));
}

function day(time) {
  return new Date(time).toISOString().slice(0, 10);
}

async function daily(from, to, signal) {
  const days = [];
  for (let at = Math.max(Date.parse(from), Date.parse(to) - DAYS_MOST * DAY); at < Date.parse(to); at += DAY) days.push(at);
  const reports = await Promise.all(days.map((at) => ask(url("/batchaid/usage", { by: "user", from: new Date(at).toISOString(), to: new Date(at + DAY).toISOString() }), { signal })));
  return days.map((at, n) => ({ at, use: reports[n].total }));
}

// What is compared: hours of GPUs, if there are any.
function memberOf(uses) {
  return uses.some((use) => use?.gpuMilliseconds) ? "gpuMilliseconds" : "nodeMilliseconds";
}

// It has what it compares, whatever the table beside it has or is about to have.
function Days({ days, isPart }) {
  const member = memberOf(days.map((d) => d.use));
  const values = days.map((d) => d.use[member] / 3600000);
  return html`<${Chart} title=${member === "gpuMilliseconds" ? "GPU hours a day (UTC)" : "Node hours a day (UTC)"} times=${days.map((d) => d.at / 1000)} bars=${true} show=${(v) => v.toFixed(1)} series=${[{ name: "hours", values }]} />
    ${isPart && html`<p class="quiet">The chart has the last ${DAYS_MOST} days.</p>`}`;
}

function Bar({ use, most, member }) {
  const part = (n) => ({ width: `${most ? (100 * n) / most : 0}%` });
  if (member === "nodeMilliseconds") return html`<span class="bars" role="img" aria-label=${`${hours(use.nodeMilliseconds)} h`}><span class="bar-busy" style=${part(use.nodeMilliseconds)}></span></span>`;
  const words = `${hours(use.gpuBusyMilliseconds)} h busy, ${hours(use.gpuIdleMilliseconds)} h idle, ${hours(use.gpuUnknownMilliseconds)} h unknown`;
  return html`<span class="bars" role="img" aria-label=${words} title=${words}><span class="bar-busy" style=${part(use.gpuBusyMilliseconds)}></span><span class="bar-idle" style=${part(use.gpuIdleMilliseconds)}></span><span class="bar-unknown" style=${part(use.gpuUnknownMilliseconds)}></span></span>`;
}

export function Use({ query }) {
  useTitle("Use");
  const by = BY.includes(query.by) ? query.by : "user";
  const to = isDay(query.to) ? query.to : day(present() + DAY);
  const from = isDay(query.from) ? query.from : day(Date.parse(to) - 14 * DAY);
  const report = useData(JSON.stringify([by, from, to]), (signal) => ask(url("/batchaid/usage", { by, from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` }), { signal }));
  const days = useData(`${from} ${to}`, (signal) => daily(from, to, signal));
  const again = () => [report, days].forEach((one) => one.error && one.again());
  const total = report.data?.total;
  const member = memberOf([total]);
  const rows = [...(report.data?.value ?? [])].sort((a, b) => b[member] - a[member]);
  const line = (name, use) => html`<tr><th scope="row">${plain(name || "–", 80)}</th><td class="number">${count(use.runs)}</td><td class="number">${hours(use.gpuMilliseconds)}</td><td class="number">${hours(use.nodeMilliseconds)}</td>
    <td class="number wide">${hours(use.coreMilliseconds)}</td><td class="number wide">${use.runs ? duration(use.waitMilliseconds / 1000 / Math.max(1, use.attempts)) : ""}</td><td class="chartcell"><${Bar} use=${use} most=${rows[0]?.[member]} member=${member} /></td></tr>`;
  return html`<h1>Use</h1><form class="filters" onSubmit=${(e) => e.preventDefault()}><${Choice} name="by" label="By" any="user" values=${BY.slice(1)} query=${query} />
      <label>From (UTC) <input type="date" value=${from} onChange=${(e) => setQuery({ from: e.target.value })} /></label><label>To (UTC) <input type="date" value=${to} onChange=${(e) => setQuery({ to: e.target.value })} /></label></form>
    <${Failed} error=${report.error ?? days.error} again=${again} />
    ${days.data?.length > 0 && html`<${Days} days=${days.data} isPart=${Date.parse(to) - Date.parse(from) > DAYS_MOST * DAY} />`}
    ${report.data && html`<div class="sheet"><table><thead><tr><th scope="col">${by}</th><th scope="col">Runs</th><th scope="col">GPU hours</th><th scope="col">Node hours</th><th scope="col" class="wide">Core hours</th><th scope="col" class="wide">Waited, each</th><th scope="col">Busy, idle, unknown</th></tr></thead>
      <tbody>${rows.slice(0, SHOWN).map((use) => line(use.name, use))}</tbody><tfoot>${line("all", total)}</tfoot></table></div>
      ${rows.length > SHOWN && html`<p class="quiet">These are the first ${SHOWN} of ${count(rows.length)} lines; the command has all.</p>`}`}
    <${Command} words=${["batchaid", "report", "--by", by, "--from", from, "--to", to]} />`;
}
