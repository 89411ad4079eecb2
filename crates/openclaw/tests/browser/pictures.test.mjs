// Pictures of the page for the documentation, with a configuration such as people have.

import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";

import { root, testkit } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { Model } from "./model.mjs";
import { announced, end } from "./processes.mjs";

const screenshots = join(root, "target/browser/screenshots");
/** Where those are kept that the documentation shows. */
const documented = process.env.OPENCLAW_TEST_SCREENSHOTS ?? screenshots;
const LARGEST = 150_000;

const model = await Model.start();
after(() => model.close());
const partner = await announced(testkit("fake-login-server"), ["--consent-page"]);
after(() => end(partner.child));

const text = (words) => ({ content: [{ type: "text", text: words }] });
const tool = (name, description, properties = {}, required = [], annotations = { readOnlyHint: true }) => ({
  name, description, annotations, inputSchema: { type: "object", properties, required },
});
const repository = { type: "string", description: "The owner and the name, as in `octocat/hello-world`" };

const GITHUB = {
  info: { name: "github-mcp-server", version: "1.4.0" },
  stderr: "GitHub MCP Server running on stdio\n",
  tools: [
    tool("close_issue", "Closes an issue, with a comment that says why", { repository, number: { type: "integer" }, comment: { type: "string" } }, ["repository", "number"], { destructiveHint: true }),
    tool("create_issue", "Opens a new issue in a repository", { repository, title: { type: "string" }, body: { type: "string" } }, ["repository", "title"], {}),
    tool("get_file_contents", "Reads a file or a folder of a repository", { repository, path: { type: "string" } }, ["repository", "path"]),
    tool("list_commits", "Lists the commits of a branch, the newest first", { repository, branch: { type: "string" } }, ["repository"]),
    tool("list_pull_requests", "Lists the pull requests of a repository", { repository, state: { type: "string", enum: ["open", "closed", "all"] } }, ["repository"]),
    tool("search_issues", "Searches issues and pull requests with the syntax of GitHub's search, and gives their numbers, titles and states", {
      repository,
      query: { type: "string", description: "Words, and filters such as `label:bug`" },
      state: { type: "string", enum: ["open", "closed", "all"], default: "open" },
      limit: { type: "integer", description: "How many at most", default: 10 },
    }, ["repository", "query"], { readOnlyHint: true, openWorldHint: true }),
  ],
  results: {
    search_issues: { wait: 180, ...text("#214  open  The link to the migration guide is broken\n#198  open  Links in the changelog lead nowhere\n#171  open  Broken link in the README\n\n3 issues found") },
    list_pull_requests: { wait: 240, ...text("#220 Mend the links of the guide") },
    list_commits: { wait: 95, ...text("4f2a91c docs: the new guide") },
    close_issue: { wait: 120, ...text("closed") },
  },
};
const FILES = {
  info: { name: "secure-filesystem-server", version: "0.6.3" },
  tools: ["directory_tree", "edit_file", "get_file_info", "list_directory", "move_file", "read_text_file", "search_files", "write_file"]
    .map((name) => tool(name, `To ${name.replaceAll("_", " ")} within the allowed directories`)),
  results: {
    read_text_file: { wait: 12, ...text("# Notes\n") },
    search_files: { wait: 31, ...text("docs/guide.md") },
    move_file: { isError: true, content: [{ type: "text", text: "access denied: outside of the allowed directories" }] },
  },
};
const SLACK = { tools: ["list_channels", "post_message", "search_messages", "get_thread"].map((name) => tool(name, `To ${name.replaceAll("_", " ")}`)), results: { post_message: { wait: 310, ...text("posted") }, search_messages: { wait: 205, ...text("2 messages") } } };
const TIME = { tools: ["get_current_time", "convert_time"].map((name) => tool(name, `To ${name.replaceAll("_", " ")}`)), results: { get_current_time: { wait: 4, ...text("09:41") } } };
const POSTGRES = { stderr: "could not connect to localhost:5432: connection refused\n", exit: true };

/** Programs by the names that people know, which are all our scripted server. */
function programs(home) {
  const servers = { "server-github": GITHUB, "server-filesystem": FILES, "server-slack": SLACK, "mcp-server-time": TIME, "server-postgres": POSTGRES };
  mkdirSync(join(home, "bin"));
  mkdirSync(join(home, "servers"));
  for (const [name, what] of Object.entries(servers)) {
    writeFileSync(join(home, "servers", `${name}.json`), JSON.stringify(what));
  }
  const scripted = join(root, "crates/openclaw/tests/browser/scripted-server.mjs");
  for (const [program, named] of [["npx", "$2"], ["uvx", "$1"]]) {
    const lines = ["#!/bin/sh", `exec "${process.execPath}" "${scripted}" "${home}/servers/$(basename "${named}").json"`, ""];
    writeFileSync(join(home, "bin", program), lines.join("\n"), { mode: 0o755 });
  }
}

const npx = (name, ...more) => ({ command: "npx", args: ["-y", `@modelcontextprotocol/${name}`, ...more] });

