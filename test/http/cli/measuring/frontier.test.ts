import t from "tap";
import { processTerminal } from "../../../../http/cli/command/terminal.js";
import { listPoints } from "../../../../http/cli/measuring/frontier.js";
import { drawFrontier } from "../../../../http/cli/measuring/frontier-plot.js";
import { toFrontierSvg } from "../../../../http/cli/measuring/frontier-svg.js";
import type { Search } from "../../../../http/cli/measuring/searches.js";

const terminal = { ...processTerminal(), paint: (_colour: string, text: string) => text };

interface Point {
  readonly name: string;
  readonly score: number | null;
  readonly cost: number | null;
  readonly onFrontier?: boolean;
}

/** A search whose first point is the live config. */
function toSearch(points: readonly Point[]): Search {
  const [seed, ...candidates] = points.map(({ name, score, cost, onFrontier = false }, index) => ({
    candidateId: `cand_${index}`,
    name,
    seed: index === 0,
    searchScore: score,
    searchInterval: score === null ? null : { rate: score, low: score / 2, high: score },
    costPerRun: cost === null ? null : { amount: cost, currency: "EUR" },
    onFrontier,
  }));
  const frontier = [seed, ...candidates].filter((each) => each?.onFrontier === true).map((each) => each?.candidateId);
  const budget = { ceiling: { amount: 10, currency: "EUR" } };
  return { id: "srch_1", seed, candidates, frontier, budget } as unknown as Search;
}

const search = toSearch([
  { name: "seed", score: 0.5, cost: 0.2, onFrontier: true },
  { name: "careful", score: 1, cost: 0.4, onFrontier: true },
  { name: "dear <&>", score: 0.5, cost: 0.4 },
  { name: "unpriced", score: 0.7, cost: null },
]);

t.test("the frontier comes first, and each known point has its place in the plot", async (t) => {
  const points = listPoints(search);
  t.same(
    points.map(({ mark, name }) => `${mark} ${name}`),
    ["* live config", "a careful", "c unpriced", "b dear <&>"],
  );
  const plot = drawFrontier(terminal, points, "EUR");
  t.equal(plot[1], `100 % ┤${" ".repeat(56)}a`);
  t.equal(plot[6], ` 50 % ┤*${" ".repeat(55)}b`);
  t.match(plot.at(-1), /^ {7}0\.2 +0\.4 EUR per run$/);
  t.notMatch(plot.slice(1, 12).join("\n"), "c", "an unknown cost has no place");
});

t.test("equal costs, no costs, and more candidates than letters are drawn too", async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => ({ name: `n-${index}`, score: 0, cost: 1 }));
  const points = listPoints(toSearch(many));
  t.same([points.length, points.at(-1)?.mark], [60, "+"]);
  t.match(drawFrontier(terminal, points, "EUR").at(-1), /0\.5 +1\.5 EUR per run/);
  t.same(drawFrontier(terminal, listPoints(toSearch([{ name: "seed", score: null, cost: null }])), "EUR"), []);
  t.match(toFrontierSvg(toSearch([{ name: "seed", score: 1, cost: 0 }])), /<circle cx="90" cy="50"/);
});

t.test("the picture has every point with its interval, and others' text is escaped", async (t) => {
  const svg = toFrontierSvg(search);
  t.equal(svg.match(/<circle /g)?.length, 3);
  t.match(svg, /<polyline points="90,215 670,50" /);
  t.match(svg, />dear &lt;&amp;&gt;<\/text>/);
  t.match(svg, /<path d="M670 215V50" stroke="#197a3e"/);
});
