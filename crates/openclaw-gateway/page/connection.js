// The WebSocket: questions, their answers and events, and coming back when it is lost.

/** Why something was not done. */
export class Failure extends Error {
  /** @param {{ code?: string, message: string, hint?: string, server?: string }} told */
  constructor(told) {
    super(told.message);
    this.code = told.code ?? "failed";
    this.hint = told.hint ?? null;
    this.server = told.server ?? null;
  }
}

/** The code of a failure whose question was not answered because the gateway is not there. */
export const LOST = "connection-lost";
/** The code of a failure of a question that was taken back. */
export const TAKEN_BACK = "taken-back";

const FIRST_WAIT = 400;
const LONGEST_WAIT = 10_000;
/** Why somebody is not let in who has to bring another credential. */
const CREDENTIAL = new Set(["unauthorized", "too-many-attempts"]);
/** How long the gateway may take to let somebody in. */
const PATIENCE = 10_000;

/**
 * @typedef {object} Listening
 * @property {AbortSignal} [signal] takes the question back
 * @property {(event: any) => void} [event] hears what happens meanwhile
 * @property {(question: PersonQuestion) => void} [asked] is asked what only a person can say
 *
 * @typedef {object} PersonQuestion
 * @property {any} [approve] whether a tool may run
 * @property {any} [answer] what a server wants to know
 * @property {(said: object) => void} reply says it
 * @property {AbortSignal} withdrawn tells when nobody waits for the answer any longer
 *
 * @typedef {object} Asked
 * @property {(report: any) => void} done
 * @property {(failure: Failure) => void} failed
 * @property {Listening} listening
 * @property {() => void} takeBack hears of the signal until it is over
 * @property {Map<number, AbortController>} questions
 *
 * @typedef {"connecting" | "open" | "lost" | "refused" | "closed"} Status
 */

/** A gateway at the other end of a WebSocket. */
export class Connection extends EventTarget {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, Asked>} */
  #asked = new Map();
  #numbered = 0;
  #wait = FIRST_WAIT;
  /** @type {number | undefined} */
  #timer;
  #token;
  #address;
  /** @type {Status} */
  status = "connecting";
  /** What the gateway said of itself. @type {{ version: string } | null} */
  welcome = null;
  /** Why it did not let us in. @type {{ code: string, message: string, hint?: string } | null} */
  refusal = null;

  /**
   * @param {string} address
   * @param {string | null} token
   */
  constructor(address, token) {
    super();
    this.#address = address;
    this.#token = token;
    // Whoever looks at the page, or has a network again, does not want to wait for the next try.
    this.hurry = () => {
      if (this.status === "lost" && !document.hidden) {
        this.#open();
      }
    };
    document.addEventListener("visibilitychange", this.hurry);
    addEventListener("online", this.hurry);
    this.#open();
  }

  /** Ends it for good. */
  close() {
    document.removeEventListener("visibilitychange", this.hurry);
    removeEventListener("online", this.hurry);
    clearTimeout(this.#timer);
    this.#become("closed");
    this.#drop();
  }

  /**
   * Asks something.
   * @param {string} question
   * @param {object} [query]
   * @param {Listening} [listening]
   * @returns {Promise<any>}
   */
  ask(question, query = {}, listening = {}) {
    return new Promise((done, failed) => {
      const { signal } = listening;
      if (this.status !== "open") {
        failed(new Failure({ code: LOST, message: "the gateway can't be reached right now" }));
        return;
      }
      if (signal?.aborted) {
        failed(takenBack());
        return;
      }
      this.#numbered += 1;
      const id = this.#numbered;
      const takeBack = () => {
        const asked = this.#taken(id);
        if (asked) {
          this.#send({ type: "cancel", id });
          asked.failed(takenBack());
        }
      };
      this.#asked.set(id, { done, failed, listening, takeBack, questions: new Map() });
      this.#send({ type: "ask", id, question, with: query });
      signal?.addEventListener("abort", takeBack);
    });
  }

  #open() {
    clearTimeout(this.#timer);
    this.#drop();
    this.#become("connecting");
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    const tooLate = setTimeout(() => socket.close(), PATIENCE);
    // An earlier socket may still say something; only the present one counts.
    const ours = () => this.#socket === socket;
    socket.addEventListener("open", () => {
      if (ours()) {
        socket.send(JSON.stringify({ type: "auth", token: this.#token ?? "" }));
      }
    });
    socket.addEventListener("message", (event) => {
      if (ours()) {
        this.#hear(event.data, () => clearTimeout(tooLate));
      }
    });
    socket.addEventListener("close", () => {
      clearTimeout(tooLate);
      if (ours()) {
        this.#lost();
      }
    });
  }

  /** Forgets the socket, and fails what was asked over it. */
  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    for (const id of [...this.#asked.keys()]) {
      this.#taken(id)?.failed(
        new Failure({ code: LOST, message: "the connection to the gateway was lost before the answer came" }),
      );
    }
  }

  #lost() {
    if (this.status === "refused" || this.status === "closed") {
      return;
    }
    this.#drop();
    this.#become("lost");
    // Apart from each other, so that a gateway that starts anew is not met by all pages at once.
    const wait = this.#wait * (0.5 + Math.random());
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    this.#timer = window.setTimeout(() => this.#open(), wait);
  }

  /**
   * @param {string} text
   * @param {() => void} settle called when the gateway has made up its mind
   */
  #hear(text, settle) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    const asked = this.#asked.get(message.id);
    switch (message.type) {
      case "welcome":
        settle();
        this.#wait = FIRST_WAIT;
        this.welcome = message;
        this.#become("open");
        break;
      case "refused":
        settle();
        this.refusal = message.error ?? { code: "unauthorized", message: "the gateway does not let this page in" };
        // Anything else, such as a gateway with no place left, passes.
        if (CREDENTIAL.has(this.refusal?.code ?? "")) {
          this.#become("refused");
        }
        break;
      case "event":
        asked?.listening.event?.(message.event);
        break;
      case "question":
        if (asked) {
          this.#question(message, asked);
        }
        break;
      case "withdrawn":
        asked?.questions.get(message.question)?.abort();
        break;
      case "done":
        this.#taken(message.id)?.done(message.report);
        break;
      case "failed":
      case "error":
        this.#taken(message.id)?.failed(new Failure(message.failure ?? { message: "the gateway did not say why" }));
        break;
      default:
      // A newer gateway may say more.
    }
  }

  /**
   * @param {any} message
   * @param {Asked} asked
   */
  #question(message, asked) {
    const withdrawal = new AbortController();
    asked.questions.set(message.question, withdrawal);
    asked.listening.asked?.({
      approve: message.approve,
      answer: message.answer,
      withdrawn: withdrawal.signal,
      reply: (said) => {
        if (asked.questions.delete(message.question)) {
          this.#send({ type: "answer", id: message.id, question: message.question, ...said });
        }
      },
    });
  }

  /**
   * Takes a question off the list; nobody waits for persons in its course any longer.
   * @param {number} id
   */
  #taken(id) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    // A signal may outlive thousands of questions.
    asked?.listening.signal?.removeEventListener("abort", asked.takeBack);
    for (const question of asked?.questions.values() ?? []) {
      question.abort();
    }
    return asked;
  }

  /** @param {object} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify(message));
    }
  }

  /** @param {Status} status */
  #become(status) {
    if (this.status !== status) {
      this.status = status;
      this.dispatchEvent(new Event("status"));
    }
  }
}

function takenBack() {
  return new Failure({ code: TAKEN_BACK, message: "it was taken back" });
}
