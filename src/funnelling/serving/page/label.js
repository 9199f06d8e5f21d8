// The page to label on: one document at a time, its labels, and the next one once they are on disk.

import { call, Refusal, useToken } from "./api.js";
import { languageName, make, table } from "./dom.js";
import { markedPieces, markLegend } from "./marks.js";
import { readable } from "./names.js";
import { Picker } from "./picker.js";

const SIGN_OF_LIFE = 60_000; // milliseconds between signs, of somebody who does something
const LOOK = 3_000; // between looks at a model that learns, or at what others leave
const EXPLAINED = 4; // labels whose words are marked at once

const place = id => document.getElementById(id);
const session = kept(sessionStorage, "funnelling-session", () => [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join(""));
let annotator = "";
let facts = null;
let shown = null; // the document
let why = new Map(); // the spans of its labels
let marked = ""; // the label whose spans are shown
let busy = false;
let signed = 0; // when the last sign of life was sent
let learned = 0;

const picker = new Picker(place("labels"), { exclusive: false, extensible: true, say, onfocus: mark, onchange: mark });

function kept(storage, name, make) {
  try {
    const found = storage.getItem(name) ?? make();
    storage.setItem(name, found);
    return found;
  } catch {
    return make(); // a browser may keep nothing
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // then it is asked again
  }
}

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function say(sentence, problem = false) {
  place("status").className = problem ? "problem" : "";
  place("status").textContent = sentence;
}

async function ask(path, body, quietly = false) {
  if (busy && !quietly) return null;
  busy ||= !quietly;
  place("save").setAttribute("aria-busy", String(busy));
  try {
    return await call(path, { session, annotator, ...body });
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401) askFor("token");
    if (!quietly) say(refusal.message, true);
    return refusal;
  } finally {
    if (!quietly) busy = false;
    place("save").setAttribute("aria-busy", String(busy));
  }
}

function askFor(what) {
  place(`${what}-form`).hidden = false;
  place("work").hidden = true;
  place(what).focus();
}

async function begin() {
  try {
    facts = await call("/v1/labels");
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status !== 401) say(refusal.message, true);
    else if (place("token").value) say("This is not the token of the service.", true);
    if (refusal.status === 401) askFor("token");
    return;
  }
  place("token-form").hidden = true;
  useFacts();
  const name = facts.annotator || remembered("funnelling-who");
  if (name === null) askFor("who");
  else {
    annotator = name;
    next();
  }
}

function useFacts() {
  picker.exclusive = facts.single_label;
  picker.use(facts.labels);
  learned = facts.learning.learned;
}

async function next() {
  show(await ask("/v1/next", {}));
}

async function decide(action, before) {
  if (!shown) return;
  const labels = action === "label" ? [...picker.chosen] : null;
  const body = { key: shown.key, action, note: place("note").value, ...(labels && { labels }) };
  const answer = await ask("/v1/annotate", body);
  if (await showOrNext(answer)) say(`${before}${shown ? "" : " Nothing is left."}`);
}

function save() {
  if (picker.exclusive && !picker.chosen.size) return say("Choose a label, or skip.");
  const names = [...picker.chosen].map(id => readable(picker.labels.get(id)));
  return decide("label", `Saved: ${names.join(", ") || "no label"}.`);
}

function skip() {
  return decide("skip", "Skipped.");
}

/** Have the model look at the document in another language; what a person has chosen already stays. */
async function correctLanguage() {
  const labels = [...picker.chosen];
  const touched = labels.length !== shown.suggested.length || labels.some(id => !shown.suggested.includes(id));
  const body = { key: shown.key, language: place("language").value, ...(touched && { labels }) };
  if (await showOrNext(await ask("/v1/language", body))) {
    place("language").focus({ preventScroll: true });
    say(`The document is in ${languageName(shown.language)}.`);
  } else if (shown) showLanguage();
}

async function undo() {
  if (show(await ask("/v1/undo", {}))) say("Taken back.");
}

/** Show an answer, or the next document where somebody else has this one; gives whether it was an answer. */
async function showOrNext(answer) {
  if (!(answer instanceof Refusal && answer.status === 409)) return show(answer);
  await next();
  say(answer.message, true);
  return false;
}

/** Show an answer, unless it is none; gives whether it was one. */
function show(answer) {
  if (!answer || answer instanceof Refusal) return false;
  shown = answer.document;
  showState(answer);
  place("work").hidden = !shown;
  place("end").hidden = Boolean(shown);
  place("beside").hidden = false;
  if (shown) showDocument();
  else showEnd(answer.progress);
  return true;
}

