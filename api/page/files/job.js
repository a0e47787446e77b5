// SPDX-License-Identifier: MIT
// A job, or a task of Azure Batch: its story, its logs, its files, what it used.
import { html, useRef } from "./htm-preact.js";
import { ask, jobPath, segments, url } from "./client.js";
import { between, bytes, count, duration, hours, plain, since, when } from "./format.js";
import { batchCommand, Choice, Command, Facts, Failed, jobAddress, keepFocus, option, State, Tabs, useData, useNow, useTitle, address } from "./parts.js";
import { Browser } from "./files.js";
import { Log } from "./log.js";
import { isTask, jobActions } from "./jobs.js";

const EVERY_MS = 10000; // later indexes of an array start, write and end without an event
const ENDED = ["succeeded", "failed"];

const TABS = ["story", "logs", "files", "use"];
const LOGS_IN = "stdouterr"; // the output directory of a job

// Clocks of their own: the view is not drawn again each second.
function Story({ lines }) {
  const now = useNow(EVERY_MS);
  return html`<ol class="story">${lines.map((line) => html`<li>${line.time ? html`<time datetime=${line.time} title=${since(line.time, now)}>${when(line.time)}</time>` : html`<span class="time">now</span>`} ${plain(line.text, 2000)}</li>`)}</ol>`;
}

function Ran({ job }) {
  return between(job.startTime, job.endTime, useNow());
}

// The file that is shown first: the job's own output before that of its ranks and its preparation, stdout-2.txt before
// stdout-10.txt. A file that is shown gives way only to a better kind, so that no later rank takes its place.
const KINDS = [/^stdout\.txt$/, /^stdout(?!.*_prep)/, /^stdout/, /^/];

function usualOf(files, kept) {
  for (const kind of KINDS) {
    const fit = files.filter((file) => kind.test(file.name)).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    if (fit.length) return fit.find((file) => file.name === kept) ?? fit[0];
  }
  return undefined;
}

// Where files are read: list(directory, path, after, signal) is a page of entries, content(directory, path, download) an address
// of bytes. A task has no output directories, but one folder, with its logs at the top.
function sourceOf(job) {
  const task = isTask(job);
  const path = task ? `/batchaid/batch/${segments(job.workspace)}/jobs/${segments(job.experiment)}/tasks/${segments(job.name)}` : jobPath(job);
  const where = (directory) => (task ? {} : { subscription: job.subscription, directory });
  return {
    list: (directory, at, after, signal) => ask(url(`${path}/files`, { ...where(directory), path: at, after }), { signal }),
    content: (directory, at, download) => url(`${path}/files/content`, { ...where(directory), path: at, download: download || undefined }),
  };
}

function Logs({ job, query }) {
  const ended = ENDED.includes(job.state);
  const { list, content } = sourceOf(job);
  const listed = useData(`${jobPath(job)} logs`, (signal) => list(LOGS_IN, undefined, undefined, signal), ["job"], ended ? undefined : EVERY_MS);
  const files = listed.data?.value.filter((file) => !file.isDirectory) ?? [];
  const kept = useRef();
  const usual = usualOf(files, kept.current);
  kept.current = usual?.name;
  const chosen = query.file ? files.find((file) => file.name === query.file) : usual;
  return html`<${Failed} error=${listed.error} again=${listed.again} />${listed.data && !files.length && html`<p class="empty">The ${isTask(job) ? "task" : "job"} has not written yet.</p>`}
    ${usual && html`<div class="filters"><${Choice} name="file" label="File" any=${usual.name} values=${files.map((file) => file.name).filter((one) => one !== usual.name)} query=${query} /></div>`}
    ${listed.data?.next !== undefined && html`<p class="quiet">These are the first ${count(files.length)} files; Files has all.</p>`}
    ${usual && !chosen && html`<p class="failed" role="alert">There is no file '${plain(query.file)}' among the first ${files.length} files; Files has all.</p>`}
    ${chosen && html`<${Log} path=${content(LOGS_IN, chosen.name)} download=${content(LOGS_IN, chosen.name, true)} follow=${!ended} name=${plain(chosen.name, 80)} />`}`;
}