/** A configuration; a server in it may have more settings. */
function configuration(more = {}) {
  return {
    ...model.configuration(),
    tools: { deny: ["slack/post_message"] },
    mcp: {
      servers: {
        filesystem: npx("server-filesystem", "/home/ada/projects"),
        github: npx("server-github"),
        postgres: npx("server-postgres", "postgresql://localhost/shop"),
        slack: npx("server-slack"),
        time: { command: "uvx", args: ["mcp-server-time"], ...more },
        wiki: { url: JSON.parse(partner.line).url },
      },
    },
  };
}

const it = house((home) => {
  programs(home);
  return configuration();
});

/** What happened before somebody looks. */
async function busyMorning() {
  const early = ["github/search_issues", "filesystem/read_text_file", "github/list_commits", "slack/search_messages", "filesystem/search_files", "time/get_current_time"];
  const late = ["github/list_pull_requests", "filesystem/move_file", "slack/post_message", "filesystem/read_text_file", "github/search_issues", "time/get_current_time", "slack/search_messages", "github/list_commits"];
  const make = async (calls) => {
    for (const call of calls) {
      await it.gateway.call(call, call.startsWith("github/") ? { repository: "octocat/guide", query: "link" } : {});
    }
  };
  await make(early);
  it.gateway.write(configuration({ pin: "warn" }));
  await it.gateway.post("/api/mcp/reload");
  await make(late);
}

/** Takes a picture once nothing moves any longer. */
async function picture(visitor, name, place = documented) {
  mkdirSync(place, { recursive: true });
  const file = join(place, `${name}.png`);
  await visitor.notices.locator(".notice").first().waitFor({ state: "detached" });
  await visitor.page.evaluate(() => document.fonts.ready);
  await visitor.page.mouse.move(0, 0);
  await visitor.page.screenshot({ path: file, caret: "hide", animations: "disabled" });
  assert(statSync(file).size < LARGEST, `${name} has ${statSync(file).size} bytes`);
}

async function arrived(visitor) {
  for (const server of ["filesystem", "github", "slack", "time"]) {
    await visitor.row(server).getByText("ready", { exact: true }).waitFor();
  }
  await visitor.row("wiki").getByText("needs a login", { exact: true }).waitFor();
  await visitor.row("postgres").locator(".error").waitFor();
}

/** A conversation in which a tool has run, and another one waits for a person. */
async function conversation(visitor) {
  const { page } = visitor;
  await visitor.go("Chat");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByText("a new conversation").waitFor();
  model.next(
    (saying) => saying.call("search_issues", { repository: "octocat/guide", query: "broken link" }),
    (saying) => {
      saying.say("Two issues are open:\n\n- **#214** The link to the migration guide is broken\n- **#198** Links in the changelog lead nowhere\n\nThe first is mended by the pull request `#220`, so I would close it.");
      saying.call("close_issue", { repository: "octocat/guide", number: 214, comment: "Mended by #220. Thank you!" });
    },
  );
  await page.getByLabel("Message", { exact: true }).fill("Which issues about broken links can be closed in octocat/guide?");
  await page.keyboard.press("Enter");
  const closing = page.getByRole("group", { name: "May github/close_issue run?" });
  const searching = page.getByRole("group", { name: "May github/search_issues run?" }).getByRole("button", { name: "Always allow" });
  await closing.or(searching).first().waitFor();
  if (await searching.isVisible()) {
    await searching.click();
  }
  await closing.waitFor();
  await page.locator(".sessions a[aria-current=true]").waitFor();
}

const DESK = { viewport: { width: 1200, height: 820 }, colorScheme: "light" };
const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 1.5, hasTouch: true, isMobile: true, colorScheme: "light" };

it.test("pictures of a desk, in the light", async (visitor, page) => {
  await arrived(visitor);
  await busyMorning();
  await visitor.row("github").getByRole("img").waitFor();
  await picture(visitor, "servers");

  await visitor.openTool("search_issues");
  await page.getByRole("textbox", { name: /^repository/ }).fill("octocat/guide");
  await page.getByRole("textbox", { name: /^query/ }).fill("broken link label:docs");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".result").getByText(/^done in/).waitFor();
  await page.getByRole("searchbox", { name: "Search tools" }).fill("github");
  await page.getByRole("button", { name: "Run" }).focus();
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await picture(visitor, "tools");

  await visitor.go("Activity");
  await page.getByRole("row").filter({ hasText: "search_issues" }).first().waitFor();
  await picture(visitor, "activity");

  await conversation(visitor);
  await picture(visitor, "chat");
}, { context: DESK });

it.test("a picture in the dark", async (visitor) => {
  await arrived(visitor);
  await visitor.row("github").getByRole("img").waitFor();
  await picture(visitor, "dark");
}, { context: { ...DESK, colorScheme: "dark" } });

it.test("pictures of a phone", async (visitor, page) => {
  await arrived(visitor);
  await visitor.row("github").getByRole("img").waitFor();
  await picture(visitor, "phone");
  await visitor.openTool("search_issues");
  await picture(visitor, "phone-tool", screenshots);
  await conversation(visitor);
  await picture(visitor, "phone-chat", screenshots);
  await visitor.go("Activity");
  await page.getByRole("row").first().waitFor();
  await picture(visitor, "phone-activity", screenshots);
  await visitor.go("Configuration");
  await page.getByLabel("The configuration in force").waitFor();
  await picture(visitor, "phone-configuration", screenshots);
}, { context: PHONE });
