// A conversation with an agent.

import { button, element, fill, identity, say } from "../parts/element.js";
import { reallyMeant } from "../parts/dialog.js";
import { busy, complain, told, trouble } from "../parts/notices.js";
import { foreign, plain } from "../foreign.js";
import { TAKEN_BACK } from "../connection.js";
import { clock, counted, size } from "../words.js";
import { correlation } from "./tool.js";
import { personSaid, transcript, Turn } from "./turn.js";

/** The session that an agent goes on with. */
const MAIN = "main";
/** The part of an address that stands for a session which has no name yet. */
const FRESH = "?new";
/** How many messages are shown at first, and with each request for more. */
const MESSAGES = 100;
/** How many bytes of files go with a message: more does not fit into one. */
const FILES = 11_000_000;
/** How long typing has to rest before suggestions are asked for. */
const REST = 120;

/** What somebody was writing when they went elsewhere, by session. @type {Map<string, string>} */
const drafts = new Map();

/**
 * A turn that is going on, also while one looks at something else.
 * @typedef {object} Going
 * @property {string | null} agent
 * @property {string | null} session nothing as long as it has no name
 * @property {string} text what it answers
 * @property {HTMLElement} said
 * @property {Turn} turn
 * @property {AbortController} attempt
 * @property {{ toEnd: () => void, growing: (change: () => void) => void, named: (key: string) => void, ended: () => void } | null} view
 *   where it is looked at
 */

/** @type {Set<Going>} */
const ongoing = new Set();

/**
 * A key without the agent that it belongs to, which stands before it or not.
 * @param {string} key
 */
function bare(key) {
  return key.replace(/^agent:[^:]*:/, "");
}

/**
 * A session in the words of a person.
 * @param {any} session
 */
function called(session) {
  const key = bare(session.key);
  // Keys that were made up have a moment and a number in them, which say nothing to anybody.
  const made = /^(\w+)-\d{10,}-[0-9a-f]{8,}$/.exec(key);
  return made ? `${clock(session.createdAt)} (${made[1]})` : key;
}

