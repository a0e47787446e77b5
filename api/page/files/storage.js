// SPDX-License-Identifier: MIT
// Storage accounts with their shares and containers, which are browsed and downloaded from.
import { html, useState } from "./htm-preact.js";
import { ask, askAll, url } from "./client.js";
import { count, plain } from "./format.js";
import { Browser } from "./files.js";
import { address, Command, Failed, option, useData, useTitle } from "./parts.js";
import { Table } from "./table.js";

const EVERY_MS = 15000; // storage has no events
const ACCOUNTS = 200; // shown at once
const NAMES = 100; // of an account, of each kind
const KINDS = { files: { title: "Shares", noun: "share" }, blobs: { title: "Containers", noun: "container" } };

export function Storage({ parts, query }) {
  const [account, kind, share] = parts;
  useTitle(share ? plain(share, 60) : "Storage");
  if (share) return html`<${Share} account=${account} kind=${kind} share=${share} query=${query} />`;
  if (Object.hasOwn(KINDS, kind ?? "")) return html`<${Shares} account=${account} kind=${kind} query=${query} />`;
  return html`<${Accounts} />`;
}

// An account of the configured subscription names none.
function shareAddress(account, kind, share, query = {}) {
  return address(["storage", account.name, kind, ...(share ? [share] : [])], { subscription: account.subscription, ...query });
}

// The names of an account, as far as they are shown; the rest is a list of its own.
function Names({ one, kind }) {
  const names = one[kind];
  const more = one.more?.[kind] ?? 0;
  const mayBeMore = one.more?.isMinimum && names.length >= NAMES;
  return html`<h3>${KINDS[kind].title}</h3>${names.length ? html`<ul class="cards">${names.map((share) => html`<li><a href=${shareAddress(one, kind, share)}>${plain(share, 80)}</a></li>`)}</ul>` : html`<p class="empty">None that you may read.</p>`}
    ${(more > 0 || mayBeMore) && html`<p class="quiet">These are the first ${count(names.length)}. <a href=${shareAddress(one, kind)}>${more ? `${one.more.isMinimum ? "More than " : ""}${count(more)} more` : "There may be more"}</a></p>`}`;
}

function Accounts() {
  const [most, show] = useState(ACCOUNTS);
  const [last, keep] = useState();
  const { data = last, error, again } = useData(`accounts ${most}`, async (signal) => {
    const read = await askAll("/batchaid/storage/accounts", signal, { most, max: ACCOUNTS, names: NAMES, count: true });
    keep(read);
    return read;
  }, [], EVERY_MS);
  const subscriptions = [undefined, ...new Set(data?.value.map((one) => one.subscription).filter(Boolean) ?? [])];
  return html`<h1>Storage</h1><${Failed} error=${error} again=${again} />${data && !data.value.length && html`<p class="empty">There are no storage accounts that you may see.</p>`}
    ${data?.value.map((one) => html`<section key=${one.name} aria-label=${one.name}><h2>${plain(one.name)} <span class="quiet">${plain(one.group ?? "")}</span></h2><${Names} one=${one} kind="files" /><${Names} one=${one} kind="blobs" /></section>`)}
    ${data?.isCut && html`<p class="quiet">These are ${count(data.value.length)} of ${data.isMinimum ? "more than " : ""}${count(data.count)} accounts. <button onClick=${() => show(data.value.length + ACCOUNTS)}>Show more</button></p>`}
    ${subscriptions.map((one) => html`<${Command} key=${one ?? ""} words=${["az", "storage", "account", "list", ...option("--subscription", one)]} />`)}`;
}

function Shares({ account, kind, query }) {
  const { title, noun } = KINDS[kind];
  const load = async (after, signal) => {
    const page = await ask(url("/batchaid/storage/items", { account, kind, max: 200, after }), { signal });
    return { rows: page.value, next: page.next };
  };
  const columns = [{ title: "Name", kind: "name", cell: (one) => html`<a href=${shareAddress({ name: account, subscription: query.subscription }, kind, one.name)}>${plain(one.name, 120)}</a>` }];
  return html`<h1>${title} of ${plain(account)}</h1><p class="quiet"><a href=${address(["storage"])}>All accounts</a></p>
    <${Table} name=${title} noun=${noun} columns=${columns} load=${load} listKey=${`${account} ${kind}`} every=${EVERY_MS} keyOf=${(one) => one.name} empty="None that you may read." />
    <${Command} words=${["az", "storage", noun, "list", ...option("--account-name", account), ...option("--subscription", query.subscription)]} />`;
}

const COMMANDS = {
  files: (share, path, isFile) => ["file", isFile ? "download" : "list", ...option("--share-name", share), ...option("--path", path)],
  // "./": a blob's last part may look like an option, or be empty.
  // Names of blobs in a folder begin with its path, which ends with a slash; those of folders below it are not listed.
  blobs: (container, path, isFile) => ["blob", isFile ? "download" : "list", ...option("--container-name", container), ...(isFile ? [...option("--name", path), "--file", `./${path.split("/").at(-1)}`] : [...option("--prefix", path), "--delimiter", "/"])],
};

function Share({ account, kind, share, query }) {
  const where = { account, kind, share };
  const of = { name: account, subscription: query.subscription };
  const to = (path, isFile) => shareAddress(of, kind, share, { path, file: isFile ? "1" : "" });
  const list = (path, after, signal) => ask(url("/batchaid/storage/items", { ...where, path, after }), { signal });
  const content = (path, download) => url("/batchaid/storage/content", { ...where, path, download: download || undefined });
  const at = query.path ?? "";
  const isFile = query.file === "1";
  const command = COMMANDS[kind === "files" ? "files" : "blobs"](share, at, isFile);
  return html`<h1>${plain(share)}</h1><p class="quiet">${kind === "files" ? "Share" : "Container"} of the account <a href=${shareAddress(of, kind)}>${plain(account)}</a>. <a href=${address(["storage"])}>All accounts</a></p>
    <${Browser} label=${share} at=${at} isFile=${isFile} to=${to} list=${list} content=${content} every=${EVERY_MS} /><${Command} words=${["az", "storage", ...command, ...option("--account-name", account), ...option("--subscription", query.subscription)]} />`;
}
