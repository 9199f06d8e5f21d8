// Labels by their names: in whatever language, with or without capitals and accents.

import { readable } from "./names.js";

const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };

export function plain(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, letter => LETTERS[letter]);
}

const known = new WeakMap(); // the names of labels, and what they are compared by: there may be thousands

function namesOf(label) {
  if (!known.has(label)) {
    const names = new Set([readable(label), label.id, label.name, ...Object.values(label.names)]);
    known.set(label, [...names].map(name => ({ name, compared: plain(name) })));
  }
  return known.get(label);
}

// The labels that have all words of a query in one of their names, those first that begin with it.
export function find(labels, query, most) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  const found = [];
  for (const [place, label] of labels.entries()) {
    let best = Infinity;
    let by = "";
    for (const { name, compared } of namesOf(label)) {
      const rank = rankOf(compared, words);
      if (rank < best) [best, by] = [rank, name];
    }
    if (best < Infinity) found.push({ label, by, best, place });
  }
  return found.sort((a, b) => a.best - b.best || a.place - b.place).slice(0, most);
}

function rankOf(name, words) {
  if (!words.every(word => name.includes(word))) return Infinity;
  const query = words.join(" ");
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  return words.every(word => new RegExp(`(^|[^\\p{L}\\p{N}])${escaped(word)}`, "u").test(name)) ? 2 : 3;
}

function escaped(word) {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
