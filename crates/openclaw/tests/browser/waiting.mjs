// Waiting for what holds sooner or later, and never for some time.

import assert from "node:assert/strict";

/** How long anything may take that a person would wait for, on a machine that is busy. */
export const SOON = Number(process.env.OPENCLAW_TEST_PATIENCE ?? 20_000);

/** @template T @param {Promise<T>} promise @param {string} what @returns {Promise<T>} */
export async function within(promise, what) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`waited for ${what}`)), SOON);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until something holds, and gives what it is. */
export async function until(what, condition) {
  const deadline = Date.now() + SOON;
  for (;;) {
    const held = await condition();
    if (held) {
      return held;
    }
    assert(Date.now() < deadline, `waited for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
