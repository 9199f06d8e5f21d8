// What the labels of a text should have been.

import { call, Refusal } from "./api.js";
import { hidden, make } from "./dom.js";
import { labelsWithNames, nameOf } from "./names.js";
import { Picker } from "./picker.js";

/** A form below the labels of a text, closed until somebody opens it. */
export function feedback(number, text, row, model, say) {
  const labels = make("fieldset", {}, make("legend", {}, "What should they be?"));
  const note = make("textarea", { id: `feedback-note-${number}`, rows: 2, maxlength: 10000, dir: "auto" });
  const outcome = make("p", { class: "note" });
  const picker = new Picker(labels, { exclusive: model.single_label, keys: false, say, onchange: tell });
  picker.use(labelsWithNames());
  picker.show(row.probabilities, row.labels.map(String));
  const send = make("button", { type: "submit", class: "small" }, "Send");
  const form = make(
    "form",
    { class: "feedback", onsubmit: submit },
    labels,
    outcome,
    make("label", { for: note.id }, "Note"),
    note,
    make("div", { class: "actions" }, send),
  );
  const whole = make("details", {}, make("summary", {}, "These labels are wrong", hidden(` (text ${number})`)), form);

  function tell() {
    const chosen = [...picker.chosen].map(nameOf);
    const none = model.single_label ? "No label is chosen. Choose one." : "No label is chosen: that the text should have none will be written down.";
    outcome.textContent = chosen.length ? `To be written down: ${chosen.join(", ")}.` : none;
    return outcome.textContent;
  }

  async function submit(event) {
    event.preventDefault();
    if (model.single_label && !picker.chosen.size) return say(tell(), true);
    send.disabled = true;
    const corrected = { text, language: row.language, labels: [...picker.chosen], note: note.value };
    try {
      await call("/v1/feedback", { documents: [corrected] });
      whole.replaceChildren(make("summary", {}, "Thank you: it is written down."));
      whole.open = false;
      const names = [...picker.chosen].map(nameOf).join(", ") || "no label";
      say(`What the labels of text ${number} should be is written down: ${names}.`);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      send.disabled = false;
      say(refusal.message, true);
    }
  }
  tell();
  return whole;
}
