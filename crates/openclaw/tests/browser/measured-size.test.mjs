// A hundred servers with five thousand tools, without a stutter.

import assert from "node:assert/strict";

import { fake } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { best, interactions, longestFrame, most } from "./measuring.mjs";

const SERVERS = 100;
const EACH = 50;
/** How long a person may wait for the picture that follows what they did. */
const NOTICEABLE = 100;

const it = house(() => ({
  mcp: {
    servers: Object.fromEntries(Array.from({ length: SERVERS }, (_, number) => [
      `server-${String(number).padStart(3, "0")}`,
      fake("--only-tools", "none", "--tools", String(EACH)),
    ])),
  },
}));

const all = (page) => page.getByText(`${SERVERS} servers, ${SERVERS} ready`);
const total = (page) => page.getByText("5,000 tools", { exact: true });

/** Types something and takes it back, key by key; how long nine of ten keys take. */
async function typing(page, search, words, found) {
  const durations = await interactions(page, async () => {
    await search.pressSequentially(words, { delay: 30 });
    await found.waitFor();
    for (let key = 0; key < words.length; key += 1) {
      await page.keyboard.press("Backspace");
    }
  });
  return most(durations);
}

/** Goes from view to view; how long nine of ten take until the picture that follows. */
async function going(page) {
  const durations = await page.evaluate(async () => {
    const measured = [];
    for (const view of ["servers", "activity", "tools", "chat", "configuration", "tools", "servers", "activity", "servers", "tools"]) {
      const began = performance.now();
      const moved = new Promise((done) => addEventListener("hashchange", done, { once: true }));
      document.querySelector(`nav a[href="#/${view}"]`).click();
      await moved;
      // The next picture is done when the task behind it runs.
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      measured.push(Math.round(performance.now() - began));
    }
    return measured;
  });
  return most(durations);
}

/** Turns the wheel; the longest time between two pictures. */
async function scrolling(page, step) {
  return longestFrame(page, async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      await page.mouse.wheel(0, step);
    }
  });
}

/** Tells a figure, which is one that nobody notices. */
async function told(context, what, measure) {
  const figure = await best(NOTICEABLE, measure);
  context.diagnostic(`${what}: ${figure} ms until the next picture`);
  assert(figure < NOTICEABLE, `${what}: ${figure} ms`);
}

it.test("a hundred servers are searched and scrolled without a stutter", async (visitor, page, context) => {
  await all(page).waitFor({ timeout: 60_000 });
  const search = page.getByRole("searchbox", { name: "Search servers" });
  await told(context, "searching servers", () => typing(page, search, "server-07", page.getByText(/^10 of 100 servers/)));
  await all(page).waitFor();
  await page.mouse.move(700, 500);
  await told(context, "scrolling servers", () => scrolling(page, 600));
});

it.test("five thousand tools are searched, scrolled and opened without a stutter", async (visitor, page, context) => {
  await visitor.go("Tools");
  await total(page).waitFor();
  const search = page.getByRole("searchbox", { name: "Search tools" });
  await told(context, "searching tools", () => typing(page, search, "server-042 generated_17", page.getByText("1 of 5,000 tools")));
  await total(page).waitFor();
  await told(context, "opening tools", async () => most(await interactions(page, async () => {
    for (const number of [0, 3, 1, 4, 2]) {
      await visitor.tools.nth(number).click();
      await page.getByText("The model calls it").waitFor();
    }
  })));
  const list = page.getByRole("listbox", { name: "Tools" });
  await told(context, "walking through the list", async () => most(await interactions(page, async () => {
    await list.focus();
    for (const key of ["End", "Home", "PageDown", "PageDown", "ArrowDown", "End", "Home"]) {
      await page.keyboard.press(key);
    }
  })));
  await list.hover();
  await told(context, "scrolling tools", () => scrolling(page, 5_000));
  assert(await list.evaluate((each) => each.scrollTop > 10_000));
  assert(await visitor.tools.count() < 60, "only what is seen is drawn");
  await told(context, "going from view to view", () => going(page));
});
