// A conversation without any model: no key, no network.

import { everything } from "./gateway.mjs";
import { house } from "./harness.mjs";

const it = house(() => ({
  agents: { defaults: { model: "builtin/offline" } },
  mcp: { servers: { everything: everything() } },
}));

it.test("the built-in model finds a tool by the words of the message", async (visitor, page) => {
  await visitor.go("Chat");
  await page.getByLabel("Message", { exact: true }).fill("echo hello from the page");
  await page.keyboard.press("Enter");
  const reply = page.getByRole("log").getByRole("article", { name: "Agent" }).last();
  const allow = reply.getByRole("button", { name: "Allow once" });
  await allow.or(reply.getByText(/^done in/)).first().waitFor();
  if (await allow.isVisible()) {
    await allow.click();
  }
  await reply.locator(".markdown").getByText("Echo: hello from the page").waitFor();
  await reply.getByText("builtin/offline", { exact: true }).waitFor();
});
