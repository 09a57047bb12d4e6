// Ask the server for JSON.

const GONE = "The app does not answer. Try again in a moment.";
const FAILED = "That did not work. Try again in a moment.";

/**
 * What the server answers. Throws an error whose message is a sentence to show, and that has the `status` of a refusal. `token` is that
 * of a person in a room, `body` is posted, `patience` is in ms, and `gone` is the sentence for no answer.
 */
export async function ask(address, { token, body, patience, gone = GONE } = {}) {
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(token && { Authorization: `Bearer ${token}` }) };
  const signal = patience ? AbortSignal.timeout(patience) : null;
  const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const answer = await fetch(address, { ...sent, headers, signal }).catch(() => Promise.reject(new Error(gone)));
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(told.error ?? FAILED), { status: answer.status });
  return told;
}
