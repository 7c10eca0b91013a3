// Requests to the server. Paths are relative: the address of the page has the token.
import { unpack } from "./binary.js";

export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function fetched(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, options);
  } catch {
    throw new Refusal("The server does not answer. Is labelfold still running?", 0);
  }
  if (!answer.ok) {
    const { error } = await answer.json().catch(() => ({ error: answer.statusText }));
    throw new Refusal(error, answer.status);
  }
  return answer;
}

export const get = async (path) => (await fetched(path)).json();
export const post = async (path, body = {}) =>
  (await fetched(path, { method: "POST", body: JSON.stringify(body) })).json();
export const getMap = async (path) => unpack(await (await fetched(path)).arrayBuffer());
export const getMask = async (path) => new Uint8Array(await (await fetched(path)).arrayBuffer());

// Calls `hear` with the state at once and whenever it changes, and `lose` while the server does not answer.
export function follow(hear, lose) {
  const source = new EventSource("api/changes");
  source.addEventListener("message", ({ data }) => hear(JSON.parse(data)));
  source.addEventListener("error", lose);
}
