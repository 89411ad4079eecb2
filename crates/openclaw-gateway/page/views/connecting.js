// A new server: by its address, by its command, or from another client.

import { button, element, fill } from "../parts/element.js";
import { openDialog } from "../parts/dialog.js";
import { choiceField, readAll, textField } from "../parts/fields.js";
import { busy, told, trouble } from "../parts/notices.js";
import { tabbed } from "../parts/tabs.js";
import { foreign, plain } from "../foreign.js";
import { counted } from "../words.js";
import { importing } from "./importing.js";
import { openSigningIn } from "./signing-in.js";

/** @param {import("../shell.js").Stage} stage */
export function openConnecting(stage) {
  openDialog("Add a server", (body, close, closed) => {
    body.append(
      tabbed("Ways to add a server", [
        { title: "By address", show: () => byAddress(stage, close) },
        { title: "By command", show: () => byCommand(stage, close) },
        { title: "From another client", show: () => importing(stage, close, closed) },
      ]),
    );
  });
}

/**
 * @param {import("../shell.js").Stage} stage
 * @param {() => void} close
 */
function byAddress(stage, close) {
  const address = textField({ name: "url", title: "Address", required: true }, { format: "uri", placeholder: "https://…/mcp", first: true });
  const name = textField({ name: "name", title: "Name", description: "How tools and commands call it: letters, digits, - and _", required: true }, { format: "line" });
  const transport = choiceField({ name: "transport", title: "Transport", description: "Found out if it is left open" }, [
    { value: "streamable-http", title: "Streamable HTTP" },
    { value: "sse", title: "HTTP with server-sent events (older servers)" },
  ]);
  const key = textField({ name: "apiKey", title: "Key", description: "Sent as a bearer token, if the server wants one. A login needs none." }, { secret: true });
  suggest(address.control, name.control, (text) => {
    try {
      return new URL(text).hostname.split(".").filter((it) => !["www", "mcp", "api", "com", "org", "net", "io", "dev", "app", "ai"].includes(it)).join("-");
    } catch {
      return "";
    }
  });
  const fields = new Map([["url", address], ["name", name], ["transport", transport], ["apiKey", key]]);
  return adding(stage, close, fields, () => null, (read) => {
    const { name: _, ...entry } = read;
    return entry;
  });
}

/**
 * @param {import("../shell.js").Stage} stage
 * @param {() => void} close
 */
function byCommand(stage, close) {
  const command = textField({ name: "command", title: "Command", description: "A program with its arguments, as one types them. No shell reads it.", required: true }, { placeholder: "npx -y @modelcontextprotocol/server-everything" });
  const name = textField({ name: "name", title: "Name", description: "How tools and commands call it: letters, digits, - and _", required: true }, { format: "line" });
  const variables = textField({ name: "env", title: "Variables", description: "One NAME=VALUE on each line. Credentials among them go to the keyring where there is one." });
  const will = element("p", { class: "quiet", role: "status" });
  command.control.addEventListener("input", () => {
    const found = words(command.control.value);
    fill(will, found === null ? "A quote is not closed." : found.length === 0 ? "" : ["Starts ", element("code", {}, foreign(found[0])), found.length > 1 ? [" with ", ...found.slice(1).map((it) => element("code", { class: "word" }, foreign(it)))] : ""].flat());
  });
  suggest(command.control, name.control, (text) => {
    const found = words(text) ?? [];
    const telling = found.slice(1).find((it) => !it.startsWith("-") && /[a-z]/i.test(it)) ?? found[0] ?? "";
    const last = telling.split(/[/\\]/).filter((it) => it !== "").pop() ?? "";
    return last.replace(/@[\d.^~]*$/, "").replace(/\.(m?js|py|exe)$/, "").replace(/^(mcp-server-|server-|mcp-)/, "").replace(/(-mcp-server|-mcp|-server)$/, "");
  });
  const fields = new Map([["command", command], ["name", name], ["env", variables]]);
  return adding(stage, close, fields, () => will, (read) => {
    const found = words(String(read.command));
    if (found === null || found.length === 0) {
      throw new Error("a quote in the command is not closed");
    }
    const env = String(read.env ?? "").split("\n").filter((it) => it.trim() !== "").map((line) => {
      const at = line.indexOf("=");
      if (at < 1) {
        throw new Error("a variable is NAME=VALUE, one on each line");
      }
      return [line.slice(0, at).trim(), line.slice(at + 1)];
    });
    return { command: found[0], args: found.slice(1), ...(env.length > 0 ? { env: Object.fromEntries(env) } : {}) };
  });
}

/**
 * Fills in a name as long as nobody has entered one.
 * @param {HTMLInputElement | HTMLTextAreaElement} from
 * @param {HTMLInputElement | HTMLTextAreaElement} to
 * @param {(text: string) => string} name
 */
function suggest(from, to, name) {
  let isOwn = false;
  to.addEventListener("input", () => {
    isOwn = to.value !== "";
  });
  from.addEventListener("input", () => {
    if (!isOwn) {
      to.value = name(from.value.trim()).toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40);
    }
  });
}

/**
 * The words of a command line: quotes keep white space, a backslash the next character. Nothing if a quote is open.
 * @param {string} text
 * @returns {string[] | null}
 */
export function words(text) {
  const found = /** @type {string[]} */ ([]);
  let word = /** @type {string | null} */ (null);
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\" && quote !== "'" && at + 1 < text.length) {
      at += 1;
      word = (word ?? "") + text[at];
    } else if (quote !== "") {
      if (character === quote) {
        quote = "";
      } else {
        word += character;
      }
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== null) {
        found.push(word);
      }
      word = null;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "") {
    return null;
  }
  return word === null ? found : [...found, word];
}

/**
 * @param {import("../shell.js").Stage} stage
 * @param {() => void} close
 * @param {Map<string, import("../parts/fields.js").Field>} fields
 * @param {() => HTMLElement | null} about what is shown above the button
 * @param {(read: Record<string, unknown>) => object} entry the definition
 */
function adding(stage, close, fields, about, entry) {
  const { state } = stage;
  const problem = element("div", { role: "alert" });
  /** @type {HTMLElement | null} */
  let again = null;
  /**
   * @param {Event} event
   * @param {boolean} check whether it is tried first
   */
  const add = (event, check) => {
    fill(problem);
    const read = readAll(fields);
    if (!read) {
      return;
    }
    const name = String(read.name).trim();
    busy(event, async () => {
      try {
        const added = await state.connection.ask("add_server", {
          name, entry: entry(read), check, replace: false, keyring: true,
        });
        const isLookedAt = problem.isConnected;
        close();
        state.serversChanged();
        told([`${plain(name, 80)} is added`, ...added.stored.map((/** @type {any} */ it) => `${plain(it.field, 60)} is in the keyring`), ...added.warnings].join("; "));
        if (added.server?.state === "needs-auth") {
          openSigningIn(stage, name);
        } else if (added.server) {
          told(`it offers ${counted(added.server.tools, "tool")}`);
        }
        if (isLookedAt) {
          stage.go(`#/servers/${encodeURIComponent(name)}`);
        }
      } catch (failure) {
        if (!problem.isConnected) {
          throw failure;
        }
        fill(problem, trouble(failure), check ? again : null);
      }
    });
  };
  const submit = button("Try it and add it", () => {}, { type: "submit", class: "primary" });
  again = button("Add it without trying", (event) => add(event, false));
  const form = element("form", { class: "stacked" }, [...fields.values()].map((it) => it.element), about(), problem,
    element("div", { class: "actions" }, submit));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add(/** @type {any} */ ({ currentTarget: submit }), true);
  });
  return form;
}