function showDocument() {
  why = new Map();
  marked = "";
  place("title").textContent = shown.id ? `Document ${shown.id}` : "Document";
  showLanguage();
  place("reason").textContent = shown.reason ? `Why this one: ${shown.reason}.` : "";
  place("note").value = shown.note;
  place("note-part").open = Boolean(shown.note);
  picker.show(shown.probabilities, shown.labels);
  drawText([]);
  const ranked = picker.ranked().filter(id => picker.score(id) !== undefined);
  explain([...new Set([...shown.labels, ...ranked])].slice(0, EXPLAINED));
  place("title").focus({ preventScroll: true });
  window.scrollTo(0, 0);
  place("text").scrollTo(0, 0);
}

function showLanguage() {
  const codes = [...new Set([...facts.languages, shown.language])];
  const named = codes.map(code => ({ code, name: languageName(code) })).sort((a, b) => a.name.localeCompare(b.name));
  place("language").replaceChildren(...named.map(({ code, name }) => make("option", { value: code, selected: code === shown.language }, name)));
}

function drawText(spans) {
  const language = shown.language.replaceAll("_", "-");
  place("text").replaceChildren(make("p", { lang: language, dir: "auto" }, ...markedPieces(shown.text, spans)));
  place("legend").replaceChildren(...(spans.length ? markLegend(readable(picker.labels.get(marked))) : []));
}

async function explain(labels) {
  const { key } = shown;
  if (!labels.length) return;
  const answer = await ask("/v1/explain", { key, labels, session: undefined, annotator: undefined }, true);
  if (shown?.key !== key || !answer || answer instanceof Refusal) return;
  for (const label of labels) why.set(label, Object.hasOwn(answer.labels, label) ? answer.labels[label] : []);
  if (!marked || labels.includes(marked)) mark(marked || labels[0]);
}

/** Mark the words that speak for a label. */
function mark(label) {
  if (!shown) return;
  if (!why.has(label)) {
    marked = label;
    why.set(label, []);
    explain([label]);
  } else if (marked !== label || why.get(label).length) {
    marked = label;
    drawText(why.get(label));
  }
}

function showEnd(progress) {
  const others = progress.left
    ? `Others have the last ${progress.left === 1 ? "document" : `${progress.left} documents`}, or you skipped them.`
    : "Every document has been decided about.";
  place("end-line").textContent = `${others} What was labelled is in ${facts.journal}; funnelling update learns from it.`;
  place("end-title").focus({ preventScroll: true });
}

function showState({ progress, changes, learning }) {
  place("progress").hidden = false;
  place("bar").max = progress.documents;
  place("bar").value = progress.labelled;
  const skipped = progress.skipped ? `, ${progress.skipped} skipped` : "";
  place("count").textContent = `${progress.labelled} of ${progress.documents} labelled${skipped}`;
  showChanges(changes);
  showLearning(learning);
}

function showChanges({ documents, changed, labels }) {
  const line = documents
    ? `Of the last ${documents} suggestions, ${changed || "none"} ${changed === 1 ? "was" : "were"} changed.`
    : "Nothing is labelled yet.";
  const rows = labels.map(({ label, added, removed }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, readable(picker.labels.get(label) ?? { id: label, name: label, names: {} })),
      [added, removed].map(count => make("td", { class: "number" }, String(count))),
    ),
  );
  const counts = rows.length ? table("By label", ["Label", "added", "taken away"], rows) : null;
  place("changes").replaceChildren(make("p", {}, line), ...(counts ? [counts] : []));
}

const number = value => value.toFixed(3).replace(/^0/, "");

