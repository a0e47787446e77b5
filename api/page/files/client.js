// SPDX-License-Identifier: MIT
// Requests to the daemon, with the cookie of the login. An error is a Failure with the daemon's own sentence.

import { learnTime } from "./format.js";

export class Failure extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const API = "api-version=2018-05-01";

// Called with each Failure that says the login is over.
let loggedOut = () => {};
export function whenLoggedOut(call) {
  loggedOut = call;
}

async function failureOf(reply) {
  let code = `HTTP ${reply.status}`;
  let message = reply.statusText || "The daemon refused the request.";
  try {
    const { error } = await reply.json();
    code = error.code ?? code;
    message = error.message ?? message;
  } catch {
    // Not of the daemon, but of something between: the status alone is known.
  }
  return new Failure(reply.status, code, message);
}

// The reply itself, for bodies that are not JSON. A body is sent as JSON. cache: "no-cache" lets the browser keep the reply, and
// ask whether it has changed.
export async function fetched(path, { method = "GET", body, headers = {}, signal, cache = "no-store" } = {}) {
  const options = { method, headers, signal, credentials: "same-origin", cache };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { ...headers, "Content-Type": "application/json" };
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "Unreachable", "The daemon does not answer. It may be restarting; the page tries again.");
  }
  learnTime(reply.headers.get("Date"));
  if (reply.ok) return reply;
  const failure = await failureOf(reply);
  if (reply.status === 401 && !path.startsWith("/batchaid/session")) loggedOut(failure);
  throw failure;
}

// Whether the login goes on; if it is over, the page learns it as from any other request.
export async function checkLogin() {
  try {
    await fetched("/batchaid/session");
  } catch (failure) {
    if (failure.status === 401) loggedOut(failure);
  }
}

export async function ask(path, options) {
  const reply = await fetched(path, options);
  const text = await reply.text();
  return text ? JSON.parse(text) : null;
}

// The rows of a short list, page by page, at most `most`: {value, isCut}, and what the first page counts.
export async function askAll(path, signal, { most = 500, ...query } = {}) {
  const value = [];
  let first;
  let after;
  do {
    const page = await ask(url(path, { ...query, after }), { signal });
    first ??= page;
    value.push(...page.value);
    after = page.next;
  } while (after !== undefined && value.length < most);
  return { value, isCut: after !== undefined, count: first.count, isMinimum: first.countIsMinimum };
}

// A path with a query of the members that have a value.
export function url(path, query = {}) {
  const given = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== "");
  const text = given.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join("&");
  return text ? `${path}?${text}` : path;
}

export function segments(...names) {
  // Browsers take these two for steps of a path.
  if (names.includes(".") || names.includes("..")) throw new Failure(404, "NotFound", "A name cannot be '.' or '..'.");
  return names.map(encodeURIComponent).join("/");
}

// A job, in this site's own part of the API, and as a resource.
export function jobPath(job) {
  return `/batchaid/jobs/${segments(job.resourceGroup, job.workspace, job.experiment, job.name)}`;
}

export function jobKey(job) {
  return `${job.kind ?? ""} ${job.subscription ?? ""} ${jobPath(job)} ${job.index ?? ""}`;
}

export function jobResource(configured, job, action = "") {
  const { subscription = configured, resourceGroup, workspace, experiment, name } = job;
  return `/subscriptions/${subscription}/resourceGroups/${segments(resourceGroup)}/providers/Microsoft.BatchAI/workspaces/` +
    `${segments(workspace)}/experiments/${segments(experiment)}/jobs/${segments(name)}${action}?${API}`;
}
