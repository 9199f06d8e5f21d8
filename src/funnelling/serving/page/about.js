// What the model is, and how good it was when it was measured.

import { languageName, make, table } from "./dom.js";
import { nameOf } from "./names.js";

const MOST = 1000; // labels that are listed
const FEW = 30; // documents of a language below which its scores are marked

// Of many labels the most probable ones are measured, and these stand alone.
const OF_MANY = {
  p_at_1: "P@1",
  p_at_3: "P@3",
  p_at_5: "P@5",
  ndcg_at_5: "nDCG@5",
  psp_at_5: "PSP@5",
  micro_f1: "micro-F1",
};
const MULTILABEL = { micro_f1: "micro-F1", macro_f1: "macro-F1", precision: "precision", recall: "recall" };
const SINGLE_LABEL = { accuracy: "accuracy", macro_f1: "macro-F1" };

export function showAbout(model, line, place) {
  const languages = Object.keys(model.languages);
  const kind = model.single_label ? "one label per text" : "several labels per text";
  line.textContent = `A ${model.method} model for ${languages.length} languages under ${count(model.labels.length)} labels, ${kind}.`;
  place.replaceChildren(
    model.scores ? scores(model) : make("p", {}, "It was not measured."),
    make("h3", { class: "spaced" }, `Its ${count(model.labels.length)} labels`),
    make("ul", { class: "all" }, model.labels.slice(0, MOST).map(label => make("li", { title: String(label) }, nameOf(label)))),
    model.labels.length > MOST ? make("p", {}, `And ${count(model.labels.length - MOST)} more.`) : "",
  );
}

function scores(model) {
  const { average, languages, evaluated_on: how } = model.scores;
  const titles = "p_at_1" in average ? OF_MANY : "accuracy" in average ? SINGLE_LABEL : MULTILABEL;
  const shown = Object.keys(titles).filter(name => name in average);
  const row = (name, measured, learned) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      [learned, measured.documents].map(documents => make("td", { class: "number" }, count(documents))),
      shown.map(measure => make("td", { class: "number" }, number(measured[measure]))),
    );
  const measured = Object.entries(languages);
  const rows = measured.map(([code, values]) => row(marked(code, values), values, model.languages[code]));
  rows.push(row("Mean", average));
  const few = measured.some(([, values]) => values.documents < FEW);
  const header = ["Language", "learned from", "measured on", ...shown.map(measure => titles[measure])];
  const label =
    `How good it is. ${how ?? "Measured on documents that it did not learn from."}` +
    (few ? ` ! Fewer than ${FEW} documents to measure on: chance has a large part.` : "");
  return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": label }, table(label, header, rows));
}

function marked(code, measured) {
  return languageName(code) + (measured.documents < FEW ? " !" : "");
}

function count(documents) {
  return documents === undefined ? "" : documents.toLocaleString("en");
}

function number(value) {
  return typeof value === "number" ? value.toFixed(3).replace(/^0/, "") : "–";
}