function showLearning(learning) {
  const lines = [];
  if (learning.running) lines.push("The model is learning …");
  else if (learning.after) lines.push(`The model learns${learning.learned ? " again" : ""} after ${learning.until_next} more.`);
  else lines.push("The model does not learn meanwhile.");
  if (learning.learned) lines.push(`It has learned from ${learning.learned} labelled documents, and is saved as ${learning.model}.`);
  if (learning.problem) lines.push(`${learning.learned ? "The model was not replaced" : "No model was trained"}: ${learning.problem}`);
  if (learning.majority !== null) lines.push(`Majority baseline: ${number(learning.majority)}.`);
  const rows = learning.scores.map(({ measure, before, after }) =>
    make("tr", {}, make("th", { scope: "row" }, measure), [before, after].map(value => make("td", { class: "number" }, number(value)))),
  );
  const caption = `Measured on ${learning.evaluated_on.map(on => (on === "test" ? "test documents" : "documents held out")).join(" and ")}`;
  const scores = rows.length ? table(caption, ["Measure", "before", "now"], rows) : null;
  const points = learning.curve.map(({ documents, score }) =>
    make("tr", {}, make("th", { scope: "row" }, `${documents} documents`), make("td", { class: "number" }, number(score))),
  );
  const curve = points.length ? table("Measured on documents held out", ["Learned from", learning.measure], points) : null;
  place("learning").replaceChildren(...lines.map(line => make("p", {}, line)), ...[scores, curve].filter(Boolean));
  if (learning.learned > learned) {
    learned = learning.learned;
    say(`The model has learned from ${learned} documents.`);
    call("/v1/labels").then(fresh => {
      facts = fresh;
      useFacts();
      picker.draw();
    }, () => {});
  }
  clearTimeout(showLearning.timer);
  if (learning.running || !shown) showLearning.timer = setTimeout(look, LOOK);
}

/** See whether the model has learned, or whether somebody left a document. */
async function look() {
  if (shown) {
    const state = await ask("/v1/heartbeat", {}, true);
    if (state && !(state instanceof Refusal)) showState(state);
    else showLearning.timer = setTimeout(look, LOOK);
  } else {
    const answer = await ask("/v1/next", {}, true);
    if (answer?.document) show(answer);
    else if (answer && !(answer instanceof Refusal)) showState(answer);
    else showLearning.timer = setTimeout(look, LOOK);
  }
}

function writes(element) {
  return element.matches?.("textarea, select, input:not([type=checkbox]):not([type=radio])");
}

/** Let the document stay with somebody who does something. */
function showLife() {
  if (!shown || Date.now() - signed < SIGN_OF_LIFE) return;
  signed = Date.now();
  ask("/v1/heartbeat", { key: shown.key }, true);
}

function onkey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || place("work").hidden) {
    if (event.key === "Enter" && event.target === place("note")) {
      event.preventDefault();
      save();
    }
    return;
  }
  if (event.key === "Escape" && event.target === place("note")) place("title").focus();
  if (writes(event.target) || !place("use-keys").checked || event.repeat) return;
  if (event.key === "Enter" && event.target.matches?.("button, a, summary")) return;
  const actions = { Enter: save, s: skip, u: undo, n: openNote, "/": () => picker.field.focus() };
  if (Object.hasOwn(actions, event.key)) {
    event.preventDefault();
    actions[event.key]();
  } else if (picker.press(event.key)) event.preventDefault();
}

function openNote() {
  place("note-part").open = true;
  place("note").focus();
}

document.addEventListener("keydown", onkey);
const signs = ["keydown", "pointerdown", "touchmove", "wheel", "scroll", "input"];
for (const sign of signs) document.addEventListener(sign, showLife, { capture: true, passive: true });
place("decision").addEventListener("submit", event => {
  event.preventDefault();
  save();
});
place("skip").addEventListener("click", skip);
place("undo").addEventListener("click", undo);
place("undo-last").addEventListener("click", undo);
place("again").addEventListener("click", next);
place("language").addEventListener("change", correctLanguage);
place("note").addEventListener("change", async () => {
  const note = place("note").value;
  if (!shown || note === shown.note) return;
  shown.note = note;
  const answer = await ask("/v1/annotate", { key: shown.key, action: "note", note }, true);
  if (answer instanceof Refusal && answer.status !== 409) say(answer.message, true); // of one that others have, saving tells
});
place("use-keys").checked = remembered("funnelling-keys") !== "off";
place("use-keys").addEventListener("change", useKeys);
function useKeys() {
  keep("funnelling-keys", place("use-keys").checked ? "on" : "off");
  document.body.classList.toggle("without-keys", !place("use-keys").checked);
}
useKeys();
place("token-form").addEventListener("submit", event => {
  event.preventDefault();
  useToken(place("token").value.trim());
  begin();
});
place("who-form").addEventListener("submit", event => {
  event.preventDefault();
  annotator = place("who").value.trim();
  keep("funnelling-who", annotator);
  place("who-form").hidden = true;
  next();
});
begin();