function Files({ job, query }) {
  const { list, content } = sourceOf(job);
  const listed = useData(`${jobPath(job)} directories`, async (signal) => (isTask(job) ? { value: [{ name: job.name }] } : list(undefined, undefined, undefined, signal)), ["job"]);
  const names = listed.data?.value.map((one) => one.name) ?? [];
  const directory = query.directory || names[0];
  const to = (at, isFile) => jobAddress(job, "files", { directory: isTask(job) ? "" : directory, path: at, file: isFile ? "1" : "" });
  return html`<${Failed} error=${listed.error} again=${listed.again} />
    ${names.length > 1 && html`<div class="filters"><${Choice} name="directory" label="Output directory" any=${names[0]} values=${names.slice(1)} also=${{ path: "", file: "" }} query=${query} /></div>`}
    ${listed.data && !names.length && html`<p class="empty">The job has no output directory.</p>`}
    ${directory && html`<${Browser} label=${directory} at=${query.path ?? ""} isFile=${query.file === "1"} to=${to} byNames=${isTask(job)} list=${(at, after, signal) => list(directory, at, after, signal)}
      content=${(at, download) => content(directory, at, download)} kinds=${["job"]} follow=${job.state === "running"} />`}`;
}

function Use({ job }) {
  const { resourceGroup, workspace, experiment, name } = job;
  const path = url(`/batchaid/usage/${segments(resourceGroup, workspace, experiment, name)}`, { subscription: job.subscription });
  const { data, error, again } = useData(path, (signal) => ask(path, { signal }), ["job"]);
  if (!data) return html`<${Failed} error=${error} again=${again} />`;
  const use = data.use;
  const gpu = use.gpuMilliseconds ? `${hours(use.gpuMilliseconds)} h: ${hours(use.gpuBusyMilliseconds)} busy, ${hours(use.gpuIdleMilliseconds)} idle, ${hours(use.gpuUnknownMilliseconds)} unknown` : undefined;
  return html`<p class="advice">${plain(data.advice, 500)}</p><${Facts} rows=${[
    ["Waited", duration(use.waitMilliseconds / 1000)], ["Nodes", `${hours(use.nodeMilliseconds)} h`], ["GPUs", gpu],
    ["Processor", duration((use.userMicroseconds + use.kernelMicroseconds) / 1e6)], ["Memory at most", bytes(use.memoryPeakBytes)],
    ["Read, written", `${bytes(use.readBytes)}, ${bytes(use.writtenBytes)}`], ["Attempts", use.attempts]]} />
    <div class="sheet"><table><caption>Each part of a node that it had</caption><thead><tr><th scope="col">Node</th><th scope="col">From</th><th scope="col">For</th><th scope="col">GPUs</th><th scope="col">Cores</th><th scope="col">Memory</th></tr></thead>
    <tbody>${data.allocations.map((a) => html`<tr><td>${plain(a.node, 60)}</td><td>${when(a.begin)}</td><td>${between(a.begin, a.end)}</td><td>${a.gpus}</td><td>${a.cores}</td><td>${bytes(a.memoryPeakBytes)}</td></tr>`)}</tbody></table></div>`;
}

// A quote in a text of a filter is doubled.
function startsWith(path) {
  return `startswith(name, '${path.replaceAll("'", "''")}/')`;
}

// "a/b/c" is c in a/b; at the top it is in nothing.
function split(path) {
  const n = path.lastIndexOf("/");
  return n < 0 ? [path, undefined] : [path.slice(n + 1), path.slice(0, n)];
}

