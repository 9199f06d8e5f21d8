// Calls of the service; a refusal becomes an error with the service's own sentence.

let token = "";

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function useToken(value) {
  token = value;
}

// Relative to the page, so that a proxy may serve all of it under a prefix.
export function address(path) {
  return new URL(path.slice(1), document.baseURI).href;
}

export async function call(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const request = { headers, cache: "no-store", credentials: "omit" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.method = "POST";
    request.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(address(path), request);
  } catch {
    throw new Refusal(0, "The service does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer.detail ?? `The service answered ${response.status}.`);
  return answer;
}
