// What happened: calls, restarts, reloads.

import assert from "node:assert/strict";

import { fake, scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { until } from "./waiting.mjs";

const it = house((home) => configuration(home));

function configuration(home) {
  return {
    tools: { deny: ["library/burn"] },
    mcp: {
      servers: {
        calculator: fake(),
        library: scripted(home, "library", {
          tools: ["read", "burn", "end"].map((name) => ({ name, description: `To ${name}`, inputSchema: { type: "object" } })),
          results: { end: { exit: true } },
        }),
      },
    },
  };
}

const row = (page, ...texts) => texts.reduce((found, text) => found.filter({ hasText: text }), page.getByRole("row"));

it.test("calls appear as they are made, with their outcome and how long they took", async (visitor, page) => {
  await visitor.go("Activity");
  await page.getByText(/^\d+ (entry|entries)$/).waitFor();
  await it.gateway.call("calculator/echo", { message: "hi" });
  await row(page, "calculator/echo", "ok", /\d+ ms/).waitFor();
  await it.gateway.call("calculator/fail");
  await row(page, "calculator/fail", "tool error").waitFor();
  await it.gateway.call("library/burn");
  await row(page, "library/burn", "denied").waitFor();
  const newest = page.getByRole("row").first();
  assert.match(await newest.innerText(), /library\/burn/, "the newest stands first");
  assert.match(await newest.innerText(), /\d\d:\d\d:\d\d/);
});

it.test("restarts and reloads stand between the calls", async (visitor, page) => {
  await visitor.go("Activity");
  await page.getByText(/^\d+ (entry|entries)$/).waitFor();
  await it.gateway.call("library/end");
  await row(page, "library was started again").waitFor();
  await row(page, "ready", "library").first().waitFor();
  const { mcp, ...rest } = configuration(it.gateway.home);
  it.gateway.write({ ...rest, mcp: { servers: { ...mcp.servers, third: fake("--only-tools", "echo") } } });
  await row(page, "reloaded", "added: third").waitFor();
  it.gateway.write("{ this is nothing");
  await row(page, "not reloaded", "the configuration can't be used").first().waitFor();
  it.gateway.write(configuration(it.gateway.home));
  await row(page, "reloaded", "removed: third").waitFor();
});

it.test("the filter finds words and kinds", async (visitor, page) => {
  await it.gateway.call("calculator/add", { a: 1, b: 2 });
  await visitor.go("Activity");
  await row(page, "calculator/add").first().waitFor();
  const filter = page.getByRole("searchbox", { name: "Filter the activity" });
  await filter.fill("calculator");
  await page.getByText(/^\d+ of \d+ entries$/).waitFor();
  for (const text of await page.getByRole("row").allInnerTexts()) {
    assert.match(text, /calculator/);
  }
  await filter.fill("");
  await page.getByLabel("Kind").selectOption("what went wrong");
  await row(page, "denied").first().waitFor();
  assert.equal(await row(page, "calculator/add").count(), 0);
  await page.getByLabel("Kind").selectOption("servers and configuration");
  await row(page, "ready").first().waitFor();
  assert.equal(await row(page, "calculator/add").count(), 0);
  await page.getByLabel("Kind").selectOption("calls");
  assert.equal(await row(page, "reloaded").count(), 0);
});

it.test("nothing moves while it is held, and all of it is there afterwards", async (visitor, page) => {
  await visitor.go("Activity");
  const summary = page.getByText(/^\d+ (entry|entries)$/);
  await summary.waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  const held = await summary.innerText();
  await it.gateway.call("calculator/echo", { message: "while it is held" });
  // Another page has seen it, so that this one has heard of it too.
  const other = await it.visit({ view: "Activity" });
  const known = other.page.getByText(/^\d+ (entry|entries)$/);
  await until("another page to know more", async () => (await known.innerText()) !== held);
  await other.context.close();
  assert.equal(await summary.innerText(), held);
  await page.getByRole("button", { name: "Go on" }).click();
  await until("the call to be there", async () => (await summary.innerText()) !== held);
});

it.test("what one has scrolled to stays where it is while more happens", async (visitor, page) => {
  for (let number = 0; number < 30; number += 1) {
    await it.gateway.call("calculator/add", { a: number, b: 1 });
  }
  await visitor.go("Activity");
  const list = page.getByRole("table", { name: "Activity" });
  await row(page, "calculator/add").first().waitFor();
  const top = () => list.evaluate((each) => {
    const frame = each.getBoundingClientRect();
    const first = [...each.querySelectorAll("[role=row]")].find((it) => it.getBoundingClientRect().top >= frame.top);
    return first.querySelector("time").dateTime;
  });
  await list.evaluate((each) => {
    each.scrollTop = 440;
  });
  await until("the list to be scrolled", async () => (await list.evaluate((each) => each.scrollTop)) === 440);
  const before = await top();
  await it.gateway.call("calculator/echo", { message: "more" });
  await until("the call to be there", async () => (await list.evaluate((each) => each.scrollTop)) > 440);
  assert.equal(await top(), before);
});

it.test("after a reload of the page everything is still there", async (visitor, page) => {
  await it.gateway.call("calculator/echo", { message: "before" });
  await visitor.go("Activity");
  await row(page, "calculator/echo").first().waitFor();
  await page.reload();
  await row(page, "calculator/echo").first().waitFor();
  await page.getByLabel("Kind").selectOption("servers and configuration");
  await row(page, "calculator", "ready").first().waitFor();
});

it.test("calls are there after a restart of the gateway as well: they are those of the audit log", async (visitor, page) => {
  await visitor.go("Activity");
  await page.getByRole("searchbox", { name: "Filter the activity" }).fill("library");
  await row(page, "library/burn", "denied").first().waitFor();
  await it.gateway.end();
  await page.getByText("not connected; trying again…").waitFor();
  assert(await row(page, "library/burn", "denied").first().isVisible(), "what is true is still shown");
  await it.gateway.run(it.gateway.port);
  await page.getByText(/^gateway \d/).waitFor();
  await row(page, "library/burn", "denied").first().waitFor();
  await it.gateway.call("library/read");
  await until("the newest to be the new call", async () => /library\/read/.test(await page.getByRole("row").first().innerText()));
});