// at: the file, or else the folder, that is shown.
function fileCommand(job, at, isFile, directory) {
  const [name, folder] = split(at);
  if (isTask(job)) {
    const of = [...option("--job-id", job.experiment), ...option("--task-id", job.name)];
    if (isFile) return ["az", "batch", "task", "file", "download", ...of, ...option("--file-path", at), ...option("--destination", name)];
    return ["az", "batch", "task", "file", "list", ...of, ...(at ? ["--recursive", "true", "--filter", startsWith(at)] : [])];
  }
  const of = [...option("--resource-group", job.resourceGroup), ...option("--workspace", job.workspace), ...option("--experiment", job.experiment), ...option("--job", job.name),
    ...option("--output-directory-id", directory), ...option("--subscription", job.subscription)];
  if (isFile) return ["az", "batchai", "job", "file", "stream", ...of, ...option("--file-name", name), ...option("--path", folder)];
  return ["az", "batchai", "job", "file", "list", ...of, ...option("--path", at)];
}

function commandOf(job, tab, query) {
  if (tab === "files") return fileCommand(job, query.path ?? "", query.file === "1", query.directory || LOGS_IN);
  if (tab === "logs" && (isTask(job) || query.file)) return fileCommand(job, query.file || "stdout.txt", true, LOGS_IN);
  const commands = { story: "explain", logs: "logs", use: "job" };
  return ["batchaid", commands[tab], [job.resourceGroup, job.workspace, job.experiment, job.name].join("/"), ...option("--subscription", job.subscription)];
}

export function Job({ session, parts, query }) {
  const [resourceGroup, workspace, experiment, name, part = "story"] = parts;
  const read = (signal) => ask(url(jobPath({ resourceGroup, workspace, experiment, name }), { subscription: query.subscription }), { signal });
  useTitle(plain(name ?? "Job", 60));
  const { data, error, again } = useData(address(parts.slice(0, 4), { subscription: query.subscription }), read, ["job"], (known) => (known && ENDED.includes(known.job.state) ? undefined : EVERY_MS));
  if (!data) return html`<h1>${plain(name)}</h1><${Failed} error=${error} again=${again} />`;
  const job = { ...data.job, kind: data.kind, subscription: query.subscription };
  const tab = TABS.includes(part) ? part : "story";
  const words = commandOf(job, tab, query);
  const act = async (action) => {
    const failed = await action.run([job]);
    if (!failed) return;
    if (action.removes && !failed.length) location.hash = address(["jobs"]).slice(1);
    else await again();
    keepFocus();
  };
  return html`<h1>${plain(job.name)} <${State} of=${job.state} /></h1>
    <p class="actions">${jobActions(session).filter((action) => !action.for || action.for(job)).map((action) => html`<button onClick=${() => act(action)}>${action.title}</button> `)}</p>
    ${isTask(job) && html`<p class="quiet">A task of Azure Batch, of the job <a href=${address(["tasks", workspace, experiment])}>${plain(experiment, 80)}</a> in the account ${plain(workspace)}.</p>`}
    <${Facts} rows=${[[isTask(job) ? "Pool" : "Cluster", plain(job.cluster ?? "")], ["User", plain(job.createdBy ?? "")], ["Nodes", job.nodeCount], ["Submitted", when(job.createdTime)],
      ["Started", when(job.startTime)], [job.endTime ? "Ran" : "Runs", job.startTime && html`<${Ran} job=${job} />`], ["Exit code", job.exitCode]]} />
    <${Tabs} tabs=${TABS} now=${tab} to=${(to) => jobAddress(job, to)} />
    <${Failed} error=${error} again=${again} />
    ${tab === "story" && html`<${Story} lines=${data.story} />`}${tab === "logs" && html`<${Logs} job=${job} query=${query} />`}
    ${tab === "files" && html`<${Files} job=${job} query=${query} />`}${tab === "use" && html`<${Use} job=${job} />`}
    <${Command} ...${isTask(job) && (tab === "logs" || tab === "files") ? batchCommand(session, workspace, job.resourceGroup, job.subscription, words) : { words }} />`;
}
