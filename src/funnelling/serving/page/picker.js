// Labels to choose from: a list with one key each, and a search among all of them.

import { make, percent } from "./dom.js";
import { readable } from "./names.js";
import { find, plain } from "./search.js";

const KEYS = [..."123456789abcdefghijklmopqrtvwxyz"]; // s, u and n do other things
const SHOWN = 12; // labels, where there are more of them than keys
const MOST_MATCHES = 30;
let pickers = 0;

/**
 * A picker in a place of the page.
 *
 * With few labels each has its place and its key for good; of many the most probable ones are shown.
 * `say` gets what a screen reader is to say, `onchange` the label that was chosen or not, and `onfocus` the
 * label that somebody looks at. `extensible` lets labels be added that there are not.
 */
export class Picker {
  constructor(place, { exclusive, extensible = false, keys = true, say, onchange = () => {}, onfocus = () => {} }) {
    Object.assign(this, { exclusive, extensible, keys, say, onchange, onfocus });
    this.number = ++pickers;
    this.labels = new Map();
    this.scores = {};
    this.chosen = new Set();
    this.active = -1;
    this.matches = [];
    this.list = make("ul", { class: "choices" });
    this.options = make("ul", { class: "matches", id: `matches-${this.number}`, role: "listbox", "aria-label": "Labels found", hidden: true });
    this.field = make("input", {
      id: `search-${this.number}`,
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      "aria-expanded": "false",
      "aria-controls": this.options.id,
      "aria-autocomplete": "list",
      oninput: () => this.search(),
      onkeydown: event => this.onkey(event),
      onblur: () => this.close(),
    });
    const hint = keys ? make("kbd", { class: "of-key", "aria-hidden": "true" }, "/") : null;
    place.append(this.list, make("div", { class: "search" }, make("label", { for: this.field.id }, "Search all labels ", hint), this.field, this.options));
  }

  use(labels) {
    this.labels = new Map(labels.map(label => [label.id, label]));
    this.admit(this.chosen);
  }

  // Labels that documents have and nobody has told of.
  admit(ids) {
    for (const id of ids) if (!this.labels.has(id)) this.labels.set(id, { id, name: id, names: {}, description: "" });
  }

  show(scores, chosen) {
    this.scores = scores;
    this.chosen = new Set(chosen);
    this.admit(this.chosen);
    this.draw();
  }

  score(id) {
    return Object.hasOwn(this.scores, id) ? this.scores[id] : undefined;
  }

  ranked() {
    return [...this.labels.keys()].sort((a, b) => (this.score(b) ?? 0) - (this.score(a) ?? 0));
  }

  draw() {
    const focused = document.activeElement?.closest?.(".choice")?.dataset.label;
    if (this.labels.size <= KEYS.length) this.shown = [...this.labels.keys()];
    else {
      const ranked = this.ranked();
      const probable = ranked.filter(id => this.score(id) !== undefined); // none, where the model does not know the language
      const first = (probable.length ? probable : ranked).slice(0, SHOWN);
      this.shown = [...first, ...[...this.chosen].filter(id => !first.includes(id))];
    }
    this.list.replaceChildren(...this.shown.map((id, place) => this.row(id, KEYS[place])));
    if (focused !== undefined) [...this.list.querySelectorAll(".choice")].find(row => row.dataset.label === focused)?.firstElementChild.focus();
  }

  row(id, key) {
    const name = readable(this.labels.get(id));
    const box = make("input", {
      type: this.exclusive ? "radio" : "checkbox",
      name: this.exclusive ? `choice-${this.number}` : null,
      checked: this.chosen.has(id),
      onchange: event => this.set(id, event.target.checked),
      onfocus: () => this.onfocus(id),
    });
    const also = name === id ? null : make("span", { class: "also" }, ` ${id}`);
    const score = this.score(id);
    return make(
      "li",
      {},
      make(
        "label",
        { class: "choice", "data-label": id, onmouseenter: () => this.onfocus(id), title: this.labels.get(id).description || null },
        box,
        this.keys ? make("kbd", { "aria-hidden": "true" }, key ?? "") : null,
        make("span", { class: "name" }, name, also),
        make("span", { class: "number" }, score === undefined ? "" : percent(score)),
      ),
    );
  }

  set(id, on) {
    if (on && this.exclusive) this.chosen.clear();
    if (on) this.chosen.add(id);
    else this.chosen.delete(id);
    this.draw();
    this.onfocus(id);
    this.onchange(id, on);
    this.say(`${readable(this.labels.get(id))} ${on ? "chosen" : "not chosen"}.`);
  }

  toggle(id) {
    this.set(id, !this.chosen.has(id));
  }

  // Whether a key stands before a label, which is chosen then, or is not any more.
  press(key) {
    const id = this.shown?.[KEYS.indexOf(key)];
    if (id === undefined || !KEYS.includes(key)) return false;
    this.toggle(id);
    return true;
  }

  search() {
    const query = this.field.value.trim();
    this.matches = query ? find([...this.labels.values()], query, MOST_MATCHES) : [];
    const known = this.matches.some(({ by }) => plain(by) === plain(query));
    const joined = this.extensible && query.includes("|");
    if (query && this.extensible && !known && !joined) this.matches.push({ label: { id: query, name: query, names: {} }, by: query, fresh: true });
    this.active = this.matches.length ? 0 : -1;
    this.drawMatches();
    if (joined && !this.matches.length) this.say("A new label has no “|”, which joins labels: add its parts one by one.", true);
    else if (query) this.say(this.matches.length === 1 ? "One label." : `${this.matches.length} labels.`);
  }

  drawMatches() {
    const items = this.matches.map(({ label, by, fresh }, place) => {
      const name = readable(label);
      const also = [...new Set([by, label.id])].filter(other => other !== name);
      return make(
        "li",
        {
          id: `match-${this.number}-${place}`,
          role: "option",
          "aria-selected": String(place === this.active),
          onmousedown: event => event.preventDefault(), // the field keeps the focus
          onclick: () => this.choose(place),
        },
        fresh ? `New label: ${name}` : name,
        this.chosen.has(label.id) ? " ✓" : null,
        also.length ? make("span", { class: "also" }, ` ${also.join(", ")}`) : null,
      );
    });
    this.options.replaceChildren(...items);
    this.options.hidden = !items.length;
    this.field.setAttribute("aria-expanded", String(Boolean(items.length)));
    if (items.length) {
      this.field.setAttribute("aria-activedescendant", `match-${this.number}-${this.active}`);
      this.options.scrollIntoView({ block: "nearest" });
      items[this.active].scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  choose(place) {
    const { label } = this.matches[place];
    if (!this.labels.has(label.id)) this.labels.set(label.id, { description: "", ...label });
    this.close();
    this.field.value = "";
    this.toggle(label.id);
  }

  close() {
    this.matches = [];
    this.active = -1;
    this.drawMatches();
  }

  onkey(event) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && this.matches.length) {
      this.active = (this.active + move + this.matches.length) % this.matches.length;
      this.drawMatches();
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.active >= 0) this.choose(this.active);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.field.value = "";
      this.close();
      this.field.blur();
    }
    event.stopPropagation();
  }
}
