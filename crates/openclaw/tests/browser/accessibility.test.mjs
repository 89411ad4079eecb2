// What axe-core finds, in every view and dialog: nothing serious.

import assert from "node:assert/strict";
import { after } from "node:test";

import { everything, scripted, testkit } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { Model } from "./model.mjs";
import { announced, end } from "./processes.mjs";

const model = await Model.start();
after(() => model.close());
const partner = await announced(testkit("fake-login-server"), ["--consent-page"]);
after(() => end(partner.child));

const it = house((home) => ({
  ...model.configuration(),
  mcp: {
    servers: {
      broken: { command: "/nowhere/at-all" },
      everything: everything(),
      notes: scripted(home, "notes", { stderr: "a line\n", tools: [{ name: "write", description: "Writes a note", inputSchema: { type: "object" } }] }),
      work: { url: JSON.parse(partner.line).url },
    },
  },
}));

const SIZES = {
  "on a desk": { viewport: { width: 1200, height: 800 } },
  "on a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

for (const [where, size] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    it.test(`nothing serious ${where}, ${colorScheme}`, async (visitor, page) => {
      const check = async (what) => {
        await visitor.checkAccessibility(`${what} ${where}, ${colorScheme}`);
        const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        assert(!isTooWide, `${what} ${where} is wider than the screen`);
      };
      const press = (name) => page.getByRole("button", { name, exact: true }).click();
      const closed = () => page.getByRole("dialog").waitFor({ state: "detached" });

      await visitor.row("everything").getByText("ready", { exact: true }).waitFor();
      await visitor.row("work").getByText("needs a login", { exact: true }).waitFor();
      await check("servers");
      await press("Add a server");
      await check("adding by address");
      await press("Try it and add it");
      await check("adding with what is missing");
      await page.getByRole("tab", { name: "By command" }).click();
      await check("adding by command");
      await page.getByRole("tab", { name: "From another client" }).click();
      await page.getByText("Nothing new was found.").waitFor();
      await check("adding from another client");
      await page.keyboard.press("Escape");
      await closed();
      await press("Log in to work");
      await page.getByRole("link", { name: "Open the login page" }).waitFor();
      await check("a login");
      await page.keyboard.press("Escape");
      await closed();

      await visitor.goToServer("notes");
      await page.getByLabel("Standard error of notes").waitFor();
      await check("a server");
      await press("Remove");
      await check("a question");
      await page.keyboard.press("Escape");
      await closed();

      await visitor.go("Tools");
      await visitor.tools.first().waitFor();
      await check("tools");
      await visitor.openTool("get-sum");
      await press("Run");
      await page.getByText("this is needed").first().waitFor();
      await check("a tool with what is missing");
      await visitor.openTool("get-tiny-image");
      await press("Run");
      await page.locator(".result img").waitFor();
      await check("a result");

      await visitor.go("Activity");
      await page.getByRole("row").first().waitFor();
      await check("activity");

      await visitor.go("Chat");
      model.next((saying) => saying.call("notes_write", {}), (saying) => saying.say("# Done\n\n- with `code`\n\n```\nx\n```\n\nand https://example.org"));
      await page.getByLabel("Message", { exact: true }).fill("write it down");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Allow once" }).waitFor();
      await check("chat with a question");
      await press("Allow once");
      await page.getByRole("log").getByRole("heading", { name: "Done" }).last().waitFor();
      await page.getByRole("log").locator("summary").last().click();
      await check("chat");

      await visitor.go("Configuration");
      await page.getByLabel("The configuration in force").waitFor();
      await check("configuration");
    }, { context: { ...size, colorScheme } });
  }
}

it.test("nothing serious before anybody is let in", async (visitor, page) => {
  await page.getByLabel("Token or password").waitFor();
  await visitor.checkAccessibility("the login");
  await page.getByLabel("Token or password").fill("wrong, but long enough to be a token");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await visitor.checkAccessibility("a refused login");
}, { fragment: "" });

it.test("colours can be chosen, and stay", async (visitor, page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("Colours").selectOption("dark");
  assert.notEqual(await ground(), light);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
  assert.notEqual(await ground(), light);
  await page.getByLabel("Colours").selectOption("light");
  assert.equal(await ground(), light);
}, { context: { colorScheme: "light" } });

it.test("what moves stands still for those who want that", async (visitor, page) => {
  const animations = async () => {
    await visitor.go("Chat");
    let open;
    model.next(() => new Promise((done) => {
      open = done;
    }));
    await page.getByLabel("Message", { exact: true }).fill("wait");
    await page.keyboard.press("Enter");
    await page.getByText("Thinking…").waitFor();
    const running = await page.evaluate(() => document.getAnimations().length);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").last().waitFor();
    open?.();
    return running;
  };
  assert.equal(await animations(), 0);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  assert(await animations() > 0, "something moves for everybody else");
});
