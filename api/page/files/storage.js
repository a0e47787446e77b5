// SPDX-License-Identifier: MIT
// Storage accounts with their shares and containers, which are browsed and downloaded from.
import { html } from "./htm-preact.js";
import { ask, askAll, url } from "./client.js";
import { plain } from "./format.js";
import { Browser } from "./files.js";
import { address, Command, Failed, option, useData, useTitle } from "./parts.js";

const EVERY_MS = 15000; // storage has no events

export function Storage({ parts, query }) {
  const [account, kind, share] = parts;
  useTitle(share ? plain(share, 60) : "Storage");
  if (share) return html`<${Share} account=${account} kind=${kind} share=${share} query=${query} />`;
  return html`<${Accounts} />`;
}

function Accounts() {
  const { data, error, again } = useData("accounts", (signal) => askAll("/batchaid/storage/accounts", signal), [], EVERY_MS);
  const list = (one, kind, names) => html`<h3>${kind === "files" ? "Shares" : "Containers"}</h3>${names?.length ? html`<ul class="cards">${names.map((share) => html`<li><a href=${address(["storage", one.name, kind, share])}>${plain(share, 80)}</a></li>`)}</ul>` : html`<p class="empty">None that you may read.</p>`}`;
  return html`<h1>Storage</h1><${Failed} error=${error} again=${again} />${data && !data.value.length && html`<p class="empty">There are no storage accounts that you may see.</p>`}
    ${data?.value.map((one) => html`<section aria-label=${one.name}><h2>${plain(one.name)} <span class="quiet">${plain(one.group ?? "")}</span></h2>${list(one, "files", one.files)}${list(one, "blobs", one.blobs)}
      ${one.cut && html`<p class="quiet">The account has more shares or containers than are shown.</p>`}</section>`)}
    ${data?.isCut && html`<p class="quiet">These are the first ${data.value.length} accounts.</p>`}<${Command} words=${["az", "storage", "account", "list"]} />`;
}

const COMMANDS = {
  files: (share, path, isFile) => ["file", isFile ? "download" : "list", ...option("--share-name", share), ...option("--path", path)],
  // Names of blobs in a folder begin with its path, which ends with a slash.
  blobs: (container, path, isFile) => ["blob", isFile ? "download" : "list", ...option("--container-name", container), ...(isFile ? [...option("--name", path), "--file", path.split("/").at(-1)] : option("--prefix", path))],
};

function Share({ account, kind, share, query }) {
  const where = { account, kind, share };
  const to = (path, isFile) => address(["storage", account, kind, share], { path, file: isFile ? "1" : "" });
  const list = (path, after, signal) => ask(url("/batchaid/storage/items", { ...where, path, after }), { signal });
  const content = (path, download) => url("/batchaid/storage/content", { ...where, path, download: download || undefined });
  const at = query.path ?? "";
  const isFile = query.file === "1";
  const command = COMMANDS[kind === "files" ? "files" : "blobs"](share, at, isFile);
  return html`<h1>${plain(share)}</h1><p class="quiet">${kind === "files" ? "Share" : "Container"} of the account ${plain(account)}. <a href=${address(["storage"])}>All accounts</a></p>
    <${Browser} label=${share} at=${at} isFile=${isFile} to=${to} list=${list} content=${content} every=${EVERY_MS} /><${Command} words=${["az", "storage", ...command, ...option("--account-name", account)]} />`;
}
