// SPDX-License-Identifier: MIT
// The login: by user and password, or by an access token. A link of `batchaid open` logs in by itself.
import { html, useState } from "./htm-preact.js";
import { ask } from "./client.js";
import { Failed, useTitle } from "./parts.js";

export function Login({ done, why }) {
  useTitle("Log in");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e) => {
    e.preventDefault();
    const { user, secret } = Object.fromEntries(new FormData(e.target));
    setBusy(true);
    try {
      done(await ask("/batchaid/session", { method: "POST", body: user ? { user, password: secret } : { token: secret.trim() } }));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`<main class="login"><h1>batchaid</h1>${why && html`<p class="advice">${why}</p>`}
    <form onSubmit=${submit}><label>User <input name="user" autocomplete="username" autofocus placeholder="ada" /></label>
      <label>Password <input name="secret" type="password" autocomplete="current-password" required /></label>
      <p class="quiet">Without a user, the second field takes an access token.</p><${Failed} error=${error} />
      <p class="buttons"><button class="strong" disabled=${busy}>${busy ? "Logging in…" : "Log in"}</button></p></form>
    <p class="quiet">On the daemon's own machine, <code>batchaid open</code> opens this page with your login.</p></main>`;
}
