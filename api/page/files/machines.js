// SPDX-License-Identifier: MIT
// Machines: the list, and one with its reason, its GPUs and what it did.
import { html } from "./htm-preact.js";
import { ask, segments, url } from "./client.js";
import { bytes, percent, plain, present, since } from "./format.js";
import { Chart } from "./chart.js";
import { address, Choice, Command, Facts, Failed, keepFocus, option, rowsAction, State, Text, useData, useNow, useTitle } from "./parts.js";
import { Table } from "./table.js";

const STATES = ["free", "idle", "running", "preparing", "leaving", "unusable", "unreachable", "unknown"];
const FIELDS = "name,state,drained,reason,cluster,job,capacity,taken,sample,gpus,local";
const PAGE = 50; // rows: some screens, as the daemon reads the samples of each
const STEPS = { hour: "15s", day: "5m", week: "1h", month: "1h" };
const STEP_SECONDS = { "15s": 15, "5m": 300, "1h": 3600 };
const MACHINE_MS = 15000; // its samples, and its contact, have no events
const AGAIN_MS = { hour: 15000, day: 300000, week: 3600000, month: 3600000 };
const SPANS = { hour: 3600, day: 86400, week: 604800, month: 2592000 };

function machineActions(session) {
  if (!session.may.changeMachines) return [];
  const act = (title, words, action, only, fields) => rowsAction({
    title,
    noun: "machine",
    text: () => words,
    call: (m, said) => ask(`/batchaid/nodes/${segments(m.name)}/${action}`, { method: "POST", body: said.reason ? { reason: said.reason } : undefined }),
    only,
    fields,
  });
  return [
    act("Drain", "Running jobs continue; no new job starts there.", "drain", (m) => !m.local && !m.drained, [{ name: "reason", label: "Reason" }]),
    act("Undrain", "They can be used again; an unusable node is tried again.", "undrain", (m) => m.drained || (!m.local && m.state === "unusable")),
    act("Reboot", "They restart now, unless a job runs there.", "reboot", (m) => !m.local),
  ];
}

// Of the overview: work outside of jobs is a state of its own.
function stateOf(gpu) {
  return gpu.outside && gpu.state !== "unusable" ? "outside" : gpu.state;
}

function gpuWords(m) {
  if (!m.gpus?.length) return m.capacity?.gpus ? `${m.taken?.gpus ?? 0} of ${m.capacity.gpus}` : "";
  const n = {};
  for (const gpu of m.gpus) n[stateOf(gpu)] = (n[stateOf(gpu)] ?? 0) + 1;
  return Object.entries(n).map(([state, some]) => `${some} ${state}`).join(", ");
}

export function Machines({ session, query }) {
  useTitle("Machines");
  const filters = { state: query.state, cluster: query.cluster, begins: query.begins };
  const load = async (after, signal) => {
    const page = await ask(url("/batchaid/nodes", { ...filters, sort: query.sort, fields: FIELDS, max: PAGE, after }), { signal });
    return { rows: page.value, next: page.next, count: page.count };
  };
  const columns = [
    { title: "Machine", sort: "name", kind: "name", cell: (m) => html`<a href=${address(["machine", m.name])}>${plain(m.name, 60)}</a>` },
    { title: "State", sort: "state", cell: (m) => html`<${State} of=${m.state} />${m.drained ? " drained" : ""}` },
    { title: "Cluster", sort: "cluster", kind: "wide", cell: (m) => plain(m.cluster ?? "", 40) },
    { title: "Job", kind: "wide", cell: (m) => plain(m.job ?? "", 40) },
    { title: "GPUs", cell: gpuWords },
    { title: "Processor", kind: "wide number", cell: (m) => (m.sample?.cpuPermille === undefined ? "" : percent(m.sample.cpuPermille)) },
    { title: "Memory", kind: "wide number", cell: (m) => (m.sample?.memoryUsedBytes === undefined ? "" : `${bytes(m.sample.memoryUsedBytes)} of ${bytes(m.sample.memoryBytes)}`) },
    { title: "Reason", kind: "wide", cell: (m) => html`<span title=${plain(m.reason ?? "", 500)}>${plain(m.reason ?? "", 80)}</span>` }];
  return html`<h1>Machines</h1><form class="filters" onSubmit=${(e) => e.preventDefault()}><${Choice} name="state" label="State" values=${STATES} query=${query} />
      <${Text} name="cluster" label="Cluster" query=${query} /><${Text} name="begins" label="Name begins with" query=${query} /></form>
    <${Table} name="Machines" noun="machine" columns=${columns} load=${load} listKey=${JSON.stringify([filters, query.sort])} kinds=${["node", "job"]} every=${MACHINE_MS} query=${query}
      keyOf=${(m) => m.name} actions=${machineActions(session)} empty="No machine fits these filters." />
    <${Command} words=${["batchaid", "nodes", ...["state", "cluster", "begins", "sort"].flatMap((name) => option(`--${name}`, query[name]))]} />`;
}

async function samplesOf(node, span, signal) {
  const now = present();
  const from = now - SPANS[span] * 1000;
  const value = [];
  let at = new Date(from).toISOString();
  do {
    const page = await ask(url("/batchaid/samples", { node, from: at, step: STEPS[span], max: 500 }), { signal });
    value.push(...page.value);
    at = page.next;
  } while (at && value.length < 2000);
  return { value, points: pointsOf(value, STEP_SECONDS[STEPS[span]], from / 1000, now / 1000) };
}

