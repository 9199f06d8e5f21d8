// The labels of one text: bars, what tier 1 said, and why.

import { hidden, languageName, make, percent, signed, table } from "./dom.js";
import { markedPieces, markLegend } from "./marks.js";
import { nameOf } from "./names.js";

const EXCERPT = 90;
const ABSTAINED = {
  "out-of-vocabulary": " Nothing in this text is known to the model.",
  "unknown-language": " The model does not know this language.",
};

export function showResult(card, text, row, explanation, { detected, exclusive, shown, total, feedback }) {
  const ranked = Object.keys(row.probabilities).sort((a, b) => row.probabilities[b] - row.probabilities[a]);
  const assigned = new Set(row.labels.map(String));
  const first = [...ranked.filter(label => assigned.has(label)), ...ranked.filter(label => !assigned.has(label))];
  const rows = first
    .slice(0, Math.max(shown, assigned.size))
    .map(label => labelRow(label, text, row, own(explanation?.labels, label), assigned.has(label), exclusive));
  const language = `${languageName(row.language)}${detected ? ", detected" : ""}`;
  const title = make("h3", { id: `result-${card.number}` }, `Text ${card.number}: `, make("span", { class: "language" }, language));
  card.result = replaced(
    card.result,
    make(
      "article",
      { class: "card result", "aria-labelledby": title.id },
      title,
      make("p", { class: "excerpt", lang: row.language.replaceAll("_", "-"), dir: "auto" }, excerpt(text)),
      make("p", { class: "summary" }, summary(assigned.size, row)),
      rows.length ? make("ol", { class: "labels" }, rows) : null,
      explanation || !rows.length ? null : make("p", { class: "note" }, "This answer could not be explained."),
      feedback ?? null,
      rows.length ? everyLabel(card.number, ranked, row, total) : null,
      neighbours(explanation?.neighbours ?? []),
    ),
  );
}

// A label may have the name of something that every object has.
function own(values, label) {
  return values && Object.hasOwn(values, label) ? values[label] : undefined;
}

function replaced(old, fresh) {
  if (old.isConnected) old.replaceWith(fresh);
  return fresh;
}

