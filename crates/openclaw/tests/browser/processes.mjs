// Programs that tests start, and what they leave behind: nothing.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { until, within } from "./waiting.mjs";

/** All processes with those that started them. Empty where the system does not say. */
function parents() {
  const found = new Map();
  let names;
  try {
    names = readdirSync("/proc");
  } catch {
    return found;
  }
  for (const name of names.filter((it) => /^\d+$/.test(it))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The name of the program stands in parentheses, and may have some of its own.
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state !== "Z") {
        found.set(Number(name), Number(parent));
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/** The processes that one has started, and those that they have. */
export function descendants(pid) {
  const all = parents();
  const found = new Set([pid]);
  let before;
  do {
    before = found.size;
    for (const [child, parent] of all) {
      if (found.has(parent)) {
        found.add(child);
      }
    }
  } while (found.size > before);
  found.delete(pid);
  return [...found];
}

/** Waits until these are gone. */
export async function gone(pids) {
  let left = pids;
  await until(`the processes ${pids} to end`, () => {
    const all = parents();
    left = left.filter((it) => all.has(it));
    return left.length === 0;
  });
}

/** Ends a process, and waits for it and for all that it started. */
export async function end(child, signal = "SIGTERM") {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const started = descendants(child.pid);
  const ended = once(child, "exit");
  child.kill(signal);
  await within(ended, "a program to end");
  await gone(started);
}

/** Starts a program whose first line says where it is; it ends with its input. */
export async function announced(program, options) {
  const child = spawn(program, options, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [line] = await within(once(lines, "line"), `${program} to say where it is`);
  return { child, line };
}
