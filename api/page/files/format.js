// SPDX-License-Identifier: MIT
// Texts for values: sizes, times, durations, names that may be hostile. No function here touches the document.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(n) {
  if (n === undefined || n === null) return "";
  let unit = 0;
  while (n >= 1024 && unit < UNITS.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${UNITS[unit]}`;
}

export function count(n) {
  return n === undefined ? "" : n.toLocaleString("en");
}

// "3 jobs", "1 job".
export function many(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function percent(permille) {
  return permille === undefined ? "unknown" : `${Math.round(permille / 10)} %`;
}

// 75 -> "1 min 15 s"; the two largest units.
export function duration(seconds) {
  if (seconds === undefined || Number.isNaN(seconds)) return "";
  const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.max(0, Math.round(seconds));
  const said = [];
  for (const [name, size] of parts) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n) said.push(`${n} ${name}`);
    if (said.length === 2) break;
  }
  return said.join(" ") || "0 s";
}

export function hours(milliseconds) {
  return (milliseconds / 3600000).toLocaleString("en", { maximumFractionDigits: 1 });
}

// The daemon's clock, as far as its replies say it: a browser's may be set wrong, or belong to another zone.
let ahead = 0;

export function learnTime(date) {
  const apart = Date.parse(date) - Date.now();
  // Replies have whole seconds, and take a while.
  if (!Number.isNaN(apart)) ahead = Math.abs(apart) < 2000 ? 0 : apart;
}

export function present() {
  return Date.now() + ahead;
}

export function since(time, now = present()) {
  return time ? `${duration((now - Date.parse(time)) / 1000)} ago` : "";
}

export function between(from, to, now = present()) {
  return from ? duration(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000) : "";
}

// The reader's own zone, in an order that sorts.
export function when(time) {
  if (!time) return "";
  const d = new Date(time);
  const two = (n) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// Characters that would be invisible, or that turn the order of others around, become names such as <U+202E>.
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export function visible(text) {
  return String(text).replace(INVISIBLE, (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

export const NAME_MOST = 1100; // characters, for plain(): longer than names of blobs are, which have 1,024

// For a name in a line: visible, without line breaks, and not too long.
export function plain(text, most = 200) {
  const shown = visible(text ?? "").replace(/[\r\n\t]/g, " ");
  return shown.length > most ? `${shown.slice(0, most)}… (${count(shown.length)} characters)` : shown;
}

// A control character is a key to the terminal into which a command is pasted: Ctrl-C ends the line, and the next line is a command. In octal
// none is left; three digits, as a digit may follow.
const KEY = /[\u0000-\u001f\u007f-\u009f]/;

function octal(character) {
  return [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

function escaped(character) {
  if (KEY.test(character) || character.search(INVISIBLE) >= 0) return octal(character);
  return character === "'" || character === "\\" ? `\\${character}` : character;
}

// A word of a shell's command line; zsh reads more than a word from "=" in front.
export function quoted(word) {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word)) return word;
  const text = String(word);
  if (KEY.test(text) || text.search(INVISIBLE) >= 0) return `$'${[...text].map(escaped).join("")}'`;
  return `'${text.replace(/'/g, "'\\''")}'`;
}
