// A text with its words marked by what they added to a label's score.

import { make, signed } from "./dom.js";

const SHADES = 4;

/** The text in pieces; the places of its passages count code points. */
export function markedPieces(text, passages) {
  const letters = Array.from(text);
  const largest = passages.reduce((most, [, , amount]) => Math.max(most, Math.abs(amount)), 0);
  const pieces = [];
  let end = 0;
  for (const [start, stop, amount] of passages) {
    pieces.push(letters.slice(end, start).join(""));
    pieces.push(word(letters.slice(start, stop).join(""), amount, Math.round((SHADES * Math.abs(amount)) / largest)));
    end = stop;
  }
  return [...pieces, letters.slice(end).join("")];
}

/** How to read the marks. */
export function markLegend(label = "the label") {
  const speaks = (kind, name) => make("mark", { class: `${kind} mark-3` }, name);
  return [
    speaks("for", "underlined"),
    ` words speak for ${label}, `,
    speaks("against", "dashed"),
    " ones against it; the stronger, the fuller the colour.",
  ];
}

function word(text, amount, level) {
  return level ? make("mark", { class: `${amount > 0 ? "for" : "against"} mark-${level}`, title: signed(amount) }, text) : text;
}
