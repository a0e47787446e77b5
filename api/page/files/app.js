// SPDX-License-Identifier: MIT
// The page: the login, the way from an address to a view, what is around all views.
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./htm-preact.js";
import { ask, whenLoggedOut } from "./client.js";
import { liveState, listen, startLive, stopLive } from "./live.js";
import { plain } from "./format.js";
import { address, confirm, Failed, note, Notes, Question, readAddress, useTitle } from "./parts.js";
import { Batch, Tasks } from "./batch.js";
import { Job } from "./job.js";
import { Jobs, Queue } from "./jobs.js";
import { Login } from "./login.js";
import { Machine, Machines } from "./machines.js";
import { Overview } from "./overview.js";
import { People } from "./people.js";
import { Storage } from "./storage.js";
import { Use } from "./use.js";

const RENEW_MS = 10 * 60 * 1000;
const AGAIN_MS = 3000;

const VIEWS = {
  overview: { title: "Overview", show: Overview, may: "readLists" }, queue: { title: "Queue", show: Queue, may: "readLists" }, jobs: { title: "Jobs", show: Jobs, may: "readLists" },
  machines: { title: "Machines", show: Machines, may: "readMachines" }, use: { title: "Use", show: Use, may: "readLists" }, batch: { title: "Azure Batch", show: Batch, may: "readLists" },
  storage: { title: "Storage", show: Storage, may: "readLists" }, people: { title: "People", show: People, may: "readPeople" },
  // Parts of others.
  job: { show: Job, in: "jobs" }, machine: { show: Machine, in: "machines" }, tasks: { show: Tasks, in: "batch" },
};

function Unknown({ view }) {
  useTitle("Not found");
  return html`<h1>Not found</h1><p>The page has no view '${plain(view, 60)}'. <a href=${address(["overview"])}>Overview</a></p>`;
}

// The daemon refuses all lists to a user who has no role anywhere.
function NoRole() {
  useTitle("No role");
  return html`<h1>You have no role here</h1><p>So you may see nothing yet. Ask an owner to give you a role.</p>`;
}

const LIVE = { live: "Changes are shown as they happen", broken: "The daemon does not answer; the page connects again by itself", refused: "The daemon does not tell of changes now; the page asks again by itself", connecting: "Connecting" };

function Live() {
  const [state, set] = useState(liveState());
  useEffect(() => {
    set(liveState()); // what came before this effect
    return listen((message) => message.state && set(message.state));
  }, []);
  return html`<span class=${`live ${state}`} role="status" title=${LIVE[state]}><span aria-hidden="true">${state === "live" ? "●" : "○"}</span> ${state}</span>`;
}

