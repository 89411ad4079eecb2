// What only a person can say, in the middle of a conversation.

import assert from "node:assert/strict";
import { after } from "node:test";

import { everything, fake, scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { Model } from "./model.mjs";
import { until } from "./waiting.mjs";

const model = await Model.start();
after(() => model.close());

const it = house((home) => ({
  ...model.configuration(),
  mcp: {
    servers: {
      everything: everything(),
      fake: fake("--only-tools", "elicit_url"),
      files: scripted(home, "files", {
        tools: ["delete_file", "move_file"].map((name) => ({
          name,
          description: `To ${name}`,
          inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        })),
      }),
    },
  },
}));

const log = (page) => page.getByRole("log", { name: "Conversation" });
const reply = (page) => log(page).getByRole("article", { name: "Agent" }).last();

async function say(visitor, text) {
  const { page } = visitor;
  await visitor.go("Chat");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByText("a new conversation").waitFor();
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** What the model was told of its call. */
const told = () => JSON.stringify(model.asked.at(-1).messages.at(-1));

it.test("a tool that changes something runs when somebody allows it once", async (visitor, page) => {
  for (const path of ["/tmp/one", "/tmp/two"]) {
    model.next((saying) => saying.call("delete_file", { path }), (saying) => saying.say("Done."));
    await say(visitor, `delete ${path}`);
    const question = reply(page).getByRole("group", { name: "May files/delete_file run?" });
    await question.getByText(path).waitFor();
    await question.getByText("To delete_file").waitFor();
    await question.getByRole("button", { name: "Allow once" }).click();
    await reply(page).getByText("files/delete_file: allowed once").waitFor();
    await reply(page).getByText("Done.").waitFor();
    assert(told().includes(path), told());
  }
});

it.test("a tool that is not allowed does not run, and the model is told", async (visitor, page) => {
  model.next((saying) => saying.call("delete_file", { path: "/tmp/dear" }), (saying) => saying.say("Then not."));
  await say(visitor, "delete something dear");
  await reply(page).getByRole("group", { name: "May files/delete_file run?" }).getByRole("button", { name: "No" }).click();
  await reply(page).getByText("files/delete_file: not allowed").waitFor();
  await reply(page).getByText("Then not.").waitFor();
  await visitor.go("Activity");
  await page.getByRole("row").filter({ hasText: "files/delete_file" }).filter({ hasText: /denied|rejected/ }).waitFor();
});

it.test("a tool that is always allowed is not asked about again", async (visitor, page) => {
  model.next((saying) => saying.call("move_file", { path: "/tmp/a" }), (saying) => saying.say("Moved it."));
  await say(visitor, "move it");
  await reply(page).getByRole("button", { name: "Always allow" }).click();
  await reply(page).getByText("Moved it.").waitFor();
  model.next((saying) => saying.call("move_file", { path: "/tmp/b" }), (saying) => saying.say("Moved that too."));
  await say(visitor, "move that");
  await reply(page).getByText("Moved that too.").waitFor();
  assert.equal(await reply(page).getByRole("button", { name: "Allow once" }).count(), 0);
});

it.test("a question is withdrawn when the turn is stopped", async (visitor, page) => {
  model.next((saying) => saying.call("delete_file", { path: "/tmp/x" }));
  await say(visitor, "delete it");
  await reply(page).getByRole("button", { name: "Allow once" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await reply(page).getByText("The question was withdrawn.").waitFor();
  assert.equal(await reply(page).getByRole("button", { name: "Allow once" }).count(), 0);
});

async function elicit(visitor) {
  model.next((saying) => saying.call("trigger-elicitation-request", {}), (saying) => saying.say("Thank you."));
  await say(visitor, "ask me");
  const { page } = visitor;
  const allow = reply(page).getByRole("button", { name: "Allow once" });
  const form = reply(page).getByRole("group", { name: "A form of everything" });
  await allow.or(form).first().waitFor();
  if (await allow.isVisible()) {
    await allow.click();
  }
  await form.waitFor();
  return form;
}

it.test("a form of a real server is filled in and sent", async (visitor, page) => {
  const form = await elicit(visitor);
  await form.getByText("everything").first().waitFor();
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("this is needed").first().waitFor();
  await form.getByLabel(/^(String|Name|name)/).first().fill("Ada");
  for (const box of await form.getByRole("checkbox").all()) {
    await box.check();
  }
  await form.getByRole("button", { name: "Send" }).click();
  await reply(page).getByText("Thank you.").waitFor();
  assert(told().includes("Ada"), told());
});

it.test("a form can be declined and put away", async (visitor, page) => {
  for (const [press, words] of [["Decline", /declin/i], ["Put away", /cancel/i]]) {
    const form = await elicit(visitor);
    await form.getByRole("button", { name: press }).click();
    await reply(page).getByText("Thank you.").waitFor();
    assert.match(told(), words);
  }
});

it.test("an address that a server wants visited is opened in a tab of its own, or not at all", async (visitor, page) => {
  for (const way of ["No", "Open example.com"]) {
    model.next((saying) => saying.call("elicit_url", {}), (saying) => saying.say("I see."));
    await say(visitor, "send me somewhere");
    const allow = reply(page).getByRole("button", { name: "Allow once" });
    const visit = reply(page).getByRole("group", { name: "fake asks you to visit an address" });
    await allow.or(visit).first().waitFor();
    if (await allow.isVisible()) {
      await allow.click();
    }
    await visit.getByText("https://example.com/visit").waitFor();
    const link = visit.getByRole("link", { name: "Open example.com" });
    assert.deepEqual(await link.evaluate((each) => [each.href, each.target, each.rel]), ["https://example.com/visit", "_blank", "noopener noreferrer"]);
    if (way === "No") {
      await visit.getByRole("button", { name: "No" }).click();
    } else {
      const opened = visitor.context.waitForEvent("page");
      await link.click();
      await (await opened).close();
    }
    await reply(page).getByText("I see.").waitFor();
    assert.match(told(), way === "No" ? /declin/ : /accept/);
  }
});

it.test("questions stay while one looks at another view", async (visitor, page) => {
  model.next((saying) => saying.call("delete_file", { path: "/tmp/later" }), (saying) => saying.say("Gone."));
  await say(visitor, "delete it later");
  await reply(page).getByRole("button", { name: "Allow once" }).waitFor();
  await visitor.go("Tools");
  await page.goBack();
  await reply(page).getByRole("button", { name: "Allow once" }).click();
  await until("the end", () => reply(page).getByText("Gone.").isVisible());
});
