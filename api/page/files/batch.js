// SPDX-License-Identifier: MIT
// Azure Batch: pools, jobs and their tasks, of all accounts that the reader may see.
import { html, useState } from "./htm-preact.js";
import { ask, segments, url } from "./client.js";
import { between, count, plain, when } from "./format.js";
import { address, batchCommand, Choice, Command, jobAddress, option, rowsAction, State, Tabs, useNow, useTitle } from "./parts.js";
import { Table } from "./table.js";

const EVERY_MS = 5000; // jobs and tasks have no events
const TASK_STATES = ["active", "preparing", "running", "completed"];

const OPEN = ["active", "disabling", "disabled", "enabling"];

// path(row): where the job or task is.
function batchAction(noun, path, title, words, method, action, only, more) {
  return rowsAction({ title, noun, text: () => words, only, call: (row, said) => ask(path(row) + action, { method, body: method === "POST" && more ? said : undefined }), ...more });
}

function jobActions(session) {
  if (!session.may.changeBatch) return [];
  const act = (...rest) => batchAction("job", (j) => `/batchaid/batch/${segments(j.account)}/jobs/${segments(j.name)}`, ...rest);
  return [
    act("Terminate", "Their tasks end now; their files stay.", "POST", "/terminate", (j) => OPEN.includes(j.state)),
    act("Disable", "No task begins until they are enabled.", "POST", "/disable", (j) => j.state === "active", { fields: [{ name: "disableTasks", label: "Running tasks", values: ["requeue", "terminate", "wait"] }] }),
    act("Enable", "Their tasks may begin again.", "POST", "/enable", (j) => j.state === "disabled"),
    act("Delete", "They and their tasks are removed, with all files of the tasks.", "DELETE", "", (j) => j.state !== "deleting"),
  ];
}

function taskActions(session, account, job) {
  if (!session.may.changeBatch) return [];
  const act = (...rest) => batchAction("task", (t) => `/batchaid/batch/${segments(account)}/jobs/${segments(job)}/tasks/${segments(t.name)}`, ...rest);
  return [
    act("Terminate", "Their processes end now; their files stay.", "POST", "/terminate", (t) => t.state !== "completed"),
    act("Run again", "A failed task becomes active again, with all its retries.", "POST", "/reactivate", (t) => t.result === "failure"),
    act("Delete", "They are removed with their files.", "DELETE", ""),
  ];
}

function taskWords(tasks) {
  const some = Object.entries(tasks ?? {}).filter(([, n]) => n);
  return some.length ? some.map(([state, n]) => `${count(n)} ${state}`).join(", ") : "none";
}