function useAddress() {
  const [now, set] = useState(readAddress());
  // In the layout, because other effects run after the first picture: a change before them would be missed.
  useLayoutEffect(() => {
    const changed = () => set(readAddress());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return now;
}

function Frame({ session, logOut }) {
  const now = useAddress();
  const main = useRef();
  const view = !session.may.readLists ? { show: NoRole } : Object.hasOwn(VIEWS, now.view) ? VIEWS[now.view] : { show: Unknown };
  const place = [now.view, ...now.parts].join("/");
  const first = useRef(true);
  // The keyboard continues in the new view, as it does after the load of a page.
  useLayoutEffect(() => {
    if (!first.current) main.current.focus();
    first.current = false;
  }, [place]);
  const shown = Object.entries(VIEWS).filter(([, v]) => v.title && session.may[v.may]);
  const at = view.in ?? now.view;
  return html`<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); main.current.focus(); }}>To the content</a>
    <header><strong>batchaid</strong><nav aria-label="Views">${shown.map(([name, v]) => html`<a href=${address([name])} aria-current=${name === at ? "page" : undefined}>${v.title}</a>`)}</nav>
      <span class="who"><${Live} /> <span title=${session.user.objectId}>${plain(session.user.name, 40)}</span> <button onClick=${logOut}>Log out</button></span></header>
    <main id="main" ref=${main} tabindex="-1"><${view.show} key=${place} session=${session} view=${now.view} parts=${now.parts} query=${now.query} /></main>`;
}

// The code of `batchaid open` is behind the #, which no server sees; it leaves the address at once.
const CODE = /^#code=([\w-]+)$/;

function takeCode() {
  const found = CODE.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", "/");
  return { code: found[1] };
}

// Whether this browser has logged in: no script sees the cookie, and a request in vain is an error in the console.
const MARK = "batchaid-login";

// The login that the browser has, or null.
async function presentSession() {
  if (!localStorage.getItem(MARK)) return null;
  return ask("/batchaid/session").catch((failure) => {
    if (failure.status === 401) return null;
    throw failure;
  });
}

// Another page may have opened the link, so that the reader would work as somebody else without a word of it.
async function isWanted(link, session) {
  const name = plain(session.user.name, 40);
  link.isWanted ??= Boolean(await confirm({
    title: `You are logged in as ${name}. Use the link's login instead?`,
    text: "A link logs you in as the user who made it. Use only links that you made yourself.",
    action: "Use the link's login",
    back: `Stay logged in as ${name}`,
  }));
  return link.isWanted;
}

async function useLink(link, present) {
  const only = present && !link.isWanted ? { objectId: present.user.objectId } : {};
  const session = await ask("/batchaid/session", { method: "POST", body: { code: link.code, ...only } });
  if (session) return session;
  return (await isWanted(link, present)) ? useLink(link, present) : present; // the link is another user's
}

async function firstSession(link) {
  const present = await presentSession();
  if (!link) return present;
  try {
    return await useLink(link, present);
  } catch (failure) {
    if (!present || !failure.status || failure.status >= 500) throw failure;
    // The link was used or is too old; the login of this browser is as good as before.
    note(failure.message, "failed");
    return present;
  }
}

function App() {
  const [state, set] = useState({});
  const begin = (session) => {
    localStorage.setItem(MARK, session.user.objectId);
    startLive(session.user.objectId);
    set({ session });
  };
  const end = (why) => {
    localStorage.removeItem(MARK);
    stopLive();
    set({ out: true, why });
  };
  useEffect(() => {
    const link = takeCode();
    let timer;
    const start = () => {
      clearTimeout(timer);
      firstSession(link).then((session) => (session ? begin(session) : end()), (failure) => {
        // No answer, or one that broke off: the login may be as good as before.
        const isOpen = !failure.status || failure.status >= 500;
        if (!isOpen) end(failure.message);
        else set({ failure, start });
        if (isOpen) timer = setTimeout(start, AGAIN_MS);
      });
    };
    whenLoggedOut(() => end("The login is over. Log in again."));
    // Another page has logged out, or in as somebody else: the cookie is of all pages.
    addEventListener("storage", (e) => {
      if (e.key === MARK && e.newValue) location.reload();
      else if (e.key === MARK) end("Another page has logged out.");
    });
    // A link of `batchaid open`, put into the address of an open page.
    addEventListener("hashchange", () => CODE.test(location.hash) && location.reload());
    start();
  }, []);
  const isIn = Boolean(state.session);
  useEffect(() => {
    if (!isIn) return undefined;
    const learn = (session) => set((before) => (before.session ? { session } : before));
    const timer = setInterval(() => ask("/batchaid/session/renew", { method: "POST" }).then(learn, (failure) => failure.status === 401 && end("The login is over. Log in again.")), RENEW_MS);
    // A reset may be of changed roles, which decide on views and buttons.
    const stop = listen((message) => message.reset && ask("/batchaid/session").then(learn, () => {}));
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [isIn]);
  const logOut = async () => {
    try {
      await ask("/batchaid/session", { method: "DELETE" });
      end();
    } catch (failure) {
      if (failure.status === 401) end();
      else note(failure.message, "failed");
    }
  };
  return html`${state.session && html`<${Frame} session=${state.session} logOut=${logOut} />`}${state.failure && html`<main><h1>batchaid</h1><${Failed} error=${state.failure} again=${state.start} /></main>`}
    ${state.out && html`<${Login} done=${begin} why=${state.why} />`}<${Notes} /><${Question} key=${Boolean(state.session)} />`;
}

render(html`<${App} />`, document.getElementById("app"));
