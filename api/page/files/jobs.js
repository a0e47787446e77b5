// SPDX-License-Identifier: MIT
// The queue with places and expected starts, and the list of all jobs. What may be done to jobs: end them, delete them.
import { html } from "./htm-preact.js";
import { ask, jobKey, jobResource, url } from "./client.js";
import { between, many, plain, since, when } from "./format.js";
import { Choice, Command, jobAddress, option, rowsAction, State, Text, useNow, useTitle } from "./parts.js";
import { Table } from "./table.js";

const STATES = ["queued", "running", "terminating", "succeeded", "failed"];
const OPEN = ["queued", "running"];
const QUEUE_MS = 10000; // later indexes of an array start and end without an event
const FIELDS = "subscription,resourceGroup,workspace,experiment,name,cluster,state,createdBy,createdTime,startTime,endTime,exitCode,nodeCount,priority";

// Tasks of Azure Batch are in the queue too, with what may be done to them in the view of their job.
export function isTask(job) {
  return job.kind === "task";
}

// Several indexes of an array are one job.
function unique(rows) {
  return [...new Map(rows.map((job) => [jobKey({ ...job, index: undefined }), job])).values()];
}

export function jobActions(session) {
  if (!session.may.changeJobs) return [];
  const act = (title, words, method, action, done, more) => rowsAction({
    title,
    noun: "job",
    text: (rows) => words + (rows.some((job) => job.index !== undefined) ? " Of an array all indexes are meant." : ""),
    call: (job) => ask(jobResource(session.subscriptionId, job, action), { method }),
    done: (n) => `${many(n, "job")} ${done}.`,
    unique,
    ...more,
  });
  return [
    act("Cancel", "Their processes end now; their files stay.", "POST", "/terminate", "will end", { only: (job) => !isTask(job) && OPEN.includes(job.state) }),
    act("Delete", "They and their output directories on nodes are removed. The record of use stays.", "DELETE", "", "will be deleted", { only: (job) => !isTask(job), removes: true }),
  ];
}

const name = { title: "Job", kind: "name", cell: (job) => html`<a href=${jobAddress(job)}>${plain(job.name, 80)}${job.index === undefined ? "" : ` [${job.index}]`}</a>` };
const state = { title: "State", cell: (job) => html`<${State} of=${job.state} />` };
const user = { title: "User", kind: "wide", cell: (job) => plain(job.createdBy ?? "", 40) };
const cluster = { title: "Cluster", kind: "wide", cell: (job) => plain(job.cluster ?? "", 40) };

export function Jobs({ session, query }) {
  useTitle("Jobs");
  const now = useNow(10000);
  const filters = { state: query.state, cluster: query.cluster, experiment: query.experiment, user: query.user, begins: query.begins, mine: query.mine };
  const load = async (before, signal) => {
    const page = await ask(url("/batchaid/jobs", { ...filters, sort: query.sort, fields: FIELDS, max: 100, before }), { signal });
    return { rows: page.value, next: page.next, count: page.count, isMinimum: page.countIsMinimum };
  };
  const columns = [name, state, user, cluster,
    { title: "Submitted", sort: "createdTime", cell: (job) => html`<time title=${when(job.createdTime)} datetime=${job.createdTime}>${since(job.createdTime, now)}</time>` },
    { title: "Ran", kind: "wide number", cell: (job) => between(job.startTime, job.endTime, now) },
    { title: "Exit", kind: "wide number", cell: (job) => job.exitCode ?? "" }];
  return html`<h1>Jobs</h1><form class="filters" onSubmit=${(e) => e.preventDefault()}>
      <${Choice} name="state" label="State" values=${STATES} query=${query} /><${Text} name="cluster" label="Cluster" query=${query} />
      <${Text} name="user" label="User" query=${query} /><${Text} name="begins" label="Name begins with" query=${query} />
      <${Choice} name="mine" label="Whose" any="everybody's" values=${["true"]} labels=${{ true: "mine" }} query=${query} /></form>
    <${Table} name="Jobs" noun="job" columns=${columns} load=${load} listKey=${JSON.stringify([filters, query.sort])} kinds=${["job"]} query=${query}
      keyOf=${jobKey} actions=${jobActions(session)} empty="No job fits these filters." />
    <${Command} words=${["batchaid", "jobs", ...Object.entries(filters).flatMap(([k, v]) => (v && k === "mine" ? ["--mine"] : option(`--${k}`, v))), ...option("--sort", query.sort)]} />`;
}

export function Queue({ session, query }) {
  useTitle("Queue");
  const now = useNow(10000);
  const filters = { cluster: query.cluster, user: query.user, mine: query.mine };
  const load = async (after, signal) => {
    const page = await ask(url("/batchaid/queue", { ...filters, rows: 100, after }), { signal });
    return { rows: page.value, next: page.next };
  };
  const columns = [{ title: "Place", kind: "number", cell: (job) => job.place ?? "" }, name, state, user, cluster,
    { title: "Waiting, or running, for", cell: (job) => between(job.startTime ?? job.createdTime, undefined, now) },
    { title: "Expected start, or end", kind: "wide", cell: (job) => (job.expectedStartTime ? `starts by ${when(job.expectedStartTime)}` : job.limitTime ? `ends by ${when(job.limitTime)}` : "") },
    { title: "Where, or why not", kind: "wide", cell: (job) => html`<span title=${plain(job.waitsFor ?? "", 500)}>${plain(job.waitsFor ?? (job.nodes ?? []).join(", "), 120)}</span>` }];
  return html`<h1>Queue</h1><form class="filters" onSubmit=${(e) => e.preventDefault()}><${Text} name="cluster" label="Cluster" query=${query} /><${Text} name="user" label="User" query=${query} />
      <${Choice} name="mine" label="Whose" any="everybody's" values=${["true"]} labels=${{ true: "mine" }} query=${query} /></form>
    <p class="quiet">Cluster by cluster, in the order of their start.</p>
    <${Table} name="Queue" noun="run" columns=${columns} load=${load} listKey=${JSON.stringify(filters)} kinds=${["job"]} every=${QUEUE_MS} query=${query}
      keyOf=${jobKey} actions=${jobActions(session)} empty="No job runs or waits." />
    <${Command} words=${["batchaid", "queue", ...option("--cluster", query.cluster), ...option("--user", query.user), ...(query.mine ? ["--mine"] : [])]} />`;
}
