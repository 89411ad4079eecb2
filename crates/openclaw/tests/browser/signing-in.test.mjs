// Logins to servers, in this browser.

import assert from "node:assert/strict";
import { after } from "node:test";

import { testkit } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { announced, end } from "./processes.mjs";

const partner = await announced(testkit("fake-login-server"), ["--consent-page", "--lifetime", "7200"]);
const places = JSON.parse(partner.line);
after(() => end(partner.child));

const it = house(() => ({ mcp: { servers: { work: { url: places.url }, other: { url: places.second } } } }));

/** Opens the login page in a tab of its own. */
async function openLogin(visitor, dialog) {
  const opened = visitor.context.waitForEvent("page");
  await dialog.getByRole("link", { name: "Open the login page" }).click();
  return opened;
}

it.test("somebody logs in to a server in this browser, and it is ready", async (visitor, page) => {
  const row = visitor.row("work");
  await row.getByText("needs a login", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Log in to work" }).click();
  const dialog = page.getByRole("dialog", { name: "Log in to work" });
  await dialog.getByText(new URL(places.issuer).origin).first().waitFor();
  const tab = await openLogin(visitor, dialog);
  assert.equal(await tab.evaluate(() => window.opener), null, "it knows nothing of this page");
  await tab.getByRole("button", { name: "Allow" }).click();
  await tab.getByText("You are logged in to work").waitFor();
  await tab.close();
  await dialog.waitFor({ state: "detached" });
  await visitor.notices.getByText("logged in to work").waitFor();
  await row.getByText("ready", { exact: true }).waitFor();
  await row.getByText(/token expires in (1 h 59 min|2 h 0 min), renewed by itself/).waitFor();
  await visitor.goToServer("work");
  await page.getByText("Issued by").waitFor();
  await page.getByRole("main").getByRole("button", { name: "Log out" }).click();
  await visitor.notices.getByText("work is logged out").waitFor();
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("needs a login", { exact: true }).waitFor();
});

it.test("the answer of a browser elsewhere is brought by hand", async (visitor, page) => {
  await visitor.row("other").getByRole("button", { name: "Log in to other" }).click();
  const dialog = page.getByRole("dialog", { name: "Log in to other" });
  const address = await dialog.getByRole("link", { name: "Open the login page" }).getAttribute("href");
  await dialog.getByText("The login page can't get back here?").click();
  const field = dialog.getByLabel("The address that the browser was sent to, or the code");
  await field.fill("nonsense");
  await dialog.getByRole("button", { name: "Finish the login" }).click();
  await dialog.getByRole("alert").locator(".trouble").waitFor();
  // A browser elsewhere is sent to an address that it can't reach.
  const question = await (await fetch(address)).text();
  const [, action] = /action="([^"]+)"/.exec(question);
  const [, consent] = /name="consent" value="([^"]+)"/.exec(question);
  const said = await fetch(action, { method: "POST", redirect: "manual", body: new URLSearchParams({ consent, decision: "allow" }) });
  await field.fill(said.headers.get("location"));
  await dialog.getByRole("button", { name: "Finish the login" }).click();
  await visitor.row("other").getByText("ready", { exact: true }).waitFor();
});

it.test("a login that is refused says so, and can be begun anew", async (visitor, page) => {
  const row = visitor.row("work");
  await row.getByRole("button", { name: "Log in to work" }).click();
  const dialog = page.getByRole("dialog", { name: "Log in to work" });
  const tab = await openLogin(visitor, dialog);
  await tab.getByRole("button", { name: "Deny" }).click();
  await tab.waitForURL(/127\.0\.0\.1.*error=access_denied/);
  await tab.close();
  await dialog.getByRole("alert").locator(".trouble").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // The server is tried once more, and what the focus comes back to may be away meanwhile.
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Log in to work");
});
