// How long a page stands still, and a person waits.

/** How long something takes that a browser has to notice, in milliseconds. */
const SLOW = 120;

/** How often something is measured that other programs of the machine may have held up. */
const ATTEMPTS = 3;

/**
 * Measures until a figure is within a limit, and gives the best one: what is slow by itself is slow every time.
 * @param {number} limit
 * @param {() => Promise<number>} measure
 */
export async function best(limit, measure) {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least >= limit; attempt += 1) {
    least = Math.min(least, await measure());
  }
  return least;
}

/**
 * The longest time between two pictures while something is done, in milliseconds. The clock runs in the page, so that
 * the driver's own time does not count.
 */
export async function longestFrame(page, work) {
  await page.evaluate(() => {
    window.frames = { last: performance.now(), longest: 0, isOn: true };
    const tick = () => {
      const now = performance.now();
      window.frames.longest = Math.max(window.frames.longest, now - window.frames.last);
      window.frames.last = now;
      if (window.frames.isOn) {
        requestAnimationFrame(tick);
      }
    };
    requestAnimationFrame(tick);
  });
  await work();
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
    window.frames.isOn = false;
    done(Math.round(window.frames.longest));
  }))));
}

/**
 * How long it takes from each key and click to the picture that follows, in milliseconds, as the browser itself measures
 * it; what is quicker than a picture counts as nothing. One that is slow for certain comes last: when it has been measured,
 * so have all before it, and a browser that measures nothing is noticed.
 */
export async function interactions(page, work) {
  const began = await page.evaluate(() => {
    window.interactions = [];
    window.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.interactionId > 0) {
          window.interactions.push({ began: entry.startTime, duration: entry.duration });
        }
      }
    });
    window.observer.observe({ type: "event", durationThreshold: 16 });
    return performance.now();
  });
  await work();
  const from = await page.evaluate(async (slow) => {
    // What came last has had its picture by then, and is not held up by this.
    for (let picture = 0; picture < 3; picture += 1) {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    addEventListener("keydown", () => {
      const until = performance.now() + slow;
      while (performance.now() < until);
    }, { once: true, capture: true });
    return performance.now();
  }, SLOW);
  await page.keyboard.press("Control");
  await page.waitForFunction(([start, slow]) => window.interactions.some((it) => it.began >= start && it.duration >= slow), [from, SLOW]);
  return page.evaluate(([start, end]) => {
    window.observer.disconnect();
    return window.interactions.filter((it) => it.began >= start && it.began < end).map((it) => it.duration);
  }, [began, from]);
}

/** A value that nine of ten do not exceed. */
export function most(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
}