// Points of charts, [{time, sample}]: the whole span, and a point without a sample where samples are missing, as a line
// would go on there.
function pointsOf(samples, step, from, now) {
  const points = [];
  for (const sample of samples) {
    const time = Date.parse(sample.time) / 1000;
    const last = points.at(-1)?.time ?? time;
    if (time - last > 2 * step) points.push({ time: last + step });
    points.push({ time, sample });
  }
  if (points.length && points[0].time > from) points.unshift({ time: from });
  if (points.length && points.at(-1).time < now) points.push({ time: now });
  return points;
}

function Charts({ node, query }) {
  const span = SPANS[query.span] ? query.span : "hour";
  const { data, error, again } = useData(`${node} ${span}`, (signal) => samplesOf(node, span, signal), [], AGAIN_MS[span]);
  const points = data?.points ?? [];
  const times = points.map((p) => p.time);
  const gpus = [...new Set(data?.value.flatMap((s) => s.gpus.map((g) => g.index)) ?? [])].sort((a, b) => a - b);
  const scaled = (n, scale) => (n === undefined ? null : n / scale);
  const ofGpu = (index, member, scale) => points.map(({ sample }) => scaled(sample?.gpus.find((one) => one.index === index)?.[member], scale));
  const of = (member, scale) => points.map(({ sample }) => scaled(sample?.[member], scale));
  const share = (v) => `${Math.round(v)} %`;
  return html`<h2>What it did</h2><div class="filters"><${Choice} name="span" label="In the last" any="hour" values=${["day", "week", "month"]} query=${query} /></div>
    <${Failed} error=${error} again=${again} />${data && !data.value.length && html`<p class="empty">There are no samples of this time.</p>`}
    ${data?.value.length > 0 && html`
      ${gpus.length > 0 && html`<${Chart} title="GPUs at work" times=${times} most=${100} show=${share} series=${gpus.map((i) => ({ name: `GPU ${i}`, values: ofGpu(i, "busyPermille", 10) }))} />
      <${Chart} title="Memory of GPUs" times=${times} show=${bytes} series=${gpus.map((i) => ({ name: `GPU ${i}`, values: ofGpu(i, "memoryUsedBytes", 1) }))} />`}
      <${Chart} title="Processor" times=${times} most=${100} show=${share} series=${[{ name: "used", values: of("cpuPermille", 10) }, { name: "waited for", values: of("cpuPressurePermille", 10) }]} />
      <${Chart} title="Memory" times=${times} show=${bytes} series=${[{ name: "used", values: of("memoryUsedBytes", 1) }]} />
      <${Chart} title="Network, a second" times=${times} show=${bytes} series=${[{ name: "in", values: of("networkInBytesPerSecond", 1) }, { name: "out", values: of("networkOutBytesPerSecond", 1) }]} />`}`;
}

// Its own component: the charts are not drawn again each second.
function Ago({ time }) {
  return since(time, useNow());
}

export function Machine({ session, parts, query }) {
  const name = parts[0] ?? "";
  useTitle(plain(name, 60));
  const { data: m, error, again } = useData(name, (signal) => ask(`/batchaid/nodes/${segments(name)}`, { signal }), ["node"], MACHINE_MS);
  if (!m) return html`<h1>${plain(name)}</h1><${Failed} error=${error} again=${again} />`;
  const act = async (action) => {
    if (!(await action.run([m]))) return;
    await again();
    keepFocus();
  };
  const models = [...new Set(m.facts?.gpus?.map((g) => g.model) ?? [])].join(", ");
  return html`<h1>${plain(m.name)} <${State} of=${m.state} /></h1>
    <p class="actions">${machineActions(session).filter((a) => !a.for || a.for(m)).map((a) => html`<button onClick=${() => act(a)}>${a.title}</button> `)}</p>
    ${m.reason && html`<p class="advice">${m.drained ? "Drained: " : ""}${plain(m.reason, 2000)}</p>`}<${Failed} error=${error} again=${again} />
    <${Facts} rows=${[["Cluster", plain(m.cluster ?? "")], ["Job", plain(m.job ?? "")], ["Sizes", plain(m.vmSizes.join(", "))], ["Last contact", html`<${Ago} time=${m.lastContactTime} />`],
      ["GPUs", m.facts?.gpus?.length ? `${m.facts.gpus.length} × ${plain(models)}` : ""], ["Cores", m.facts?.cpus], ["Memory", bytes(m.facts?.memoryBytes)],
      ["Free disk", bytes(m.sample?.diskFreeBytes ?? m.facts?.diskFreeBytes)], ["Containers", plain(m.facts?.containerRuntimes?.join(", ") ?? "")], ["System", plain(m.facts?.os ?? "")]]} />
    ${m.gpus?.length > 0 && html`<div class="sheet"><table><caption>GPUs now</caption><thead><tr><th scope="col">GPU</th><th scope="col">State</th><th scope="col">Works</th><th scope="col">Memory</th><th scope="col">Power</th><th scope="col">Temperature</th><th scope="col">Processes</th></tr></thead>
      <tbody>${m.gpus.map((g) => html`<tr><td title=${plain(g.uuid ?? "")}>${g.index}</td><td><${State} of=${stateOf(g)} /></td><td>${percent(g.busyPermille)}</td><td>${g.memoryUsedBytes === undefined ? "unknown" : `${bytes(g.memoryUsedBytes)} of ${bytes(g.memoryBytes)}`}</td>
        <td>${g.powerMilliwatts === undefined ? "" : `${Math.round(g.powerMilliwatts / 1000)} W`}</td><td>${g.temperatureCelsius === undefined ? "" : `${g.temperatureCelsius} °C`}</td><td>${g.processes ?? ""}</td></tr>`)}</tbody></table></div>`}
    <${Charts} node=${name} query=${query} /><${Command} words=${["batchaid", "nodes", m.name]} />`;
}
