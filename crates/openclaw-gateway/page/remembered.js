// What the browser remembers: the token, and how the page looks.

const TOKEN = "openclaw.token";
const THEME = "openclaw.theme";
const AGENT = "openclaw.agent";

/**
 * Browsers can be told to remember nothing; then asking is an error.
 * @template T
 * @param {() => T} work
 * @returns {T | null}
 */
function tried(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

/**
 * The token that stands behind `#` in the address. It is taken off at once, so that it is neither seen nor kept in the
 * history.
 * @returns {string | null}
 */
export function tokenOfAddress() {
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith("token=")) {
    return null;
  }
  history.replaceState(null, "", location.pathname + location.search);
  const [token] = fragment.slice("token=".length).split("&");
  return tried(() => decodeURIComponent(token)) ?? token;
}

/** The token that was kept. */
export function keptToken() {
  return tried(() => sessionStorage.getItem(TOKEN)) ?? tried(() => localStorage.getItem(TOKEN));
}

/**
 * Keeps the token: for this tab, or until somebody logs out.
 * @param {string} token
 * @param {boolean} forLong
 */
export function keepToken(token, forLong) {
  tried(() => sessionStorage.setItem(TOKEN, token));
  if (forLong) {
    tried(() => localStorage.setItem(TOKEN, token));
  }
}

/**
 * Forgets the token; if one is named, only that.
 * @param {string} [refused]
 */
export function forgetToken(refused) {
  for (const storage of [() => sessionStorage, () => localStorage]) {
    tried(() => {
      if (refused === undefined || storage().getItem(TOKEN) === refused) {
        storage().removeItem(TOKEN);
      }
    });
  }
}

/** Which colours are wanted: `light`, `dark`, or whatever the machine says. */
export function theme() {
  return tried(() => localStorage.getItem(THEME)) ?? "auto";
}

/** @param {string} wanted */
export function keepTheme(wanted) {
  tried(() => localStorage.setItem(THEME, wanted));
}

/** The agent that was looked at last. */
export function keptAgent() {
  return tried(() => sessionStorage.getItem(AGENT));
}

/** @param {string} agent */
export function keepAgent(agent) {
  tried(() => sessionStorage.setItem(AGENT, agent));
}
