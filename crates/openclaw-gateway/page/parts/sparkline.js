// How long the last calls took, as a line.

import { duration } from "../words.js";
import { drawn, element } from "./element.js";

const WIDTH = 120;
const HEIGHT = 24;

/**
 * The duration that as many calls as this share did not exceed.
 * @param {number[]} durations
 * @param {number} share
 */
export function quantile(durations, share) {
  const sorted = [...durations].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * @param {number[]} durations the newest last
 * @returns {HTMLElement}
 */
export function sparkline(durations) {
  if (durations.length === 0) {
    return element("span", { class: "sparkline quiet" }, "no calls yet");
  }
  const highest = Math.max(...durations, 1);
  const step = WIDTH / Math.max(1, durations.length - 1);
  const points = durations.map((it, index) => {
    const height = HEIGHT - 2 - (it / highest) * (HEIGHT - 4);
    return `${(index * step).toFixed(1)},${height.toFixed(1)}`;
  });
  if (points.length === 1) {
    points.push(`${WIDTH},${points[0].split(",")[1]}`);
  }
  const words = `${durations.length} calls, half of them within ${duration(quantile(durations, 0.5))}, the longest ${duration(highest)}`;
  return element(
    "span",
    { class: "sparkline", title: words },
    drawn(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
      drawn("polyline", { points: points.join(" ") }),
    ),
    element("span", { class: "quiet", "aria-hidden": "true" }, duration(quantile(durations, 0.5))),
  );
}
