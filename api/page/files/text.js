// SPDX-License-Identifier: MIT
// Lines of a log as pieces with styles: colours of terminals (SGR), carriage returns of progress bars. Other control
// sequences are left out, other invisible characters shown by name. All is text: nothing here makes markup.
import { visible } from "./format.js";

const LINE_MOST = 4000; // characters shown of a line, until the reader asks for all
// A control sequence (CSI), a command to the terminal (OSC), another text for it (DCS, SOS, PM, APC; ECMA-48, 5.6), another
// escape with or without characters between (ECMA-48, 5.4; ECMA-35, 13.2).
const SEQUENCE = new RegExp(["\\[([0-?]*)[ -/]*([@-~])", "\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)", "[PX^_][^\u001b]*\u001b\\\\", "[ -/]+[0-~]", "[0-Z\\\\^-~]"]
  .map((kind) => `\u001b${kind}`).join("|"), "g");

const PLAIN = { names: "" };
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

function classOf(style) {
  const names = ["bold", "dim", "italic", "underline"].filter((name) => style[name]);
  if (style.colour) names.push(`c-${style.colour}`);
  return names.join(" ");
}

// A parameter with colons is one unit with its own parameters ("48:2::255:0:0").
function changed(style, parameters) {
  const units = parameters.split(";");
  let next = { ...style };
  for (let i = 0; i < units.length; i++) {
    const [c, second] = units[i].split(":").map(Number);
    if (c === 0) next = { ...PLAIN };
    else if (c === 1) next.bold = true;
    else if (c === 2) next.dim = true;
    else if (c === 3) next.italic = true;
    else if (c === 4) next.underline = second !== 0;
    else if (c === 22) next.bold = next.dim = false;
    else if (c === 23) next.italic = false;
    else if (c === 24) next.underline = false;
    else if (c >= 30 && c <= 37) next.colour = NAMES[c - 30];
    else if (c >= 90 && c <= 97) next.colour = NAMES[c - 90];
    else if (c === 39 || c === 38) next.colour = undefined; // one of 256 colours or more is not shown
    if ((c === 38 || c === 48 || c === 58) && second === undefined) i += Number(units[i + 1]) === 5 ? 2 : 4; // their parameters
  }
  next.names = classOf(next);
  return next;
}

// Logs repeat few sequences many times.
const known = new Map();
const KNOWN_MOST = 5000;

function applied(style, parameters) {
  const key = `${style.names} ${parameters}`;
  let next = known.get(key);
  if (next) return next;
  next = changed(style, parameters);
  if (known.size >= KNOWN_MOST) known.clear();
  known.set(key, next);
  return next;
}

// Parameters that begin with one of these are private (ECMA-48, 5.4.1): "ESC[>4;1m" is about the keyboard.
const PRIVATE = /^[<=>?]/;

function isStyle(found) {
  return found[2] === "m" && !PRIVATE.test(found[1]);
}

export function styleAfter(text, style) {
  const at = text.indexOf("\u001b");
  if (at < 0) return style;
  SEQUENCE.lastIndex = at;
  for (let found = SEQUENCE.exec(text); found; found = SEQUENCE.exec(text)) if (isStyle(found)) style = applied(style, found[1]);
  return style;
}

// The style with which each line begins, the first with `style`, and the line after them: colours continue until they end.
// Two styles with the same names are the same.
export function stylesOf(lines, style = PLAIN) {
  const styles = [style];
  for (const line of lines) styles.push((style = styleAfter(line, style)));
  return styles;
}

// What readLine() shows of a whole line, as one text.
export function shownText(line) {
  const written = line.endsWith("\r") ? line.slice(0, -1) : line;
  return visible(written.slice(written.lastIndexOf("\r") + 1).replace(SEQUENCE, ""));
}

// The place, or that before it if the two halves of a character (UTF-16) are there.
function upTo(text, place) {
  const at = Math.min(text.length, place);
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

// {pieces: [{text, names}], cut: characters that are not shown}. Of carriage returns the last is seen: what follows it was
// written over the rest.
export function readLine(line, style, whole = false) {
  const written = line.endsWith("\r") ? line.slice(0, -1) : line;
  const from = written.lastIndexOf("\r") + 1;
  const text = written.slice(from);
  style = styleAfter(written.slice(0, from), style);
  const pieces = [];
  let at = 0;
  let room = whole ? Infinity : LINE_MOST;
  let unseen = 0;
  const add = (part) => {
    const shown = room > 0 ? upTo(part, room) : 0;
    if (part && room > 0) pieces.push({ text: visible(part.slice(0, shown)), names: style.names });
    unseen += part.length - shown;
    room -= part.length;
  };
  const end = whole ? text.length : upTo(text, LINE_MOST * 2);
  // A sequence that begins before the end is whole.
  for (const found of text.matchAll(SEQUENCE)) {
    if (found.index >= end) break;
    add(text.slice(at, found.index));
    at = found.index + found[0].length;
    if (isStyle(found)) style = applied(style, found[1]);
  }
  add(text.slice(at, Math.max(at, end)));
  return { pieces, cut: Math.max(0, text.length - Math.max(at, end) + unseen) };
}

// CSV (RFC 4180): rows of cells, at most `most` rows. A quote inside a cell that does not begin with a quote is text.
export function readCsv(text, most) {
  const rows = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    const row = rows[rows.length - 1];
    if (quoted) {
      if (c !== '"') row[row.length - 1] += c;
      else if (text[i + 1] === '"') row[row.length - 1] += text[++i];
      else quoted = false;
    } else if (c === '"' && row[row.length - 1] === "") {
      quoted = true;
    } else if (c === ",") {
      row.push("");
    } else if (c === "\n") {
      if (rows.length === most) return rows;
      rows.push([""]);
    } else if (c !== "\r") {
      row[row.length - 1] += c;
    }
  }
  if (rows[rows.length - 1].length === 1 && rows[rows.length - 1][0] === "") rows.pop();
  return rows;
}

const INDENT_MOST = 40; // levels

// JSON with a line for each value. Values keep their spelling, as numbers of JSON may be larger than a program's, and names
// may come twice. What is not JSON stays as it is.
export function indentJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const said = [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, INDENT_MOST))}`;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  tokens.forEach((token, n) => {
    const isEmpty = (token === "}" && tokens[n - 1] === "{") || (token === "]" && tokens[n - 1] === "[");
    if (token === "}" || token === "]") {
      depth--;
      said.push(isEmpty ? token : line() + token);
    } else if (token === "{" || token === "[") {
      depth++;
      said.push(tokens[n + 1] === "}" || tokens[n + 1] === "]" ? token : token + line());
    } else {
      said.push(token === "," ? token + line() : token === ":" ? ": " : token);
    }
  });
  return said.join("");
}
