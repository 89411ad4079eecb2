// How the page comes: at once, small, from here alone, and with a policy that keeps it so.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { everything, root } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { best } from "./measuring.mjs";

const it = house(() => ({ mcp: { servers: { everything: everything() } } }));

const source = join(root, "crates/openclaw-gateway/page");

/** The files of the page, as they are served. */
function files(folder = source) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** When browsers fetch the sign of a page is their own business. */
const ICON = "/page/icon.svg";

/** The paths of addresses, but for that. */
const pages = (addresses) => addresses.map((address) => new URL(address).pathname).filter((path) => path !== ICON);

const KB = 1_000;

test("everything together has less than 300 KB compressed", (context) => {
  const sizes = files().map((file) => readFileSync(file)).map((bytes) => [bytes.length, gzipSync(bytes).length]);
  const [plain, compressed] = [0, 1].map((which) => sizes.reduce((sum, each) => sum + each[which], 0));
  context.diagnostic(`${sizes.length} files, ${Math.round(plain / KB)} KB, ${Math.round(compressed / KB)} KB compressed`);
  assert(compressed < 300 * KB, String(compressed));
});

it.test("one round fetches everything: all of it is named by the document", async (visitor, page) => {
  await visitor.row("everything").waitFor();
  const named = new Set(readFileSync(join(source, "index.html"), "utf8").match(/(?<=(?:href|src)=")\/page\/[^"]+/g));
  const asked = pages(visitor.requests).filter((path) => path !== "/");
  const unnamed = asked.filter((path) => !named.has(path));
  assert.deepEqual(unnamed, [], "nothing is found out about later");
  assert.equal(new Set(asked).size, asked.length, "nothing is fetched twice");
  const entries = await page.evaluate(() => performance.getEntriesByType("resource").map((each) => [new URL(each.name).pathname, each.initiatorType, each.startTime]));
  for (const [path, initiator] of entries) {
    assert(["link", "script", "css", "other"].includes(initiator), `${path} was asked for by ${initiator}`);
  }
  // All are asked for by the time that the document is read: no module had to run for that.
  const interactive = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domInteractive);
  const late = entries.filter(([path, , start]) => start > interactive && path !== ICON);
  assert.deepEqual(late, [], `the document is read at ${interactive} ms`);
});

it.test("the first picture is there within 200 ms", async (visitor, page, context) => {
  const median = await best(200, async () => {
    const paints = [];
    for (let load = 0; load < 5; load += 1) {
      await page.reload();
      await visitor.row("everything").waitFor();
      const [paint] = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint").map((each) => each.startTime));
      paints.push(paint);
    }
    return paints.sort((one, other) => one - other)[2];
  });
  context.diagnostic(`first contentful paint: ${Math.round(median)} ms, the median of five loads`);
  assert(median < 200, `${median} ms`);
});

test("every answer forbids what the page does not need", async () => {
  for (const path of ["/", "/page/start.js", "/page/page.css"]) {
    const answer = await fetch(it.gateway.address + path);
    assert.equal(answer.status, 200, path);
    const policy = answer.headers.get("content-security-policy");
    assert(!/unsafe-inline|unsafe-eval|\*|https?:/.test(policy), policy);
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) {
      assert(policy.split(/;\s*/).includes(rule), `${rule} in ${policy}`);
    }
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  }
});

test("what a browser has already is not sent again, and its policy stays what it was", async () => {
  for (const path of ["/", "/page/start.js"]) {
    const whole = await fetch(it.gateway.address + path);
    await whole.arrayBuffer();
    const again = await fetch(it.gateway.address + path, { headers: { "if-none-match": whole.headers.get("etag") } });
    assert.equal(again.status, 304, path);
    // A browser takes the headers of this answer over to what it has.
    assert.equal(again.headers.get("content-security-policy"), whole.headers.get("content-security-policy"), path);
  }
});

it.test("a page that is loaded again works", async (visitor, page) => {
  await visitor.row("everything").waitFor();
  await page.reload();
  await visitor.row("everything").waitFor();
  await page.goto("about:blank");
  await page.goBack();
  await visitor.row("everything").waitFor();
});

it.test("the policy is in force: what is written into the page does not run", async (visitor, page) => {
  await visitor.row("everything").waitFor();
  const outcome = await page.evaluate(async () => {
    const told = new Promise((done) => document.addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective), { once: true }));
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return [await told, window.ran ?? false];
  });
  assert.match(outcome[0], /script-src/);
  assert.equal(outcome[1], false);
  const complaints = visitor.complaints.splice(0);
  assert(complaints.length > 0 && complaints.every((each) => /policy|Content Security Policy/.test(each)), String(complaints));
});

it.test("every view works, and asks nobody else", async (visitor, page) => {
  for (const view of ["Servers", "Tools", "Activity", "Chat", "Configuration"]) {
    await visitor.go(view);
  }
  const before = visitor.requests.length;
  await visitor.openTool("everything_echo");
  await page.getByRole("textbox", { name: /^message/ }).fill("hi");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".result").getByText(/^done in/).waitFor();
  assert.deepEqual(pages(visitor.requests.slice(before)), [], "everything else comes over the WebSocket");
});

it.test("a page in the background asks nothing", async (visitor, page) => {
  await visitor.row("everything").getByText("ready", { exact: true }).waitFor();
  const sent = [];
  const session = await visitor.context.newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.webSocketFrameSent", ({ response }) => sent.push(response.payloadData));
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await it.gateway.call("everything/echo", { message: "meanwhile" });
  const other = await it.visit({ view: "Activity" });
  await other.page.getByRole("row").filter({ hasText: "everything/echo" }).first().waitFor();
  await other.context.close();
  assert.deepEqual(sent, []);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await visitor.row("everything").getByRole("img", { name: /calls/ }).waitFor();
});
