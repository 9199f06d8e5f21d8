// The page: texts go in, labels come out, side by side.

import { call, Refusal, useToken } from "./api.js";
import { hidden, languageName, make } from "./dom.js";
import { showAbout } from "./about.js";
import { examples } from "./examples.js";
import { feedback } from "./feedback.js";
import { loadNames, nameOf } from "./names.js";
import { showResult } from "./results.js";

const MOST_TEXTS = 8;
const SHOWN_LABELS = 6;

const find = id => document.getElementById(id);
const cards = [];
let model = null;
let numbers = 0;
let pending = 0;

function addCard() {
  const number = ++numbers;
  const text = make("textarea", { id: `text-${number}`, rows: 6, dir: "auto", spellcheck: "false" });
  const language = make("select", { id: `language-${number}` });
  const remove = make(
    "button",
    { type: "button", class: "quiet small", onclick: () => removeCard(card) },
    "Remove",
    hidden(` text ${number}`),
  );
  const title = make("label", { id: `title-${number}`, for: text.id }, `Text ${number}`);
  const element = make(
    "div",
    { class: "card", role: "group", "aria-labelledby": title.id },
    make("div", { class: "top" }, title, remove),
    text,
    make("label", { for: language.id }, "Language"),
    language,
  );
  const card = { number, element, text, language, remove, turn: 0, result: make("div") };
  language.addEventListener("change", () => card.result.isConnected && label([card]));
  text.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find("texts").requestSubmit();
  });
  cards.push(card);
  find("cards").append(element);
  fit(card);
  update();
  return card;
}

function removeCard(card) {
  const place = cards.indexOf(card);
  cards.splice(place, 1);
  card.turn++;
  card.element.remove();
  card.result.remove();
  update();
  (cards[place] ?? cards[place - 1]).text.focus();
  say(`Text ${card.number} is removed.`);
}

function update() {
  for (const card of cards) card.remove.hidden = cards.length === 1;
  find("add").disabled = cards.length >= MOST_TEXTS;
  if (!find("results").childElementCount) find("results-section").hidden = true;
}

function fit(card) {
  fillLanguages(card);
  if (model) card.text.maxLength = model.limits.characters;
}

function fillLanguages(card, detected) {
  const chosen = card.language.value;
  const automatic = detected ? `Detected: ${languageName(detected)}` : "Detect the language";
  const known = Object.keys(model?.languages ?? {}).map(code => make("option", { value: code }, languageName(code)));
  card.language.replaceChildren(make("option", { value: "" }, automatic), ...known);
  card.language.value = chosen;
}

function showExamples() {
  const buttons = examples(model).map(({ text, language }) =>
    make(
      "button",
      { type: "button", class: "quiet small", onclick: () => tryOut(text) },
      `${languageName(language)}: `,
      make("span", { lang: language.replaceAll("_", "-"), dir: "auto" }, text),
    ),
  );
  find("examples").replaceChildren(make("p", { id: "examples-title" }, "Try an example:"), ...buttons);
  find("examples").hidden = !buttons.length;
}

/** Label a text at once, in the first card that is empty, or in place of the last one. */
async function tryOut(text) {
  const card = cards.find(each => !each.text.value.trim()) ?? cards.at(-1);
  card.text.value = text;
  fillLanguages(card);
  card.language.value = "";
  await label([card]);
  const title = find("results-title");
  if (title.getBoundingClientRect().top > 0.7 * window.innerHeight) title.scrollIntoView();
}

function say(sentence, problem = false) {
  find("status").className = problem ? "problem" : "";
  find("status").textContent = sentence;
}

async function label(chosen) {
  // What a card held when it was asked about; an answer that comes after a later question is dropped.
  const questions = chosen.map(card => ({ card, turn: ++card.turn, text: card.text.value, language: card.language.value }));
  const full = questions.filter(question => question.text.trim());
  const current = () => full.filter(({ card, turn }) => card.turn === turn);
  for (const question of questions) if (!full.includes(question)) question.card.result.remove();
  if (!full.length) {
    update();
    say("Write or paste a text first.", true);
    chosen[0].text.focus();
    return;
  }
  pending++;
  find("label").setAttribute("aria-busy", "true");
  say("Asking the model …");
  try {
    const documents = full.map(({ text, language }) => ({ text, language: language || null }));
    const rows = (await call("/v1/predict", { documents, ...(model && !model.single_label ? { show: ["thresholds"] } : {}) })).documents;
    const explanations = await Promise.allSettled(documents.map(({ text }, i) => explain(text, rows[i])));
    full.forEach((question, i) => Object.assign(question, { row: rows[i], why: explanations[i].value }));
    if (current().length) show(current());
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401) askForToken();
    if (current().length) say(refusal.message, true);
  } finally {
    if (!--pending) find("label").removeAttribute("aria-busy");
  }
}

function show(answers) {
  for (const { card, text, language, row, why } of answers) {
    const detected = !language;
    fillLanguages(card, detected ? row.language : undefined);
    const wrong = model?.feedback ? feedback(card.number, text, row, model, say) : null;
    showResult(card, text, row, why, { detected, exclusive: model?.single_label, shown: SHOWN_LABELS, total: model?.labels.length, feedback: wrong });
  }
  const fresh = answers.map(({ card }) => card);
  const shown = cards.filter(card => fresh.includes(card) || card.result.isConnected);
  find("results").replaceChildren(...shown.map(card => card.result));
  find("results-section").hidden = false;
  const tiers = find("results").querySelector(".bar.one");
  for (const item of find("legend").querySelectorAll(".of-tiers")) item.hidden = !tiers;
  find("legend").querySelector(".of-cuts").hidden = Boolean(model?.single_label);
  say(answers.length === 1 ? "One text is labelled." : `${answers.length} texts are labelled.`);
  find("status").append(hidden(spoken(answers)));
}

async function explain(text, row) {
  const labels = Object.keys(row.probabilities).sort((a, b) => row.probabilities[b] - row.probabilities[a]);
  const assigned = row.labels.map(String);
  const shown = [...new Set([...assigned, ...labels])].slice(0, Math.max(SHOWN_LABELS, assigned.length));
  if (!shown.length) return undefined;
  const document = { text, language: row.language };
  return (await call("/v1/explain", { documents: [document], labels: shown, top: 8 })).documents[0];
}

// For a screen reader.
function spoken(answers) {
  const sentences = answers.map(({ card, row }) => {
    const labels = row.labels.length ? row.labels.map(nameOf).join(", ") : "no label";
    return `Text ${card.number}, ${languageName(row.language)}: ${labels}.`;
  });
  return ` ${sentences.join(" ")}`;
}

function askForToken() {
  find("token-form").hidden = false;
  find("token").focus();
}

async function loadModel() {
  try {
    model = await call("/v1/model");
    await loadNames();
  } catch (refusal) {
    find("model").textContent = "";
    if (refusal.status !== 401) say(refusal.message, true);
    else if (find("token").value) say("This is not the token of the service.", true);
    if (refusal.status === 401) askForToken();
    return;
  }
  find("token-form").hidden = true;
  showAbout(model, find("model"), find("about"));
  find("label").textContent = model.single_label ? "Show the label" : "Show the labels";
  cards.forEach(fit);
  showExamples();
  say("");
}

find("texts").addEventListener("submit", event => {
  event.preventDefault();
  label([...cards]);
});
find("add").addEventListener("click", () => addCard().text.focus());
find("token-form").addEventListener("submit", event => {
  event.preventDefault();
  useToken(find("token").value.trim());
  loadModel();
});
addCard();
loadModel();
