// What labels are called in the reader's language; programs know them by their ids.

import { call } from "./api.js";

let known = new Map();

export async function loadNames() {
  const { labels } = await call("/v1/labels");
  known = new Map(labels.map(label => [label.id, label]));
}

// All that is known of labels, in their order.
export function labelsWithNames() {
  return [...known.values()];
}

export function nameOf(id) {
  const label = known.get(String(id));
  return label ? readable(label) : String(id);
}

// What a label is called for the reader, by the languages that their browser asks for.
export function readable({ id, name, names }) {
  for (const wanted of navigator.languages) {
    const tag = wanted.replaceAll("-", "_");
    for (const code of [tag, tag.split("_")[0]]) if (Object.hasOwn(names, code)) return names[code];
  }
  return name || id;
}
