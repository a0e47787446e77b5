// SPDX-License-Identifier: MIT
// What is kept of a file: the bytes [from, from + data.length), their lines, the style with which each line begins, and the
// number of the first line, by which a line is known while others come and go. Only what is new is decoded. At most
// BYTES_MOST and LINES_MOST are kept: lines in front are dropped then, and `isFull` says so.
//
// If `from` is not 0, the bytes up to the first line break are of a line that begins before them, and are not shown. Without
// a line break the rest of that line is all there is to show.
import { styleAfter, stylesOf } from "./text.js";

export const BYTES_MOST = 8 * 1024 * 1024;
export const LINES_MOST = 500000; // browsers have a limit for the height of a box, of some 16 million pixels
const BREAK = 10;

export function joined(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

// Broken UTF-8 becomes U+FFFD.
function linesOf(data, from) {
  let text = new TextDecoder("utf-8", { ignoreBOM: from > 0 }).decode(data);
  if (from > 0) text = text.slice(text.indexOf("\n") + 1);
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

// The place behind so many line breaks.
function behind(data, breaks) {
  let at = 0;
  for (let n = 0; n < breaks; n++) at = data.indexOf(BREAK, at) + 1;
  return at;
}

function breaksIn(data, end) {
  let n = 0;
  for (let at = data.indexOf(BREAK); at >= 0 && at < end; at = data.indexOf(BREAK, at + 1)) n++;
  return n;
}

function limited(kept) {
  const { data, from, first, lines, styles } = kept;
  const hidden = from > 0 ? 1 : 0; // the line break of the line that begins before
  const tooLong = data.length - BYTES_MOST;
  const tooMany = lines.length - LINES_MOST;
  if (tooLong <= 0 && tooMany <= 0) return kept;
  const end = Math.max(tooLong > 0 ? data.indexOf(BREAK, tooLong) : 0, tooMany > 0 ? behind(data, tooMany + hidden) - 1 : 0);
  // One line is longer than all that is kept.
  if (tooLong > 0 && data.indexOf(BREAK, tooLong) < 0) return { ...linesFrom(data.slice(tooLong), from + tooLong, first), isFull: true };
  const dropped = breaksIn(data, end + 1) - hidden;
  // The bytes begin with the break of the line before, which is the line that is not shown.
  return { data: data.slice(end), from: from + end, first: first + dropped, lines: lines.slice(dropped), styles: styles.slice(dropped), isFull: true };
}

export function linesFrom(data, from, first = 0) {
  const lines = linesOf(data, from);
  return limited({ data, from, first, lines, styles: stylesOf(lines), isFull: false });
}

export function append(kept, more) {
  const { data, from, first, isFull } = kept;
  const all = joined(data, more);
  if (!data.includes(BREAK)) {
    const read = linesFrom(all, from, first);
    return { ...read, isFull: isFull || read.isFull };
  }
  // The last line may go on.
  const begin = data.lastIndexOf(BREAK) + 1;
  const whole = begin < data.length ? kept.lines.length - 1 : kept.lines.length;
  const added = linesOf(all.subarray(begin), 0);
  const styles = stylesOf(added, kept.styles[whole]);
  return limited({ data: all, from, first, isFull, lines: kept.lines.slice(0, whole).concat(added), styles: kept.styles.slice(0, whole).concat(styles) });
}

// A piece that ends where the kept bytes begin. It may end in a colour, which goes on in what is there.
export function prepend(kept, piece) {
  const { data, first, lines } = kept;
  const from = kept.from - piece.length;
  const hidden = data.indexOf(BREAK) + 1;
  if (!hidden) {
    const all = linesFrom(joined(piece, data), from);
    return { ...all, first: first + lines.length - all.lines.length };
  }
  const added = linesOf(joined(piece, data.subarray(0, hidden)), from);
  const before = stylesOf(added);
  const styles = kept.styles.slice();
  let style = before.pop();
  for (let n = 0; n < styles.length && styles[n].names !== style.names; n++) {
    styles[n] = style;
    if (n < lines.length) style = styleAfter(lines[n], style);
  }
  return limited({ data: joined(piece, data), from, first: first - added.length, lines: added.concat(lines), styles: before.concat(styles), isFull: false });
}
