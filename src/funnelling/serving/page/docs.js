// The interface for people, drawn from the OpenAPI document.

import { address, call } from "./api.js";
import { make, table } from "./dom.js";

const resolve = (api, schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema) ?? {};

function kind(api, schema) {
  const found = resolve(api, schema);
  if ("const" in found) return JSON.stringify(found.const);
  if (found.enum) return "label";
  const types = [found.type ?? "anything"].flat();
  return types.map(type => (type === "array" ? list(api, found) : type)).join(" or ");
}

function list(api, { items, prefixItems }) {
  if (prefixItems) return "pair";
  const of = kind(api, items);
  return of === "anything" ? "list" : `list of ${of}s`;
}

function limits(schema) {
  const told = schema.description ? [schema.description] : [];
  if (schema.maxLength) told.push(`at most ${schema.maxLength.toLocaleString("en")} characters`);
  if (schema.maxItems) told.push(`${schema.minItems ?? 0} to ${schema.maxItems}`);
  if (schema.type === "integer" && schema.maximum) told.push(`${schema.minimum} to ${schema.maximum}`);
  return told.map(part => part[0].toUpperCase() + part.slice(1).replace(/\.$/, "") + ".").join(" ");
}

function fields(api, schema, prefix = "") {
  const found = resolve(api, schema);
  return Object.entries(found.properties ?? {}).flatMap(([name, part]) => {
    const of = resolve(api, part);
    const optional = found.required?.includes(name) ? "" : " (optional)";
    const row = make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, prefix + name), optional),
      make("td", {}, kind(api, part)),
      make("td", {}, limits(of)),
    );
    const [inner, joint] = [of.type].flat().includes("array")
      ? [resolve(api, of.items), "[]."]
      : of.additionalProperties
        ? [resolve(api, of.additionalProperties), ".LABEL."]
        : [of, "."];
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

function operation(api, path, method, told) {
  const name = `${method.toUpperCase()} ${path}`;
  const body = told.requestBody?.content["application/json"];
  const answer = told.responses["200"].content["application/json"]?.schema;
  const title = make("h2", {}, make("span", { class: "method" }, method.toUpperCase()), make("code", {}, path));
  const statuses = Object.entries(told.responses).map(([status, response]) =>
    make("tr", {}, make("th", { scope: "row" }, status), make("td", {}, response.description)),
  );
  const statusTable = table(`Statuses of ${name}`, ["Status", "When"], statuses, null);
  const command = curl(method, path, body?.example, told.security?.length);
  return make(
    "article",
    { class: "operation" },
    title,
    make("p", {}, `${told.summary}. ${told.description ?? ""}`),
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
    for (const [method, told] of Object.entries(item)) place.append(operation(api, path, method, told));
} catch (problem) {
  place.append(make("p", { class: "problem" }, problem.message));
}
