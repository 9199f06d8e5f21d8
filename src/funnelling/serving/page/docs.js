// The interface for people, drawn from the OpenAPI document.

import { address, call } from "./api.js";
import { make, table } from "./dom.js";

const resolve = (api, schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema) ?? {};

// A value that may be of several types, null among them, has a schema for each.
const choices = schema => schema.anyOf ?? [schema];

// What stands between backquotes is code.
const prose = text => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

function kind(api, schema) {
  if (schema.$ref?.endsWith("/Label")) return "label";
  const resolved = resolve(api, schema);
  if (resolved.anyOf) return resolved.anyOf.map(choice => kind(api, choice)).join(" or ");
  if ("const" in resolved) return JSON.stringify(resolved.const);
  if (resolved.enum) return resolved.enum.map(value => JSON.stringify(value)).join(" or ");
  return resolved.type === "array" ? list(api, resolved) : (resolved.type ?? "anything");
}

function list(api, { items, prefixItems }) {
  if (prefixItems) return prefixItems.length > 2 ? "triple" : "pair";
  const of = kind(api, items);
  if (of === "anything") return "list";
  return `list of ${of.startsWith('"') ? of : `${of}s`}`;
}

function limits({ type, maxLength, minItems, maxItems, minimum, maximum }) {
  if (maxLength) return [`At most ${maxLength.toLocaleString("en")} characters.`];
  if (maxItems) return [`${minItems ?? 0} to ${maxItems}.`];
  return type === "integer" && maximum < Number.MAX_SAFE_INTEGER ? [`${minimum} to ${maximum.toLocaleString("en")}.`] : [];
}

function fields(api, schema, prefix = "") {
  const { properties = {}, required = [] } = resolve(api, schema);
  const ordered = Object.entries(properties).sort(([one], [other]) => required.includes(other) - required.includes(one));
  return ordered.flatMap(([name, property]) => {
    const { description, ...value } = resolve(api, property);
    const meaning = [...(description ? [description] : []), ...choices(value).flatMap(limits)];
    const row = make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, prefix + name), required.includes(name) ? "" : " (optional)"),
      make("td", {}, kind(api, property)),
      make("td", {}, prose(meaning.join(" "))),
    );
    const [inner, joint] = value.items
      ? [resolve(api, value.items), "[]."]
      : value.additionalProperties
        ? [resolve(api, value.additionalProperties), ".LABEL."]
        : [value, "."];
    return inner.properties ? [row, ...fields(api, inner, prefix + name + joint)] : [row];
  });
}

function fieldTable(api, caption, schema) {
  const drawn = table(caption, ["Field", "Type", "Meaning"], fields(api, schema), null);
  return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": caption }, drawn);
}

function curl(method, path, example, secured) {
  const lines = [`curl ${address(path)}`];
  if (secured) lines.push('-H "Authorization: Bearer $FUNNELLING_TOKEN"');
  if (method === "post") lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`);
  return lines.join(" \\\n  ");
}

function operation(api, path, method, details) {
  const name = `${method.toUpperCase()} ${path}`;
  const body = details.requestBody?.content["application/json"];
  const answer = details.responses["200"].content["application/json"]?.schema;
  const title = make("h2", {}, make("span", { class: "method" }, method.toUpperCase()), make("code", {}, path));
  const statuses = Object.entries(details.responses).map(([status, response]) =>
    make("tr", {}, make("th", { scope: "row" }, status), make("td", {}, response.description)),
  );
  const statusTable = table(`Statuses of ${name}`, ["Status", "When"], statuses, null);
  const command = curl(method, path, body?.example, details.security?.length);
  return make(
    "article",
    { class: "operation" },
    title,
    make("p", {}, prose(`${details.summary}. ${details.description ?? ""}`)),
    make("pre", { tabindex: 0, role: "region", "aria-label": `Command for ${name}` }, make("code", {}, command)),
    body ? fieldTable(api, `Body of ${name}`, body.schema) : null,
    answer ? fieldTable(api, `Answer of ${name}`, answer) : null,
    make("details", {}, make("summary", {}, "Statuses"), statusTable),
  );
}

const place = document.getElementById("operations");
try {
  const api = await call("/openapi.json");
  document.getElementById("description").textContent = api.info.description;
  for (const [path, item] of Object.entries(api.paths))
    for (const [method, details] of Object.entries(item)) place.append(operation(api, path, method, details));
} catch (refusal) {
  place.append(make("p", { class: "problem" }, refusal.message));
}
