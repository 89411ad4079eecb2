// Who comes in, and where the token is kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Gateway } from "./gateway.mjs";
import { house, Visitor } from "./harness.mjs";
import { until } from "./waiting.mjs";

const it = house(() => ({ mcp: { servers: {} } }));

const field = (page) => page.getByLabel("Token or password");
const servers = (page) => page.getByRole("heading", { level: 1, name: "Servers" });

async function logIn(page, token, forLong = false) {
  await field(page).fill(token);
  if (forLong) {
    await page.getByLabel("Keep it in this browser").check();
  }
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Every address that the browser would show to somebody who goes back. */
async function history(page) {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send("Page.getNavigationHistory");
  return entries.flatMap((entry) => [entry.url, entry.title]);
}

async function assertIsNowhere(page, token) {
  const seen = await page.evaluate(() => ({
    markup: document.documentElement.outerHTML,
    title: document.title,
    values: [...document.querySelectorAll("input, textarea")].map((each) => each.value),
  }));
  assert(!JSON.stringify(seen).includes(token), "the token is in the page");
  assert(!page.url().includes(token), "the token is in the address");
}

it.test("a link with the token lets in, and the token is gone from the address", async (visitor, page) => {
  await servers(page).waitFor();
  await visitor.go("Tools");
  await visitor.go("Servers");
  await assertIsNowhere(page, it.gateway.token);
  assert(!(await history(page)).some((entry) => entry.includes(it.gateway.token)), "the token is in the history");
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert(!kept.includes(it.gateway.token), "nobody asked to keep it");
});

it.test("the token can be typed, and is kept for the tab alone", async (visitor, page) => {
  await logIn(page, ` ${it.gateway.token}\n`);
  await servers(page).waitFor();
  await assertIsNowhere(page, it.gateway.token);
  await page.reload();
  await servers(page).waitFor();
  const other = await visitor.another();
  await field(other).waitFor();
}, { fragment: "" });

it.test("the token is kept in this browser on request, until somebody logs out", async (visitor, page) => {
  await logIn(page, it.gateway.token, true);
  await servers(page).waitFor();
  const other = await visitor.another();
  await servers(other).waitFor();
  await other.getByRole("button", { name: "Log out" }).click();
  await field(other).waitFor();
  const third = await visitor.another();
  await field(third).waitFor();
  const kept = await third.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert(!kept.includes(it.gateway.token));
}, { fragment: "" });

it.test("a wrong token is told at the field, and another one can be tried", async (visitor, page) => {
  await logIn(page, "a-wrong-one-that-is-long-enough");
  await page.getByRole("alert").filter({ hasText: "the credential is wrong" }).waitFor();
  assert.equal(await field(page).getAttribute("aria-invalid"), "true");
  assert.equal(await field(page).inputValue(), "");
  const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert(!kept.includes("a-wrong-one"), "a refused token is of no use to anybody");
  await logIn(page, it.gateway.token);
  await servers(page).waitFor();
}, { fragment: "" });

it.test("a link with a wrong token asks for the right one", async (visitor, page) => {
  await page.getByRole("alert").filter({ hasText: "the credential is wrong" }).waitFor();
  assert(!page.url().includes("wrong"));
}, { fragment: "#token=wrong%2Dand-long-enough-for-anybody" });

it.test("a link with a token works in a page that is open already", async (visitor, page) => {
  await field(page).waitFor();
  await page.evaluate((token) => {
    location.hash = `token=${token}`;
  }, it.gateway.token);
  await servers(page).waitFor();
  await assertIsNowhere(page, it.gateway.token);
  // A second one takes the place of the first, and leaves nothing of it that listens.
  await page.evaluate((token) => {
    location.hash = `token=${token}`;
  }, it.gateway.token);
  await page.getByText(/^gateway \d/).waitFor();
  await visitor.go("Tools");
  assert.equal(await page.getByRole("main").count(), 1);
}, { fragment: "" });

it.test("a token that was changed is asked for anew, and what was typed is still there", async (visitor, page) => {
  await visitor.go("Chat");
  await page.getByLabel("Message", { exact: true }).fill("half a thought");
  await visitor.go("Servers");
  await page.getByRole("button", { name: "Add a server" }).click();
  await page.getByRole("dialog").waitFor();
  const before = it.gateway.token;
  await it.gateway.end();
  it.gateway.changeToken("another-token-that-is-long-enough-to-be-one");
  await it.gateway.run(it.gateway.port);
  await page.getByRole("alert").filter({ hasText: "the credential is wrong" }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0, "nothing stands before the field");
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert(!kept.includes(before));
  await logIn(page, it.gateway.token);
  await visitor.go("Chat");
  assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "half a thought");
});

it.test("the token comes as the first message and in no address", async (visitor, page) => {
  await servers(page).waitFor();
  const sockets = [];
  const sent = [];
  page.on("websocket", (socket) => {
    sockets.push(socket.url());
    socket.on("framesent", ({ payload }) => sent.push(String(payload)));
  });
  await page.reload();
  await servers(page).waitFor();
  assert.equal(sockets.length, 1, "one WebSocket");
  assert(!sockets[0].includes(it.gateway.token));
  assert.deepEqual(JSON.parse(sent[0]), { type: "auth", token: it.gateway.token });
  assert(!sent.slice(1).some((each) => each.includes(it.gateway.token)));
});

test("nobody is asked for a token where there is none, and nobody can log out", async (context) => {
  const gateway = await Gateway.start(() => ({ gateway: { auth: { mode: "none" } }, mcp: { servers: {} } }));
  context.after(() => gateway.finish());
  const visitor = await Visitor.arrive(it.browser, gateway, { fragment: "" });
  await servers(visitor.page).waitFor();
  await visitor.page.getByText(/^gateway \d/).waitFor();
  assert.equal(await visitor.page.getByRole("button", { name: "Log out" }).count(), 0);
  await visitor.context.close();
  assert.deepEqual(visitor.complaints, []);
});

it.test("a gateway that can't be reached is said so, and comes back by itself", async (visitor, page) => {
  await servers(page).waitFor();
  await it.gateway.end();
  await page.getByText("not connected; trying again…").waitFor();
  await it.gateway.run(it.gateway.port);
  await page.getByText(/^gateway \d/).waitFor();
  await until("one socket to be left", async () => (await page.getByText("not connected").count()) === 0);
});
