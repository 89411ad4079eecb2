// Numbers, times and states in words.

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds < 1) {
    return "< 1 ms";
  }
  if (milliseconds < 1_000) {
    return `${Math.round(milliseconds)} ms`;
  }
  if (milliseconds < 60_000) {
    return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
  }
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_000 && unit < units.length - 1) {
    amount /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/**
 * The time of day; with the day where it is another one.
 * @param {string} time as RFC 3339
 */
export function clock(time) {
  const moment = new Date(time);
  if (Number.isNaN(moment.getTime())) {
    return "";
  }
  const isToday = moment.toDateString() === new Date().toDateString();
  const hours = moment.toLocaleTimeString("en-GB");
  return isToday ? hours : `${moment.toLocaleDateString("en-CA")} ${hours}`;
}

/**
 * How far away a moment is, in either direction.
 * @param {string} time as RFC 3339
 * @param {number} [now]
 */
export function away(time, now = Date.now()) {
  const distance = new Date(time).getTime() - now;
  if (Number.isNaN(distance)) {
    return "";
  }
  return distance >= 0 ? `in ${duration(distance)}` : `${duration(-distance)} ago`;
}

/**
 * Until when a login is good.
 * @param {string} expires as RFC 3339
 * @param {boolean | null} isRenewable
 * @param {number} [now]
 */
export function expiry(expires, isRenewable, now = Date.now()) {
  const isOver = new Date(expires).getTime() < now;
  const how = isOver ? (isRenewable ? ", renewed when it is needed" : "") : isRenewable ? ", renewed by itself" : "";
  return `token ${isOver ? "expired" : "expires"} ${away(expires, now)}${how}`;
}

/** How servers are, in the order in which a person wants to know. */
export const STATES = /** @type {const} */ ({
  failed: { word: "failed", kind: "bad", order: 0 },
  "needs-auth": { word: "needs a login", kind: "warn", order: 1 },
  restarting: { word: "restarting", kind: "warn", order: 2 },
  connecting: { word: "connecting", kind: "busy", order: 3 },
  ready: { word: "ready", kind: "good", order: 4 },
  stopped: { word: "stopped", kind: "idle", order: 5 },
  disabled: { word: "switched off", kind: "idle", order: 6 },
});

/**
 * @param {string} state
 * @param {string} [auth] how it knows us: only some are logged in to
 */
export function stateOf(state, auth = "oauth") {
  if (state === "needs-auth" && auth !== "oauth") {
    return { ...STATES["needs-auth"], word: "does not let us in" };
  }
  return STATES[/** @type {keyof typeof STATES} */ (state)] ?? { word: state, kind: "idle", order: 9 };
}

/** How calls ended. */
const OUTCOMES = /** @type {Record<string, { word: string, kind: string }>} */ ({
  ok: { word: "ok", kind: "good" },
  "tool-error": { word: "tool error", kind: "warn" },
  "not-done": { word: "not done", kind: "bad" },
  unknown: { word: "unknown", kind: "bad" },
  denied: { word: "denied", kind: "warn" },
  rejected: { word: "rejected", kind: "warn" },
  "invalid-arguments": { word: "invalid arguments", kind: "warn" },
  cancelled: { word: "cancelled", kind: "idle" },
});

/** @param {string} outcome */
export function outcomeOf(outcome) {
  return OUTCOMES[outcome] ?? { word: outcome, kind: "idle" };
}

/** @param {string | null} transport */
export function transportOf(transport) {
  const words = /** @type {Record<string, string>} */ ({ stdio: "program", http: "HTTP", sse: "SSE" });
  return transport === null ? "unusable" : (words[transport] ?? transport);
}

/** @param {string} auth */
export function authOf(auth) {
  const words = /** @type {Record<string, string>} */ ({ none: "no login", "api-key": "key", oauth: "login (OAuth)" });
  return words[auth] ?? auth;
}