/** @param {import("../shell.js").Stage} stage */
export function showChat(stage) {
  const { place, state, left } = stage;
  const isFresh = stage.part === FRESH;
  /** The session; nothing for one that begins with the next message. @type {string | null} */
  let session = isFresh ? null : (stage.part ?? MAIN);
  const isThis = (/** @type {string | null} */ key) => key !== null && session !== null && bare(key) === bare(session);
  /** What somebody is writing belongs to the session as it is called now. */
  const draft = () => `${state.agent ?? ""}/${session === null ? FRESH : bare(session)}`;
  /** The turn that is going on here. @type {Going | null} */
  let going = [...ongoing].find((it) => it.agent === state.agent && isThis(it.session)) ?? null;
  /** @type {any[]} */
  let messages = [];
  let shownFrom = 0;
  /** A turn has begun or ended. @type {() => void} */
  let changed = () => {};
  const log = element("div", { class: "log", role: "log", "aria-label": "Conversation", tabindex: 0 });
  const sessions = element("div", { class: "sessions" });
  const title = element("p", { class: "quiet" });
  const deleting = button("Delete", (event) => remove(event), { class: "quiet", hidden: isFresh });
  fill(
    place,
    element("div", { class: "bar" }, element("h1", {}, "Chat"), title,
      button("New conversation", () => stage.go(`#/chat/${encodeURIComponent(FRESH)}`)),
      deleting),
    element("div", { class: "panes" }, sessions, element("div", { class: "talk" }, log, composer())),
  );
  say(title, isFresh ? "a new conversation" : "");
  left.addEventListener("abort", () => {
    if (going) {
      going.view = null;
    }
  });

  function toEnd() {
    log.scrollTop = log.scrollHeight;
  }

  /** Stays at the end if that is where one looks. @param {() => void} change */
  function growing(change) {
    const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 40;
    change();
    if (isAtEnd) {
      toEnd();
    }
  }

  const view = {
    toEnd,
    growing,
    named,
    ended: () => {
      going = null;
      changed();
    },
  };

  async function load() {
    if (session === null) {
      return;
    }
    try {
      const report = await state.connection.ask("session", { agent: state.agent, key: session }, { signal: left });
      messages = going ? before(report.messages, going) : report.messages;
      shownFrom = Math.max(0, messages.length - MESSAGES);
      draw();
      toEnd();
    } catch (failure) {
      const { code } = /** @type {{ code?: string }} */ (failure);
      // The one that an agent goes on with may not have begun; or it has, since that was asked.
      if (code === "unknown-session") {
        if (log.querySelector("article") === null) {
          messages = [];
          shownFrom = 0;
          draw();
        }
      } else if (!left.aborted) {
        log.prepend(trouble(failure));
      }
    }
  }

  function draw() {
    const earlier = button("Show earlier messages", () => {
      const until = shownFrom;
      shownFrom = Math.max(0, shownFrom - MESSAGES);
      const height = log.scrollHeight;
      // What was said since stands below, and stays.
      earlier.after(...transcript(messages.slice(shownFrom, until)));
      earlier.hidden = shownFrom === 0;
      log.scrollTop += log.scrollHeight - height;
    });
    fill(
      log,
      shownFrom > 0 ? earlier : null,
      transcript(messages.slice(shownFrom)),
      going ? [going.said, going.turn.element] : null,
      messages.length === 0 && !going ? element("p", { class: "quiet" }, "Nothing has been said yet.") : null,
    );
  }

  /**
   * @param {string} text
   * @param {{ name: string, mimeType: string, data: string }[]} files
   */
  async function send(text, files) {
    const turn = new Turn();
    const mine = /** @type {Going} */ ({ agent: state.agent, session, text, said: personSaid(text, files), turn, attempt: new AbortController(), view });
    const growing = (/** @type {() => void} */ change) => (mine.view ? mine.view.growing(change) : change());
    const named = (/** @type {string} */ key) => {
      mine.session ??= key;
      mine.view?.named(key);
    };
    going = mine;
    ongoing.add(mine);
    if (log.querySelector("article") === null) {
      fill(log);
    }
    log.append(mine.said, turn.element);
    toEnd();
    changed();
    try {
      const report = await state.connection.ask("reply", {
        agent: state.agent,
        session: session === null ? { fresh: "page" } : { key: session },
        message: text,
        attachments: files,
        approved: false,
        canAnswer: true,
        correlation: correlation(),
      }, {
        signal: mine.attempt.signal,
        event: (event) => growing(() => {
          if (event.type === "started") {
            named(event.sessionKey);
          }
          turn.hear(event);
        }),
        asked: (question) => {
          turn.asked(question);
          // Nothing goes on without an answer.
          mine.view?.toEnd();
        },
      });
      named(report.sessionKey);
      growing(() => turn.ended(report));
    } catch (failure) {
      const isStopped = /** @type {{ code?: string }} */ (failure).code === TAKEN_BACK;
      growing(() => (isStopped ? turn.stopped() : turn.failed(failure)));
    } finally {
      ongoing.delete(mine);
      mine.view?.ended();
      state.sessions.now();
    }
  }

  /** A new conversation has got its name. @param {string} key */
  function named(key) {
    if (session === null && key) {
      session = key;
      deleting.hidden = false;
      say(title, "");
      history.replaceState(null, "", `#/chat/${encodeURIComponent(key)}`);
      state.sessions.stale();
    }
  }

  function composer() {
    const id = identity("message");
    const field = element("textarea", { id, rows: 2, placeholder: "A message, or / for commands", "aria-label": "Message" });
    field.value = drafts.get(draft()) ?? "";
    const picker = element("input", { type: "file", multiple: true, hidden: true });
    const attached = element("ul", { class: "attached", "aria-label": "Files" });
    const suggestions = element("div", { class: "suggestions", "aria-label": "Commands", role: "group" });
    const submit = button("Send", () => {}, { type: "submit", class: "primary" });
    const stop = button("Stop", () => going?.attempt.abort(), { class: "danger", hidden: true });
    /** @type {{ name: string, mimeType: string, data: string }[]} */
    let files = [];

    function drawFiles() {
      fill(attached, files.map((file) => element("li", {},
        foreign(file.name, { most: 60 }), ` ${size((file.data.length * 3) / 4)} `,
        button("Remove", () => {
          files = files.filter((it) => it !== file);
          drawFiles();
        }, { class: "small", "aria-label": `Remove ${plain(file.name, 60)}` }))));
    }

    /** @param {Iterable<File>} added */
    async function attach(added) {
      for (const file of added) {
        const sum = files.reduce((all, it) => all + (it.data.length * 3) / 4, 0);
        if (sum + file.size > FILES) {
          complain({ message: `${file.name} is too large: files of one message have ${size(FILES)} together` });
          continue;
        }
        try {
          files.push({ name: file.name, mimeType: file.type || "application/octet-stream", data: await inBase64(file) });
        } catch {
          // A folder, for instance.
          complain({ message: `${file.name} can't be read` });
        }
        drawFiles();
      }
    }

    picker.addEventListener("change", () => {
      attach([...(picker.files ?? [])]);
      picker.value = "";
    });
    field.addEventListener("paste", (event) => {
      const pasted = [...(event.clipboardData?.files ?? [])];
      if (pasted.length > 0) {
        event.preventDefault();
        attach(pasted);
      }
    });
    const form = element("form", { class: "composer" }, suggestions, attached, field,
      element("div", { class: "actions" }, button("Attach", () => picker.click()), picker, stop, submit));
    form.addEventListener("dragover", (event) => event.preventDefault());
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      attach([...(event.dataTransfer?.files ?? [])]);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (going || (text === "" && files.length === 0)) {
        return;
      }
      if (state.connection.status !== "open") {
        // It stays where it is until somebody can take it.
        complain({ message: "the gateway can't be reached right now; the message was not sent" });
        return;
      }
      const sent = files;
      field.value = "";
      drafts.delete(draft());
      files = [];
      drawFiles();
      fill(suggestions);
      send(text, sent);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      } else if (event.key === "Escape") {
        fill(suggestions);
      }
    });
    let resting = 0;
    field.addEventListener("input", () => {
      drafts.set(draft(), field.value);
      clearTimeout(resting);
      resting = window.setTimeout(() => suggest(field, suggestions), REST);
    });
    changed = () => {
      // What is hidden can't keep the focus.
      const isFocused = [submit, stop].some((it) => it === document.activeElement);
      submit.hidden = going !== null;
      stop.hidden = going === null;
      if (isFocused) {
        (going ? stop : field).focus();
      }
    };
    changed();
    return form;
  }

  /**
   * Ways in which a command can go on.
   * @param {HTMLTextAreaElement} field
   * @param {HTMLElement} suggestions
   */
  async function suggest(field, suggestions) {
    const text = field.value;
    if (!text.startsWith("/") || text.includes("\n")) {
      fill(suggestions);
      return;
    }
    try {
      const report = await state.connection.ask("complete", { agent: state.agent, text }, { signal: left });
      if (field.value !== text) {
        return;
      }
      // Positions are counted in bytes.
      const kept = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, report.start));
      fill(suggestions, report.candidates.slice(0, 8).map((/** @type {any} */ it) => button(plain(it.text, 60), () => {
        field.value = `${kept}${it.text}${it.isWhole ? " " : ""}`;
        field.focus();
        field.dispatchEvent(new Event("input"));
      }, { class: "small", title: it.description ? plain(it.description, 200) : null })));
    } catch {
      fill(suggestions);
    }
  }

  /** @param {Event} event */
  async function remove(event) {
    const pressed = event.currentTarget;
    if (session !== null && (await reallyMeant("Delete the conversation?", "What was said in it is gone for good.", "Delete it"))) {
      await busy(/** @type {any} */ ({ currentTarget: pressed }), async () => {
        await state.connection.ask("delete_session", { agent: state.agent, key: session });
        told("the conversation is deleted");
        state.sessions.now();
        messages = [];
        stage.go(`#/chat/${encodeURIComponent(FRESH)}`);
      });
    }
  }

  state.sessions.look(left, (value) => {
    const known = value?.sessions ?? [];
    fill(sessions,
      element("h2", {}, "Conversations"),
      known.length === 0 ? element("p", { class: "quiet" }, "There are none yet.") : null,
      element("ul", {}, known.slice(0, 200).map((/** @type {any} */ it) => element("li", {},
        element("a", { href: `#/chat/${encodeURIComponent(it.key)}`, "aria-current": isThis(it.key) ? "true" : null },
          foreign(called(it), { most: 60, title: plain(it.key, 300) }),
          element("span", { class: "quiet small" }, `${counted(it.messages, "message")}, ${clock(it.updatedAt)}`))))));
  });
  // What was cut by a lost connection is looked at again.
  state.connection.addEventListener("status", () => {
    if (state.connection.status === "open" && !going) {
      load();
    }
  }, { signal: left });
  if (going) {
    going.view = view;
  }
  load();
}

/**
 * What was said before a turn that is going on.
 * @param {any[]} messages
 * @param {Going} going
 */
function before(messages, going) {
  const last = messages.findLastIndex((it) => it.role === "user");
  return last >= 0 && messages[last].text === going.text ? messages.slice(0, last) : messages;
}

/**
 * @param {Blob} file
 * @returns {Promise<string>}
 */
function inBase64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(String(reader.result).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => failed(reader.error));
    reader.readAsDataURL(file);
  });
}
