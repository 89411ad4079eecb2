// A hundred open pages.

import assert from "node:assert/strict";

import { fake } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { most } from "./measuring.mjs";
import { until } from "./waiting.mjs";

const it = house(() => ({ mcp: { servers: { calculator: fake("--only-tools", "echo") } } }));

const PAGES = 100;

/** How long calls take that others make meanwhile. */
async function calls(count) {
  const durations = [];
  for (let number = 0; number < count; number += 1) {
    const began = performance.now();
    const answer = await it.gateway.call("calculator/echo", { message: String(number) });
    durations.push(performance.now() - began);
    assert.equal(answer.isError, false, JSON.stringify(answer));
  }
  return durations;
}

it.test("a hundred pages hear of everything, and the gateway answers as before", async (visitor, page, context) => {
  await visitor.row("calculator").getByText("ready", { exact: true }).waitFor();
  const alone = most(await calls(20));
  // What a page has behind its views: its own modules, a hundred times.
  await page.evaluate(async ([token, count]) => {
    const [{ Connection }, { State }] = await Promise.all([import("/page/connection.js"), import("/page/state.js")]);
    window.crowd = Array.from({ length: count }, () => {
      const state = new State(new Connection(`ws://${location.host}/api/ws`, token));
      const one = { state, calls: 0 };
      state.addEventListener("call", () => {
        one.calls += 1;
      });
      for (const topic of [state.overview, state.servers, state.logins, state.activity]) {
        topic.look(new AbortController().signal, () => {});
      }
      return one;
    });
  }, [it.gateway.token, PAGES]);
  await until("all to be let in", () => page.evaluate(() => window.crowd.every(({ state }) => state.connection.status === "open")));
  await until("all to know the servers", () => page.evaluate(() => window.crowd.every(({ state }) => state.servers.value?.length === 1 && state.activity.value !== null)));
  const together = most(await calls(20));
  await until("all to have heard of the calls", () => page.evaluate(() => window.crowd.every((one) => one.calls >= 20)));
  const began = performance.now();
  const other = await it.visit();
  await other.row("calculator").getByRole("img", { name: /calls/ }).waitFor();
  const opened = performance.now() - began;
  await other.context.close();
  context.diagnostic(`${PAGES} pages: nine of ten calls within ${together.toFixed(1)} ms, ${alone.toFixed(1)} ms without them; one more page is there after ${Math.round(opened)} ms`);
  assert(together < 250, `${together} ms`);
});