// The pools or jobs of all accounts, and the command that lists those of one.
function OfAccounts({ session, kind, noun, query, ...more }) {
  const [seen, keep] = useState({ rows: new Map(), isCut: true }); // rows: one of each account; of: the account of which the list was read
  const load = async (after, signal) => {
    const page = await ask(url(`/batchaid/batch/${kind}`, { account: query.account, count: kind === "pools" || undefined, max: 100, after }), { signal });
    keep((before) => ({ rows: new Map([...before.rows, ...page.value.map((row) => [row.account, row])]), isCut: page.next !== undefined, of: query.account ?? "" }));
    return { rows: page.value, next: page.next, count: page.count, isMinimum: page.countIsMinimum };
  };
  const accounts = [...seen.rows.keys()].sort();
  const one = seen.rows.get(query.account ? query.account.toLowerCase() : accounts.length === 1 && !seen.isCut ? accounts[0] : undefined);
  const whole = accounts.length ? `each lists the ${kind} of one account; choose an account.` : `there is no account of which you see ${kind}.`;
  const none = query.account ? `you see no ${kind} of the account ${plain(query.account, 40)}.` : whole;
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}><${Choice} name="account" label="Account" values=${accounts} query=${query} /></form>
    <${Table} noun=${noun} load=${load} listKey=${query.account ?? ""} query=${query} keyOf=${(row) => `${row.account} ${row.name}`} empty=${`There are no ${kind} that you may see.`} ...${more} />
    ${(one || seen.of === (query.account ?? "")) && html`<${Command} ...${one ? batchCommand(session, one.account, one.group, one.subscription, ["az", "batch", noun, "list"]) : { none }} />`}`;
}

const account = { title: "Account", kind: "wide", cell: (row) => plain(row.account, 40) };

function Pools({ session, query }) {
  const columns = [{ title: "Pool", kind: "name", cell: (p) => plain(p.name, 80) }, account, { title: "State", cell: (p) => html`<${State} of=${p.allocationState ?? p.state} />` },
    { title: "Nodes", kind: "number", cell: (p) => count((p.dedicatedNodes ?? 0) + (p.lowPriorityNodes ?? 0)) },
    { title: "Wanted", kind: "number", cell: (p) => (p.autoScale ? "by a formula" : count((p.targetDedicatedNodes ?? 0) + (p.targetLowPriorityNodes ?? 0))) }, { title: "Size", kind: "wide", cell: (p) => plain(p.vmSize ?? "", 40) }];
  return html`<${OfAccounts} session=${session} kind="pools" noun="pool" name="Pools of Azure Batch" columns=${columns} kinds=${["Batch pool", "node"]} query=${query} />`;
}

function Jobs({ session, query }) {
  const columns = [{ title: "Job", kind: "name", cell: (j) => html`<a href=${address(["tasks", j.account, j.name], { group: j.group, subscription: j.subscription })}>${plain(j.name, 80)}</a>` }, account,
    { title: "State", cell: (j) => html`<${State} of=${j.state} />` }, { title: "Pool", kind: "wide", cell: (j) => plain(j.pool ?? "", 40) }, { title: "Tasks", cell: (j) => taskWords(j.tasks) }, { title: "Made", kind: "wide", cell: (j) => when(j.createdTime) }];
  return html`<${OfAccounts} session=${session} kind="jobs" noun="job" name="Jobs of Azure Batch" columns=${columns} every=${EVERY_MS} actions=${jobActions(session)} query=${query} />`;
}

export function Batch({ session, parts, query }) {
  useTitle("Azure Batch");
  const tab = parts[0] === "pools" ? "pools" : "jobs";
  const to = (one) => address(["batch", ...(one === "pools" ? [one] : [])], { account: query.account });
  return html`<h1>Azure Batch</h1><${Tabs} tabs=${["jobs", "pools"]} now=${tab} to=${to} /><${tab === "pools" ? Pools : Jobs} session=${session} query=${query} />`;
}

export function Tasks({ session, parts, query }) {
  const [account, job] = parts;
  useTitle(plain(job, 60));
  const now = useNow(EVERY_MS);
  const [seen, keep] = useState(query); // a row, which has the account's group
  const inQueue = (t) => ({ resourceGroup: t.group, workspace: account, experiment: job, name: t.name, subscription: t.subscription });
  const load = async (after, signal) => {
    const page = await ask(url("/batchaid/batch/tasks", { account, job, state: query.state, max: 100, after }), { signal });
    if (page.value.length) keep(page.value[0]);
    return { rows: page.value, next: page.next, count: page.count };
  };
  const columns = [{ title: "Task", kind: "name", cell: (t) => html`<a href=${jobAddress(inQueue(t))}>${plain(t.name, 80)}</a>` }, { title: "State", cell: (t) => html`<${State} of=${t.result === "failure" ? "failed" : t.state} />` }, { title: "Exit", kind: "number", cell: (t) => t.exitCode ?? "" },
    { title: "Node", kind: "wide", cell: (t) => plain(t.node ?? "", 60) }, { title: "Made", kind: "wide", cell: (t) => when(t.createdTime) }, { title: "Ran", kind: "wide number", cell: (t) => between(t.startTime, t.endTime, now) }];
  return html`<h1>${plain(job)}</h1><p class="quiet">Tasks of the job in the account ${plain(account)}. <a href=${address(["batch"])}>All jobs</a></p>
    <form class="filters" onSubmit=${(e) => e.preventDefault()}><${Choice} name="state" label="State" values=${TASK_STATES} query=${query} /></form>
    <${Table} name="Tasks" noun="task" columns=${columns} load=${load} listKey=${JSON.stringify([account, job, query.state])} every=${EVERY_MS} query=${query} keyOf=${(t) => t.name} actions=${taskActions(session, account, job)} empty="No task fits these filters." />
    <${Command} ...${batchCommand(session, account, seen.group, seen.subscription, ["az", "batch", "task", "list", ...option("--job-id", job), ...(query.state ? ["--filter", `state eq '${query.state}'`] : [])])} />`;
}
