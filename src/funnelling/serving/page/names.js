// What labels are called in the reader's language; programs know them by their ids.

import { call } from "./api.js";

let names = new Map();

export async function loadNames() {
  const { labels } = await call("/v1/labels");
  names = new Map(labels.map(label => [label.id, chosen(label)]));
}

export function nameOf(label) {
  return names.get(String(label)) ?? String(label);
}

function chosen({ name, names: all }) {
  for (const wanted of navigator.languages) {
    const tag = wanted.replaceAll("-", "_");
    const found = own(all, tag) ?? own(all, tag.split("_")[0]);
    if (found) return found;
  }
  return name;
}

function own(values, key) {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
