// Elements without a line of HTML in a string: nothing a user writes can become markup.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== undefined && child !== null));
  return element;
}

export function hidden(text) {
  return make("span", { class: "hidden" }, text);
}

// The kind of the columns after the first is their class.
export function table(caption, header, rows, kind = "number") {
  const head = header.map((text, i) => make("th", { scope: "col", class: i ? kind : null }, text));
  return make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows));
}

export function percent(probability) {
  if (probability > 0 && probability < 0.005) return "< 1 %";
  if (probability < 1 && probability >= 0.995) return "> 99 %";
  return `${Math.round(100 * probability)} %`;
}

export function signed(number) {
  const digits = Math.abs(number) < 0.995 ? 2 : 1;
  const shown = Math.abs(number).toFixed(digits);
  if (Number(shown) === 0) return shown;
  return (number < 0 ? "−" : "+") + shown;
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

export function languageName(code) {
  try {
    const name = names.of(code.replaceAll("_", "-"));
    return name === code ? code : `${name} (${code})`;
  } catch {
    return code;
  }
}