function excerpt(text) {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT).trimEnd()} …` : line;
}

function summary(count, row) {
  const labels = count === 0 ? "No label is assigned." : count === 1 ? "One label is assigned." : `${count} labels are assigned.`;
  return `${labels}${ABSTAINED[row.abstained] ?? ""}${row.zero_shot ? " Training had no documents in this language." : ""}`;
}

function labelRow(label, text, row, why, assigned, exclusive) {
  const probability = row.probabilities[label];
  const threshold = own(row.thresholds, label) ?? 0.5;
  const posterior = why?.tier_two ? opinion(why) : undefined;
  const bars = make("div", { class: "bars", "aria-hidden": "true" }, bar(probability));
  if (posterior !== undefined) bars.append(bar(posterior, "one"));
  if (!exclusive) bars.append(line(threshold));
  const mark = assigned ? make("span", { class: "mark" }, "✓ assigned") : null;
  const cut = exclusive ? null : hidden(`, assigned above ${percent(threshold)}`);
  return make(
    "li",
    { class: assigned ? "assigned" : null },
    make("div", { class: "name" }, make("span", { title: label }, nameOf(label), mark), make("span", { class: "number" }, percent(probability), cut)),
    bars,
    posterior === undefined ? null : make("p", { class: "change" }, change(posterior, probability)),
    why?.tier_one || why?.tier_two ? reasons(label, why, text, row.language) : null,
  );
}

function bar(probability, kind = "") {
  const fill = make("div");
  fill.style.width = `${100 * probability}%`;
  return make("div", { class: `bar ${kind}`.trim() }, fill);
}

function line(threshold) {
  const element = make("div", { class: "line" });
  element.style.insetInlineStart = `calc(${100 * threshold}% - 1px)`;
  return element;
}

function change(before, after) {
  const points = Math.round(100 * after) - Math.round(100 * before);
  const moved = points === 0 ? "tier 2 agrees" : `tier 2 ${points > 0 ? "raised" : "lowered"} it by ${Math.abs(points)} points`;
  return `Tier 1 said ${percent(before)}; ${moved}.`;
}

/** The views of tier 1 whose words are listed, by name; there may be one without a name. */
function views(why) {
  if (!why.tier_one) return [];
  return [[why.tier_one.view, why.tier_one], ...Object.entries(why.other_views ?? {})];
}

/** The mean of what the views of tier 1 say. */
function opinion(why) {
  const posteriors = views(why).map(([, view]) => view.posterior);
  return posteriors.length ? posteriors.reduce((sum, value) => sum + value, 0) / posteriors.length : undefined;
}

function reasons(label, why, text, language) {
  const tables = views(why).map(([name, { words, other_words: others, bias }]) => {
    const rest = [["all others", others], ["without any", bias]];
    const [title, kind] = name === "characters" ? ["Character n-grams", "N-gram"] : ["Words", "Word"];
    return contributions(`${title}, in tier 1${name ? ` (${name})` : ""}`, kind, words, rest);
  });
  if (why.tier_two) {
    const { labels, other_labels: others, base } = why.tier_two;
    const rest = [["all other labels", others], ["without any label", base]];
    const named = labels.map(([label, amount]) => [nameOf(label), amount]);
    tables.push(contributions("What tier 1 said of labels, in tier 2", "Label", named, rest));
  }
  if (why.candidate) tables.push(candidacy(why.candidate));
  const place = make("div");
  const draw = () => place.childElementCount || place.append(...marked(text, why.spans, language)); // it may be long
  return make(
    "details",
    { ontoggle: why.spans ? draw : null },
    make("summary", {}, "Why?", hidden(` ${nameOf(label)}`)),
    place,
    make("p", { class: "note" }, "What each added to the label’s score; a minus speaks against it."),
    make("div", { class: "tables" }, tables),
  );
}

/** What tier 2 saw of a label, where these are so many that only some are candidates. */
function candidacy({ rank, n_candidates: all, scores, co_occurrence: together, documents, documents_in_language: here }) {
  const facts = [
    ["Rank in tier 1", `${rank} of ${all}`],
    ...Object.entries(scores).map(([view, score]) => [`Score (${view})`, signed(score)]),
    ["Goes with other candidates", signed(together)],
    ["Training documents", documents.toLocaleString("en")],
    ["… in this language", here.toLocaleString("en")],
  ];
  const rows = facts.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, value)));
  return table("What tier 2 saw", ["Fact", "Value"], rows);
}

/** The text, its words marked by what they added. */
function marked(text, passages, language) {
  return [
    make("p", { class: "marked", lang: language.replaceAll("_", "-"), dir: "auto" }, ...markedPieces(text, passages)),
    make("p", { class: "note" }, ...markLegend()),
  ];
}

function contributions(caption, kind, entries, rest) {
  const row = ([name, amount], plain) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, plain ? make("em", {}, name) : String(name)),
      make("td", { class: amount < 0 ? "number against" : "number" }, signed(amount)),
    );
  const rows = [...entries.map(pair => row(pair, false)), ...rest.map(pair => row(pair, true))];
  return table(caption, [kind, "Adds"], rows);
}

function everyLabel(number, ranked, row, total) {
  const items = ranked.map(label => make("li", { title: label }, make("span", {}, nameOf(label)), make("span", { class: "number" }, percent(row.probabilities[label]))));
  return make(
    "details",
    {},
    make("summary", {}, ranked.length < total ? `The ${ranked.length} most probable labels` : `All ${ranked.length} labels`, hidden(` of text ${number}`)),
    make("ul", { class: "all" }, items),
  );
}

function neighbours(nearest) {
  if (!nearest.length) return null;
  const items = nearest.map(near =>
    make(
      "li",
      {},
      make("code", {}, near.id),
      ` ${languageName(near.language)}: ${near.labels.map(nameOf).join(", ") || "no label"}`,
      near.text ? make("p", { class: "near", lang: near.language.replaceAll("_", "-"), dir: "auto" }, near.text) : null,
    ),
  );
  return make("details", {}, make("summary", {}, "Training documents that tier 2 finds most alike"), make("ul", {}, items));
}
