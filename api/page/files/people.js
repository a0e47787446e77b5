// SPDX-License-Identifier: MIT
// People: who may log in, with which roles; made, given a new password, removed.
import { html, useState } from "./htm-preact.js";
import { ask, segments, url } from "./client.js";
import { many, plain } from "./format.js";
import { Command, confirm, Failed, note, rowsAction, useTitle } from "./parts.js";
import { Table } from "./table.js";

const EVERY_MS = 15000; // people have no events
const ROLES = ["Batch AI Job Submitter", "Reader", "Contributor", "Owner", "Batch AI Job Operator"];

function roleWords(user) {
  return user.roles.map((r) => `${r.role} at ${r.scope}`).join("; ");
}

// A password is shown once, in a box of its own, until the reader has taken it away.
function Password({ of, done }) {
  return html`<p class="advice" role="alert">The password of ${plain(of.name)} is <code>${of.password}</code>. It is shown once. <button onClick=${done}>I have noted it</button></p>`;
}

export function People({ session }) {
  useTitle("People");
  const [fresh, setFresh] = useState(null);
  const [round, setRound] = useState(0);
  const [error, setError] = useState(null);
  const load = async (after, signal) => {
    const page = await ask(url("/batchaid/users", { max: 100, after }), { signal });
    return { rows: page.value, next: page.next, count: page.count };
  };
  const add = async () => {
    const said = await confirm({ title: "Add a user", action: "Add", text: "The role holds in the whole subscription.", fields: [{ name: "name", label: "Name", required: true }, { name: "role", label: "Role", values: ROLES }] });
    if (!said) return;
    try {
      setFresh(await ask("/batchaid/users", { method: "POST", body: said }));
      setError(null);
      setRound(round + 1);
    } catch (failure) {
      setError(failure);
    }
  };
  const reset = async (users) => {
    if (!(await confirm({ title: `Give ${plain(users[0].name)} a new password?`, text: "The old password and old logins end.", action: "Give a new password" }))) return undefined;
    try {
      setFresh(await ask(`/batchaid/users/${segments(users[0].name)}/reset`, { method: "POST" }));
    } catch (failure) {
      note(failure.message, "failed");
      return users;
    }
    return [];
  };
  // A new password ends the logins of its user, who would not see it here.
  const isOther = (u) => u.kind === "user" && u.objectId !== session.user.objectId;
  const remove = rowsAction({
    title: "Remove",
    noun: "user",
    text: () => "Their roles and logins end; their jobs stay.",
    call: (u) => ask(`/batchaid/users/${segments(u.name)}`, { method: "DELETE" }),
    done: (n) => `${many(n, "user")} removed.`,
    only: isOther,
  });
  const columns = [{ title: "Name", kind: "name", cell: (u) => plain(u.name, 60) }, { title: "Kind", kind: "wide", cell: (u) => (u.kind === "user" ? "user" : "program") },
    { title: "Roles", cell: (u) => html`<span title=${plain(roleWords(u), 1000)}>${plain(roleWords(u), 120)}</span>` }];
  const actions = session.may.changePeople ? [{ title: "New password", one: true, for: isOther, run: reset }, remove] : [];
  return html`<h1>People</h1>${session.may.changePeople && html`<p><button onClick=${add}>Add a user</button></p>`}<${Failed} error=${error} />
    ${fresh?.password && html`<${Password} of=${fresh} done=${() => setFresh(null)} />`}
    <${Table} name="People" noun="principal" columns=${columns} load=${load} listKey=${String(round)} every=${EVERY_MS} keyOf=${(u) => u.objectId ?? u.name} actions=${actions} empty="There is nobody." />
    <${Command} words=${["batchaid", "user", "list"]} />`;
}
