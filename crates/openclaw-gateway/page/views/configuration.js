// The configuration: what is in force, and what is wrong in the files.

import { button, element, fill } from "../parts/element.js";
import { longText } from "../parts/long-text.js";
import { busy, told, trouble } from "../parts/notices.js";
import { foreign, foreignLines, plain } from "../foreign.js";
import { counted } from "../words.js";

/** @param {import("../shell.js").Stage} stage */
export function showConfiguration(stage) {
  const { place, state, left } = stage;
  const where = element("p", { class: "quiet" }, "Asking the gateway…");
  const problems = element("section", {});
  const force = element("section", {});
  const reload = button("Reload", (event) => busy(event, async () => {
    try {
      const report = await state.connection.ask("reload");
      const parts = [["added", report.added], ["changed", report.changed], ["removed", report.removed]]
        .filter(([, names]) => names.length > 0)
        .map(([word, names]) => `${word}: ${plain(names.join(", "), 200)}`);
      told(`the configuration is in force; ${parts.length > 0 ? parts.join("; ") : "no server changed"}`);
    } finally {
      state.configuration.now();
    }
  }), { class: "primary" });
  fill(place, element("div", { class: "bar" }, element("h1", {}, "Configuration"), reload), where, problems, force);

  let drawn = "";
  state.configuration.look(left, (report, failure) => {
    if (failure || !report) {
      fill(problems, failure ? trouble(failure) : null);
      return;
    }
    fill(where, element("code", {}, foreign(report.file, { most: 500 })), report.exists ? ". The gateway follows it: save it, and it is in force." : ": no such file, so that the defaults apply.");
    fill(problems, report.error ? refused(report.error) : null, listed(report));
    const text = JSON.stringify(report.configuration, null, 2);
    if (text !== drawn) {
      drawn = text;
      fill(force, element("h2", {}, "In force"), element("p", { class: "quiet" }, "As the chosen agent has it, with the defaults. Credentials are hidden."), longText(text, { class: "text code", name: "configuration.json", label: "The configuration in force" }));
    }
  });
}

/** @param {string} error */
function refused(error) {
  return element("div", { class: "warning", role: "alert" },
    element("h2", {}, "The file is not in force"),
    element("p", {}, "What ran before goes on."),
    foreignLines(error.slice(0, 4_000), "message"));
}

/** @param {any} report */
function listed(report) {
  if (report.problems.length === 0) {
    return element("p", { class: "good" }, "Nothing is wrong in it.");
  }
  const rows = report.problems.map((/** @type {any} */ it) => element("tr", {},
    element("td", {}, element("span", { class: `state ${it.severity === "error" ? "bad" : "warn"}` }, it.severity)),
    element("td", { class: "place" }, element("code", {}, foreign(placeOf(it, report), { most: 300 }))),
    element("td", {}, element("code", {}, foreign(it.path, { most: 200 }))),
    element("td", {},
      foreign(it.message, { most: 1_000 }),
      it.suggestion ? element("p", { class: "hint" }, "Did you mean ", element("code", {}, foreign(it.suggestion)), "?") : null,
      it.help ? element("p", { class: "hint" }, foreign(it.help, { most: 500 })) : null)));
  const heads = ["Kind", "Line", "Setting", "Problem"].map((it) => element("th", { scope: "col" }, it));
  return element("div", { class: "scrolling", tabindex: 0, role: "region", "aria-label": "Problems" },
    element("table", {},
      element("caption", {}, `${counted(report.problems.length, "problem")} in the file${report.omitted > 0 ? `, and ${report.omitted} more` : ""}`),
      element("thead", {}, element("tr", {}, heads)),
      element("tbody", {}, rows)));
}

/**
 * @param {any} problem
 * @param {any} report
 */
function placeOf(problem, report) {
  const file = problem.file && problem.file !== report.file ? `${problem.file}:` : "";
  return problem.line ? `${file}${problem.line}:${problem.column ?? 1}` : file || "–";
}
