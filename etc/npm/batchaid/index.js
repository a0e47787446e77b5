// SPDX-License-Identifier: MIT
// A cloud for tests: starts the daemon batchaid, which keeps nothing, and ends it. The program is BATCHAID_PROGRAM, else that
// of the package for this platform, else batchaid in the PATH. If BATCHAID_ENDPOINT is set, its daemon is used.
"use strict";

const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const https = require("node:https");
const os = require("node:os");
const path = require("node:path");
const tls = require("node:tls");

const START_MS = 60000;
const STOP_MS = 30000;
const LEAST_MEMORY = 2 ** 30;
const NEEDED = ["BATCHAID_ENDPOINT", "SSL_CERT_FILE", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"];
const OF_CLIENTS = /^(BATCHAID_|AZURE_|REQUESTS_CA_BUNDLE$|NODE_EXTRA_CA_CERTS$|SSL_CERT_FILE$)/;
const ELSEWHERE = "use the container image of batchaid, or build batchaid here and name the program in BATCHAID_PROGRAM";
const FOREIGN = `the program is not for this machine, ${process.arch}: ${ELSEWHERE}`;
// Ends the daemon $1 and removes the folder $2 if this process is killed: then its input ends without a line.
const GUARD = `
read -r line && exit 0
kill "$1" 2>/dev/null
turns=0
while kill -0 "$1" 2>/dev/null && [ $turns -lt 100 ]; do sleep 0.1; turns=$((turns + 1)); done
rm -rf -- "$2"
`;

/** The path of a program that can be executed, or undefined. */
function executable(name) {
  const folders = name.includes("/") ? [""] : (process.env.PATH || "").split(":");
  return folders.map((folder) => path.join(folder, name)).find((file) => {
    try {
      fs.accessSync(file, fs.constants.X_OK);
      return fs.statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

/** The program of the package for this platform, or undefined. */
function packaged() {
  try {
    return path.join(path.dirname(require.resolve(`@batchaid/${process.platform}-${process.arch}/package.json`)), "bin", "batchaid");
  } catch {
    return undefined;
  }
}

function program() {
  const given = process.env.BATCHAID_PROGRAM;
  const found = given ? executable(given) : packaged() || executable("batchaid");
  if (found) return found;
  if (given) throw new Error(`BATCHAID_PROGRAM names ${given}, which is not a program: name batchaid, or unset the variable`);
  throw new Error(
    `@batchaid/${process.platform}-${process.arch} is not installed, and batchaid is not in the PATH: install the package ` +
      "(npm leaves it out with --omit=optional), name a program in BATCHAID_PROGRAM, or start the container image and set what " +
      "`batchaid env` prints",
  );
}

/** The folder in memory if it has room and programs may be executed there, as the daemon chooses it; else that of temporary files. */
function place() {
  if (process.env.TMPDIR) return os.tmpdir();
  try {
    const there = fs.statfsSync("/dev/shm");
    const mounted = fs.readFileSync("/proc/self/mounts", "utf8");
    if (there.bavail * there.bsize >= LEAST_MEMORY && !/ \/dev\/shm \S+ \S*\bnoexec\b/.test(mounted)) return "/dev/shm";
  } catch {
    // It is missing.
  }
  return os.tmpdir();
}

/** What a message of the dynamic loader or of a shell means, and what would be right; "" without such a message. */
function refusedByLoader(said) {
  const version = /version `GLIBC_([\d.]+)' not found/.exec(said);
  // The system has given what it cannot execute to a shell.
  if (/^\S+: (line )?\d+: .*ELF|: (Syntax error|cannot execute|Exec format error)/m.test(said)) return FOREIGN;
  if (version) return `the program needs glibc ${version[1]} or later, which this system does not have: ${ELSEWHERE}`;
  const missing = /error while loading shared libraries: ([^:\s]+)/.exec(said);
  return missing ? `the library ${missing[1]} is missing: install it, or ${ELSEWHERE}` : "";
}

/** Why an existing program cannot be executed. */
function refusedBySystem(file, error) {
  const why = {
    ENOENT: `it is for systems with glibc, and this system has another C library: ${ELSEWHERE}`,
    ENOEXEC: FOREIGN,
    EACCES: "it is not executable: its file system may be mounted with noexec; install the package somewhere else",
  }[error.code];
  return new Error(`${file} cannot be executed here: ${why || error.message}`);
}

/** From now on connections of this process by TLS trust these certificates too: those of fetch(), node:https and Azure's clients. */
function trust(authority) {
  if (tls.setDefaultCACertificates) {
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), authority]);
    return;
  }
  const create = tls.createSecureContext;
  tls.createSecureContext = (options) => {
    const context = create(options);
    if (!options || !options.ca) context.context.addCACert(authority);
    return context;
  };
}

class Cloud {
  #daemon;
  #guard;
  #folder;
  #authority;
  #stopped;

  /** Takes what the variables of clients say; `source` is named in errors. */
  _read(environment, source) {
    const missing = NEEDED.filter((name) => !environment[name]);
    if (missing.length) throw new Error(`${missing.join(", ")} is missing in ${source}: set all that \`batchaid env\` prints`);
    this.environment = environment;
    this.endpoint = environment.BATCHAID_ENDPOINT.replace(/\/+$/, "");
    this.caFile = environment.SSL_CERT_FILE;
    this.#authority = fs.readFileSync(this.caFile, "utf8");
    trust(this.#authority);
    return this;
  }

  async _start(options) {
    const file = program();
    this.#folder = fs.mkdtempSync(path.join(place(), "batchaid-"));
    const state = path.join(this.#folder, "state");
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BATCHAID_")));
    const log = fs.openSync(path.join(this.#folder, "log"), "w");
    const words = ["serve", "--ephemeral", "--testing", "--state-dir", state, "--listen", "localhost:0", ...options];
    // In a session of its own Ctrl-C ends the tests, which then end the daemon.
    const daemon = spawn(file, words, { stdio: ["ignore", "pipe", log], env, detached: true });
    fs.closeSync(log);
    const line = await this.#firstLine(daemon, file);
    if (!line.startsWith("ready ")) throw this.#notStarted();
    const said = spawnSync(file, ["env", "--state-dir", state], { encoding: "utf8" });
    if (said.status !== 0) throw new Error(`batchaid env failed: ${said.stderr}`);
    const found = said.stdout.matchAll(/^export (\w+)='(.*)'$/gm);
    return this._read(Object.fromEntries([...found].map(([, name, value]) => [name, value.replaceAll("'\\''", "'")])), "`batchaid env`");
  }

  #firstLine(daemon, file) {
    return new Promise((resolve, reject) => {
      daemon.once("error", (error) => reject(refusedBySystem(file, error)));
      daemon.once("spawn", () => {
        this.#daemon = daemon;
        this.#guard = spawn("/bin/sh", ["-c", GUARD, "sh", String(daemon.pid), this.#folder], {
          stdio: ["pipe", "ignore", "ignore"],
          detached: true,
        });
        this.#guard.once("error", reject);
      });
      const timer = setTimeout(() => daemon.kill("SIGKILL"), START_MS);
      let text = "";
      const done = () => {
        clearTimeout(timer);
        // Neither holds this process up: if it ends without stop(), the guard ends the daemon.
        for (const one of [daemon, daemon.stdout, this.#guard, this.#guard?.stdin]) one?.unref();
        resolve(text);
      };
      daemon.stdout.on("data", (part) => {
        text += part;
        if (text.includes("\n")) done();
      });
      daemon.stdout.once("end", done);
    });
  }

  #notStarted() {
    const said = fs.readFileSync(path.join(this.#folder, "log"), "utf8").trim();
    return new Error(`batchaid did not start: ${refusedByLoader(said) || said || `it was not ready within ${START_MS / 1000} seconds`}`);
  }

  /** A request of tests, such as ("POST", "/faults", {...}); its JSON reply, or the array of a reply in lines of JSON. */
  testing(method, target, body) {
    const headers = { "x-batchaid-testing-key": this.environment.BATCHAID_TESTING_KEY || "", "content-type": "application/json" };
    const url = `${this.endpoint}/batchaid/testing${target}`;
    return new Promise((resolve, reject) => {
      const request = https.request(url, { method, headers, ca: this.#authority, agent: false }, (reply) => {
        let text = "";
        reply.setEncoding("utf8").on("data", (part) => (text += part));
        reply.once("error", reject).once("end", () => {
          if (reply.statusCode >= 300) return reject(refusal(reply.statusCode, text));
          try {
            return resolve(valueOf(reply.headers["content-type"], text));
          } catch (e) {
            return reject(new Error(`the reply to ${method} ${target} is not JSON: ${e.message}`));
          }
        });
      });
      request.once("error", (e) => reject(new Error(`no daemon answers at ${this.endpoint} (BATCHAID_ENDPOINT): ${e.message}`)));
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Empties all subscriptions, and removes faults, rules and the like. */
  reset() {
    return this.testing("POST", "/reset");
  }

  /** Ends the daemon, and removes all that it had. It may be called again. */
  stop() {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end() {
    const daemon = this.#daemon;
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      daemon.ref();
      const kill = setTimeout(() => daemon.kill("SIGKILL"), STOP_MS);
      await new Promise((resolve) => {
        daemon.once("exit", resolve);
        daemon.kill();
      });
      clearTimeout(kill);
    }
    this.#guard?.stdin?.end("over\n");
    if (this.#folder) fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The value of a reply in JSON; of one in lines of JSON, an array. */
function valueOf(type, text) {
  if (type === "application/x-ndjson") return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return text ? JSON.parse(text) : undefined;
}

/** The error of a reply. */
function refusal(status, text) {
  try {
    const { code, message } = JSON.parse(text).error;
    return Object.assign(new Error(`${status} ${code}: ${message}`), { status, code });
  } catch {
    return Object.assign(new Error(`${status}: ${text}`), { status });
  }
}

/** Starts a daemon with these options of `batchaid serve`, such as "--fake-nodes", and waits until it is ready. */
async function start(...options) {
  const cloud = new Cloud();
  if (process.env.BATCHAID_ENDPOINT) {
    const of = Object.entries(process.env).filter(([name]) => OF_CLIENTS.test(name));
    return cloud._read(Object.fromEntries(of), "the environment");
  }
  try {
    return await cloud._start(options);
  } catch (error) {
    await cloud.stop();
    throw error;
  }
}

/** As start(), for a runner of tests: sets the variables of clients, and calls after() with a function that ends it all. */
async function startFor(after, options) {
  const cloud = await start(...options);
  const before = Object.keys(cloud.environment).map((name) => [name, process.env[name]]);
  Object.assign(process.env, cloud.environment);
  after(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await cloud.stop();
  });
  return cloud;
}

exports.start = start;
exports.startFor = startFor;
