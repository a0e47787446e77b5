// SPDX-License-Identifier: MIT
// Lines of a log as pieces with styles: colours of terminals (SGR), carriage returns of progress bars. Other control
// sequences are left out, other invisible characters shown by name. All is text: nothing here makes markup.
import { visible } from "./format.js";

const LINE_MOST = 4000; // characters shown of a line, until the reader asks for all
// A control sequence (CSI), a command to the terminal (OSC), or another escape of two characters.
const SEQUENCE = /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

function applied(style, parameters) {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let next = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i];
    if (c === 0) next = {};
    else if (c === 1) next.bold = true;
    else if (c === 2) next.dim = true;
    else if (c === 3) next.italic = true;
    else if (c === 4) next.underline = true;
    else if (c === 22) next.bold = next.dim = false;
    else if (c === 23) next.italic = false;
    else if (c === 24) next.underline = false;
    else if (c >= 30 && c <= 37) next.colour = NAMES[c - 30];
    else if (c >= 90 && c <= 97) next.colour = NAMES[c - 90];
    else if (c === 39) next.colour = undefined;
    else if (c === 38 || c === 48) i += codes[i + 1] === 5 ? 2 : 4; // of 256 colours or more: their parameters
  }
  return next;
}

function styleAfter(text, style) {
  if (!text.includes("\u001b")) return style;
  for (const found of text.matchAll(SEQUENCE)) if (found[2] === "m") style = applied(style, found[1]);
  return style;
}

// The style with which each line begins: colours continue until they are ended.
export function stylesOf(lines) {
  let style = {};
  return lines.map((line) => {
    const now = style;
    style = styleAfter(line, style);
    return now;
  });
}

function classOf(style) {
  const names = ["bold", "dim", "italic", "underline"].filter((name) => style[name]);
  if (style.colour) names.push(`c-${style.colour}`);
  return names.join(" ");
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
  const add = (part) => {
    if (part && room > 0) pieces.push({ text: visible(part.slice(0, room)), names: classOf(style) });
    room -= part.length;
  };
  const end = whole ? text.length : Math.min(text.length, LINE_MOST * 2);
  const seen = text.slice(0, end);
  for (const found of seen.matchAll(SEQUENCE)) {
    add(seen.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === "m") style = applied(style, found[1]);
  }
  add(seen.slice(at));
  return { pieces, cut: Math.max(0, text.length - end + Math.max(0, -room)) };
}

// CSV (RFC 4180): rows of cells, at most `most` rows.
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
    } else if (c === '"') {
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
