// A real browser, and what every page must keep to.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";

import { Gateway, root } from "./gateway.mjs";
import { SOON } from "./waiting.mjs";

const require = createRequire(join(root, "target/browser/"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browserProgram = process.env.OPENCLAW_BROWSER ?? "/usr/bin/chromium";
/** With this, the page is what lies in the source, and not what was built into the program. */
const isFromSource = process.env.OPENCLAW_TEST_PAGE_FROM_SOURCE !== undefined;
const source = join(root, "crates/openclaw-gateway/page");
const failures = join(root, "target/browser/failed");

/** A browser. No name but this machine's leads anywhere, as without the internet. */
export async function launch() {
  return chromium.launch({
    executablePath: browserProgram,
    args: [
      "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-quic",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    ],
  });
}

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" };

/**
 * A gateway and a browser for all tests of a file.
 * @param {(home: string) => object} configuration
 */
export function house(configuration) {
  const made = {
    /** @type {Gateway} */
    gateway: null,
    browser: null,
    /** Somebody who looks at the page. */
    visit: (options) => Visitor.arrive(made.browser, made.gateway, options),
    /**
     * A test with somebody who looks at the page, which has kept to everything at its end.
     * @param {string} name
     * @param {(visitor: Visitor, page: any, context: any) => Promise<void>} work
     * @param {object} [options] of the visitor
     */
    test: (name, work, options) =>
      test(name, async (context) => {
        const visitor = await made.visit(options);
        try {
          await work(visitor, visitor.page, context);
        } catch (failure) {
          failure.message += await visitor.recollect(name);
          throw failure;
        } finally {
          await visitor.context.close();
        }
        assert.deepEqual(visitor.complaints, []);
      }),
  };
  before(async () => {
    const starting = [
      Gateway.start(configuration).then((gateway) => {
        made.gateway = gateway;
      }),
      launch().then((browser) => {
        made.browser = browser;
      }),
    ];
    // Whichever does not start, the other one is ended afterwards.
    await Promise.allSettled(starting);
    await Promise.all(starting);
  });
  after(async () => {
    await made.browser?.close();
    await made.gateway?.finish();
  });
  return made;
}

/**
 * A page in a browser of its own. Whatever it must never do is noted, and looked at when it is closed: errors, alarms of
 * the content policy, requests to anywhere else, the token in an address.
 */
export class Visitor {
  /** @type {string[]} */
  complaints = [];
  /** @type {string[]} */
  requests = [];

  static async arrive(browser, gateway, options = {}) {
    const visitor = new Visitor();
    visitor.gateway = gateway;
    visitor.context = await browser.newContext({ viewport: { width: 1200, height: 800 }, reducedMotion: "reduce", ...options.context });
    visitor.context.setDefaultTimeout(SOON);
    await visitor.#prepare();
    visitor.page = await visitor.context.newPage();
    visitor.watch(visitor.page);
    const fragment = options.fragment ?? (gateway.token === null ? "" : `#token=${gateway.token}`);
    await visitor.page.goto(`${gateway.address}/${fragment}`);
    if (options.view) {
      await visitor.go(options.view);
    }
    return visitor;
  }

  async #prepare() {
    await this.context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    if (isFromSource) {
      // A page that did not come over the network counts as one of elsewhere, which may not reach this machine.
      await this.context.grantPermissions(["local-network-access"]);
      await this.context.route(/^http:\/\/127\.0\.0\.1:\d+\/(page\/.*)?$/, async (route) => {
        const path = new URL(route.request().url()).pathname;
        const file = join(source, path === "/" ? "index.html" : path.slice("/page/".length));
        try {
          const answer = await route.fetch();
          await route.fulfill({ response: answer, status: 200, contentType: TYPES[extname(file)], body: readFileSync(file) });
        } catch {
          // The page has gone, or the gateway.
          await route.abort().catch(() => {});
        }
      });
    }
  }

  /** Notes what a page does. */
  watch(page) {
    const { gateway } = this;
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.stack ?? error}`));
    page.on("console", (message) => {
      // A browser reports every answer that is no success, also where that is what was asked for.
      const isExpected = /status of 401|WebSocket connection to|ERR_CONNECTION_REFUSED/.test(message.text());
      if (message.type() === "error" && !isExpected) {
        this.complaints.push(`console: ${message.text()}`);
      }
    });
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("request", (request) => {
      const address = request.url();
      this.requests.push(address);
      if (!address.startsWith(`${gateway.address}/`) && !address.startsWith("data:") && !address.startsWith("blob:")) {
        this.complaints.push(`request to ${address}`);
      }
      if (gateway.token !== null && address.includes(gateway.token)) {
        this.complaints.push("the token is in an address");
      }
    });
  }

  /** Another page of the same browser. */
  async another(fragment = "") {
    const page = await this.context.newPage();
    this.watch(page);
    await page.goto(`${this.gateway.address}/${fragment}`);
    return page;
  }

  /** Goes to a view. */
  async go(view) {
    // The view that was there before has headings and fields as well.
    const moved = this.page.evaluate((path) => location.hash === path || new Promise((done) => addEventListener("hashchange", () => done(true), { once: true })), `#/${view.toLowerCase()}`);
    await this.page.getByRole("navigation").getByRole("link", { name: view }).click();
    await moved;
    await this.page.getByRole("heading", { level: 1, name: view, exact: true }).waitFor();
  }

  /** Goes to the page of a server. */
  async goToServer(name) {
    await this.go("Servers");
    await this.page.getByRole("list", { name: "Servers" }).getByRole("link", { name, exact: true }).click();
    await this.page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  }

  /** Opens a tool by the name that the model calls it. */
  async openTool(name) {
    await this.go("Tools");
    await this.page.getByRole("searchbox", { name: "Search tools" }).fill(name);
    await this.tools.filter({ hasText: name }).first().click();
    await this.page.getByText("The model calls it").waitFor();
  }

  /** The tools in the list, as far as they are drawn. */
  get tools() {
    return this.page.getByRole("listbox", { name: "Tools" }).getByRole("option");
  }

  /** A server in the list. */
  row(name) {
    return this.page.getByRole("list", { name: "Servers" }).getByRole("listitem").filter({ has: this.page.getByRole("link", { name, exact: true }) });
  }

  /** What the page says once, at its corner. */
  get notices() {
    return this.page.getByRole("status", { name: "Messages" });
  }

  /** What axe-core finds that is serious. */
  async checkAccessibility(where) {
    const found = await this.page.evaluate(async (rules) => {
      // The policy of the page forbids scripts in it; what the driver evaluates is none of the page's.
      if (!("axe" in window)) {
        (0, eval)(rules);
      }
      const results = await window.axe.run(document, { resultTypes: ["violations"] });
      return results.violations
        .filter((it) => it.impact === "serious" || it.impact === "critical")
        .map((it) => `${it.id}: ${it.nodes.map((node) => `${node.html.slice(0, 200)} ${node.failureSummary}`).join("; ")}`);
    }, axe);
    assert.deepEqual(found, [], where);
  }

  /** What there is to know about a page whose test failed. */
  async recollect(name) {
    const file = join(failures, `${name.replaceAll(/\W+/g, "-")}.png`);
    try {
      mkdirSync(failures, { recursive: true });
      await this.page.screenshot({ path: file, timeout: 5_000 });
    } catch (failure) {
      return `\n(no picture of it: ${failure.message})`;
    }
    return `\npicture: ${file}\ncomplaints: ${JSON.stringify(this.complaints)}`;
  }
}
