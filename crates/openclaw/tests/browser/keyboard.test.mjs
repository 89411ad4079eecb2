// Everything by keyboard alone.

import assert from "node:assert/strict";

import { fake, scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { until } from "./waiting.mjs";

const it = house((home) => ({
  mcp: {
    servers: {
      calculator: fake("--only-tools", "echo,add,sleep"),
      library: scripted(home, "library", { count: 60 }),
    },
  },
}));

/** What has the focus, in words. */
const focused = (page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent;
  });

/** Goes on with Tab until something has the focus. */
async function tabTo(page, name, key = "Tab") {
  const seen = [];
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press(key);
    const now = await focused(page);
    if (name instanceof RegExp ? name.test(now) : now === name) {
      return;
    }
    seen.push(now.slice(0, 40));
  }
  assert.fail(`${name} is not reached, only ${JSON.stringify(seen)}`);
}

it.test("the first thing leads past everything to the content", async (visitor, page) => {
  await visitor.row("library").waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the content");
  const seen = await page.locator(".skip").boundingBox();
  assert(seen.y >= 0, "it can be seen once it has the focus");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Search servers");
});

it.test("every view is reached, and has the focus then", async (visitor, page) => {
  await visitor.row("library").waitFor();
  for (const view of ["Tools", "Activity", "Chat", "Configuration", "Servers"]) {
    await tabTo(page, new RegExp(`${view}$`), view === "Servers" ? "Shift+Tab" : view === "Tools" ? "Tab" : "Shift+Tab");
    await page.keyboard.press("Enter");
    await until(`the heading of ${view} to have the focus`, async () => (await page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.textContent}`)) === `H1 ${view}`);
    assert.equal(await page.title(), `${view} · OpenClaw`);
  }
});

it.test("a slash goes to the search, unless one is typing", async (visitor, page) => {
  for (const [view, search] of [["Servers", "Search servers"], ["Tools", "Search tools"], ["Activity", "Filter the activity"]]) {
    await visitor.go(view);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("/");
    assert.equal(await focused(page), search);
    await page.keyboard.press("/");
    assert.equal(await page.getByRole("searchbox").inputValue(), "/");
    await page.getByRole("searchbox").fill("");
  }
});

it.test("a tool is found, read, filled in, run and read again", async (visitor, page) => {
  await visitor.go("Tools");
  await visitor.tools.first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("calculator echo");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(page), "Tools");
  await page.keyboard.press("ArrowDown");
  const active = await page.getByRole("listbox", { name: "Tools" }).getAttribute("aria-activedescendant");
  assert.match(await page.locator(`#${active}`).innerText(), /echo/);
  await page.keyboard.press("Enter");
  await page.getByText("The model calls it").waitFor();
  await tabTo(page, /^message/);
  await page.keyboard.type("by hand");
  await tabTo(page, "Run");
  await page.keyboard.press("Enter");
  await page.locator(".result").getByText(/^done in/).waitFor();
  await tabTo(page, "What came back");
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(page), "As the model reads it");
  await page.keyboard.press("ArrowRight");
  await page.getByLabel("Raw result").filter({ hasText: '"by hand"' }).waitFor();
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(page), "What came back");
});

it.test("a long list is walked with the keys of lists", async (visitor, page) => {
  await visitor.go("Tools");
  await page.getByRole("searchbox", { name: "Search tools" }).fill("library");
  await visitor.tools.first().waitFor();
  const list = page.getByRole("listbox", { name: "Tools" });
  await list.focus();
  const at = async () => page.locator(`#${await list.getAttribute("aria-activedescendant")}`);
  await page.keyboard.press("End");
  assert.match(await (await at()).innerText(), /tool_0059/);
  assert.equal(await (await at()).getAttribute("aria-posinset"), "60");
  await page.keyboard.press("Home");
  assert.match(await (await at()).innerText(), /tool_0000/);
  await page.keyboard.press("PageDown");
  const box = await (await at()).boundingBox();
  const frame = await list.boundingBox();
  assert(box.y >= frame.y - 1 && box.y + box.height <= frame.y + frame.height + 1, "it is on the screen");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByText("The model calls it").waitFor();
});

it.test("a running call is stopped, and the focus stays where one can go on", async (visitor, page) => {
  await visitor.openTool("sleep");
  await page.getByRole("textbox", { name: /^ms/ }).fill("60000");
  await tabTo(page, "Run");
  await page.keyboard.press("Enter");
  await tabTo(page, "Stop");
  await page.keyboard.press("Enter");
  await page.getByText("It was stopped.").waitFor();
  await until("the focus to be on Run", async () => (await focused(page)) === "Run");
});

it.test("a dialog keeps the focus, closes with Escape and gives it back", async (visitor, page) => {
  await visitor.row("library").waitFor();
  await tabTo(page, "Add a server");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Add a server" }).waitFor();
  assert.match(await focused(page), /^Address/, "one can type at once");
  for (let step = 0; step < 20; step += 1) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null);
    assert(where, "the focus is in the dialog, or in the browser itself");
  }
  await tabTo(page, "By address");
  await page.keyboard.press("ArrowRight");
  await page.getByLabel(/^Command/).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await focused(page), "Add a server");
});

it.test("the question before a removal is answered by keyboard", async (visitor, page) => {
  await visitor.goToServer("library");
  await page.getByRole("button", { name: "Remove", exact: true }).waitFor();
  await tabTo(page, "Remove");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  assert.equal(await focused(page), "Cancel");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await focused(page), "Remove");
});

it.test("pressing a button that changes with the state does not lose the place", async (visitor, page) => {
  await visitor.row("calculator").getByText("ready", { exact: true }).waitFor();
  await tabTo(page, "Disconnect calculator");
  await page.keyboard.press("Enter");
  await until("the focus to be on what helps now", async () => (await focused(page)) === "Connect calculator");
  await page.keyboard.press("Enter");
  await until("the focus to be back", async () => (await focused(page)) === "Disconnect calculator");
});

it.test("changes are told to screen readers once, and politely", async (visitor, page) => {
  await visitor.row("calculator").waitFor();
  const live = await page.evaluate(() => [...document.querySelectorAll("[role=status], [role=alert], [aria-live], [role=log]")].map((each) => `${each.getAttribute("role")} ${each.getAttribute("aria-live") ?? ""} ${each.className}`));
  assert(live.some((each) => each.startsWith("status polite notices")));
  assert(!live.some((each) => each.includes("assertive")));
  // What did not change is not written anew, and so not read out again.
  await page.evaluate(() => {
    window.changes = 0;
    new MutationObserver((found) => {
      window.changes += found.length;
    }).observe(document.querySelector(".top .status"), { childList: true, subtree: true, characterData: true });
  });
  await it.gateway.call("calculator/echo", { message: "hi" });
  await visitor.row("calculator").getByRole("img").waitFor();
  assert.equal(await page.evaluate(() => window.changes), 0);
});
