// A gateway of the real program, with a home directory of its own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { end } from "./processes.mjs";
import { within } from "./waiting.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../../..");

const program = process.env.OPENCLAW_BINARY ?? join(root, "target/debug/openclaw");
const partners = process.env.OPENCLAW_PARTNERS ?? join(root, "target/partners");

/** A gateway. */
export class Gateway {
  /** @param {(home: string) => object} configuration */
  static async start(configuration) {
    const gateway = new Gateway();
    gateway.home = mkdtempSync(join(tmpdir(), "openclaw-page-"));
    mkdirSync(join(gateway.home, ".openclaw"), { mode: 0o700 });
    gateway.write(configuration(gateway.home));
    await gateway.run();
    return gateway;
  }

  /** Writes the configuration. */
  write(configuration) {
    const text = typeof configuration === "string" ? configuration : JSON.stringify(configuration, null, 2);
    writeFileSync(this.configuration, text);
  }

  /** The file of the configuration. */
  get configuration() {
    return join(this.home, ".openclaw/openclaw.json");
  }

  /** Runs it, on a certain port where others have to find it again. */
  async run(port = 0) {
    // Programs of the test come first.
    const environment = { PATH: `${join(this.home, "bin")}:${process.env.PATH}`, HOME: this.home, LANG: "C.UTF-8", OLLAMA_HOST: "off" };
    this.process = spawn(program, ["gateway", "run", "--port", String(port)], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    this.said = "";
    this.process.stderr.on("data", (data) => {
      this.said += data;
    });
    let heard = "";
    const ready = new Promise((done, failed) => {
      this.process.stdout.on("data", (data) => {
        this.said += data;
        heard += data;
        const found = /ready at (http:\S+)/.exec(heard);
        if (found) {
          done(found[1]);
        }
      });
      this.process.on("error", failed);
      this.process.on("exit", (code) => failed(new Error(`the gateway ended with ${code}: ${this.said}`)));
    });
    try {
      this.address = await within(ready, "the gateway to be ready");
    } catch (failure) {
      await this.end("SIGKILL");
      throw failure;
    }
    this.port = Number(new URL(this.address).port);
    const file = join(this.home, ".openclaw/gateway.token");
    this.token = existsSync(file) ? readFileSync(file, "utf8").trim() : null;
  }

  /** Asks for something over HTTP, as a program would. */
  async post(path, body = {}) {
    const answer = await fetch(this.address + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.json();
  }

  /** Has a tool called. */
  async call(tool, given = {}) {
    return this.post("/api/mcp/call", { tool, arguments: given });
  }

  /** Changes what a scripted server says. */
  rescript(name, what) {
    writeFileSync(join(this.home, `${name}.json`), JSON.stringify(what));
  }

  /** Has another token from the next start on. */
  changeToken(token) {
    const file = join(this.home, ".openclaw/gateway.token");
    writeFileSync(file, token);
    chmodSync(file, 0o600);
  }

  /** Ends it, as a person would; nothing that it started is left. */
  async end(signal = "SIGTERM") {
    await end(this.process, signal);
  }

  /** Ends it for good, and looks at what it wrote: the token is nowhere. */
  async finish() {
    await this.end();
    const log = join(this.home, ".openclaw/logs/openclaw.log");
    const written = this.said + (existsSync(log) ? readFileSync(log, "utf8") : "");
    rmSync(this.home, { recursive: true, force: true });
    assert(this.token === null || !written.includes(this.token), "the token is in the log");
  }
}

/** A server whose words are up to the test, and can be changed while it runs; see `scripted-server.mjs`. */
export function scripted(home, name, what) {
  const file = join(home, `${name}.json`);
  writeFileSync(file, JSON.stringify(what));
  return { command: process.execPath, args: [join(here, "scripted-server.mjs"), file] };
}

/** A program of the test kit. */
export function testkit(name) {
  return join(root, "target/debug", name);
}

/** The fake server, with these flags. */
export function fake(...flags) {
  return { command: testkit("fake-mcp-server"), args: ["stdio", ...flags] };
}

/** A real server, which has something of everything. */
export function everything() {
  const modules = join(partners, "node_modules");
  return {
    command: join(modules, ".bin/node"),
    args: [join(modules, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
  };
}
