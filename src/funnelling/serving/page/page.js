// The page: texts go in, labels come out, side by side.

import { call, Refusal, useToken } from "./api.js";
import { hidden, languageName, make } from "./dom.js";
import { showAbout } from "./about.js";
import { showResult } from "./results.js";

const MOST_TEXTS = 8;
const SHOWN_LABELS = 6;

const find = id => document.getElementById(id);
const cards = [];
let model = null;
let numbers = 0;

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
  const card = { number, element, text, language, remove, result: make("div") };
  language.addEventListener("change", () => card.result.isConnected && label([card]));
  text.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find("texts").requestSubmit();
  });
  cards.push(card);
  find("cards").append(element);
  fillLanguages(card);
  update();
  return card;
}

function removeCard(card) {
  const place = cards.indexOf(card);
  cards.splice(place, 1);
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

function fillLanguages(card, detected) {
  const chosen = card.language.value;
  const found = detected ? `Detected: ${languageName(detected)}` : "Detect the language";
  const known = Object.keys(model?.languages ?? {}).map(code => make("option", { value: code }, languageName(code)));
  card.language.replaceChildren(make("option", { value: "" }, found), ...known);
  card.language.value = chosen;
}

function say(sentence, problem = false) {
  find("status").className = problem ? "problem" : "";
  find("status").textContent = sentence;
}

async function label(chosen) {
  const asked = chosen.filter(card => card.text.value.trim());
  for (const card of chosen) if (!asked.includes(card)) card.result.remove();
  if (!asked.length) {
    update();
    say("Write or paste a text first.", true);
    chosen[0].text.focus();
    return;
  }
  find("label").setAttribute("aria-busy", "true");
  say("Asking the model …");
  try {
    const documents = asked.map(card => ({ text: card.text.value, language: card.language.value || null }));
    const answer = await call("/v1/predict", { documents });
    const explained = await Promise.allSettled(documents.map((text, i) => explain(text, answer.documents[i])));
    for (const [i, card] of asked.entries()) {
      const row = answer.documents[i];
      const detected = !card.language.value;
      fillLanguages(card, detected ? row.language : undefined);
      showResult(card, row, explained[i].value, { detected, exclusive: model?.exclusive, shown: SHOWN_LABELS });
    }
    const shown = cards.filter(card => asked.includes(card) || card.result.isConnected);
    find("results").replaceChildren(...shown.map(card => card.result));
    find("results-section").hidden = false;
    const tiers = find("results").querySelector(".bar.one");
    find("legend").querySelector(".of-tiers").hidden = !tiers;
    say(asked.length === 1 ? "One text is labelled." : `${asked.length} texts are labelled.`);
    find("status").append(hidden(told(asked, answer.documents)));
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401) askForToken();
    say(refusal.message, true);
  } finally {
    find("label").removeAttribute("aria-busy");
  }
}

async function explain(text, row) {
  const labels = Object.keys(row.scores).sort((a, b) => row.scores[b] - row.scores[a]);
  const assigned = row.labels.map(String);
  const shown = [...new Set([...assigned, ...labels])].slice(0, Math.max(SHOWN_LABELS, assigned.length));
  const document = { text: text.text, language: row.language };
  return (await call("/v1/explain", { documents: [document], labels: shown, top: 8 })).documents[0];
}

function told(asked, rows) {
  const sentences = rows.map((row, i) => {
    const labels = row.labels.length ? row.labels.join(", ") : "no label";
    return `Text ${asked[i].number}, ${languageName(row.language)}: ${labels}.`;
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
  } catch (refusal) {
    find("model").textContent = "";
    if (refusal.status !== 401) say(refusal.message, true);
    else if (find("token").value) say("This is not the token of the service.", true);
    if (refusal.status === 401) askForToken();
    return;
  }
  find("token-form").hidden = true;
  showAbout(model, find("model"), find("about"));
  for (const card of cards) {
    fillLanguages(card);
    card.text.maxLength = model.limits.characters;
  }
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
