// What the model is, and how good it was when it was measured.

import { languageName, make, table } from "./dom.js";

// The first two only for models that give one label per text.
const MEASURES = {
  accuracy: "accuracy",
  sklearn_macro_f1: "sklearn macro-F1",
  micro_f1: "micro-F1",
  macro_f1_present: "macro-F1",
  precision: "precision",
  recall: "recall",
  micro_k: "micro-K",
  macro_k_present: "macro-K",
  macro_f1: "paper’s macro-F1",
  macro_k: "paper’s macro-K",
};

export function showAbout(model, line, place) {
  const languages = Object.keys(model.languages);
  const kind = model.exclusive ? "one label per text" : "several labels per text";
  line.textContent = `A ${model.method} model for ${languages.length} languages under ${model.labels.length} labels, ${kind}.`;
  place.replaceChildren(
    model.scores ? scores(model) : make("p", {}, "It was not measured when it was trained."),
    make("h3", { class: "spaced" }, `Its ${model.labels.length} labels`),
    make("ul", { class: "all" }, model.labels.map(label => make("li", {}, String(label)))),
  );
}

function scores(model) {
  const shown = Object.keys(MEASURES).filter(name => name in model.scores.average);
  const row = (name, measured, documents) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "number" }, documents === undefined ? "" : documents.toLocaleString("en")),
      shown.map(measure => make("td", { class: "number" }, number(measured[measure]))),
    );
  const rows = Object.entries(model.scores.languages).map(([code, measured]) =>
    row(languageName(code), measured, model.languages[code]),
  );
  rows.push(row("Mean", model.scores.average));
  const header = ["Language", "learned from", ...shown.map(measure => MEASURES[measure])];
  const label = `How good it is. ${model.scores.how ?? "Measured on documents that it did not learn from."}`;
  return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": label }, table(label, header, rows));
}

function number(value) {
  return typeof value === "number" ? value.toFixed(3).replace(/^0/, "") : "–";
}
