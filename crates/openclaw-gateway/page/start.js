// Where the page begins: colours, the token, the connection.

import { Connection } from "./connection.js";
import { element } from "./parts/element.js";
import { forgetToken, keepToken, keptToken, theme, tokenOfAddress } from "./remembered.js";
import { Shell } from "./shell.js";
import { State } from "./state.js";
import { showLogin } from "./views/login.js";

const place = /** @type {HTMLElement} */ (document.getElementById("page"));

document.documentElement.dataset.theme = theme();

/** @type {Connection | null} */
let connection = null;
/** What is shown of it. @type {Shell | null} */
let shell = null;

/**
 * @param {string | null} token
 * @param {boolean} wasEntered whether a person has just entered it
 */
function connect(token, wasEntered) {
  connection?.close();
  shell?.close();
  shell = null;
  const made = new Connection(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/ws`, token);
  connection = made;
  made.addEventListener("status", () => {
    if (made.status === "open" && !shell) {
      // Where anybody comes in, there is nothing to log out of.
      shell = new Shell(place, new State(made), token === null ? null : logOut);
    } else if (made.status === "lost" && !shell) {
      const text = "The gateway can't be reached right now. This page comes back by itself.";
      place.replaceChildren(element("main", { class: "alone" }, element("h1", {}, "OpenClaw"), element("p", { role: "status" }, text)));
    } else if (made.status === "refused") {
      shell?.close();
      shell = null;
      made.close();
      // One that was refused is of no use to the next page either; whoever has to wait was not even looked at.
      if (token !== null && made.refusal?.code === "unauthorized") {
        forgetToken(token);
      }
      const isNew = token === null && !wasEntered;
      showLogin(place, isNew ? null : made.refusal, enter);
    }
  });
}

/**
 * @param {string} token
 * @param {boolean} forLong
 */
function enter(token, forLong) {
  keepToken(token, forLong);
  connect(token, true);
}

function logOut() {
  forgetToken();
  location.hash = "";
  location.reload();
}

/** A link with a token may be opened in a page that is there already. */
addEventListener("hashchange", () => {
  const token = tokenOfAddress();
  if (token !== null) {
    enter(token, false);
  }
});

/** Whether the gateway lets in anybody: asked without a token, which is no wrong one. */
async function isOpen() {
  try {
    const answer = await fetch("/api/status", { headers: { accept: "application/json" } });
    return answer.ok;
  } catch {
    // It is not there; the connection says so, and tries again.
    return true;
  }
}

const given = tokenOfAddress();
if (given !== null) {
  enter(given, false);
} else {
  const kept = keptToken();
  if (kept !== null || (await isOpen())) {
    connect(kept, false);
  } else {
    showLogin(place, null, enter);
  }
}
