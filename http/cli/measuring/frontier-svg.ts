import { toAmount } from "./figures.js";
import { costRange, listPlaced, listPoints, type PlacedPoint } from "./frontier.js";
import type { Search } from "./searches.js";

/** The size of the picture, and of the area inside its axes, in pixels. */
const [WIDTH, HEIGHT] = [720, 440];
const AREA = { left: 70, right: 690, top: 50, bottom: 380 };

/** Draws the frontier of a search as an SVG picture, with the 95 % intervals of the scores. */
export function toFrontierSvg(search: Search): string {
  const points = listPlaced(listPoints(search));
  const { from, to } = points.length === 0 ? { from: 0, to: 1 } : costRange(points);
  const x = (cost: number) => AREA.left + 20 + ((cost - from) / (to - from)) * (AREA.right - AREA.left - 40);
  const y = (score: number) => AREA.bottom - score * (AREA.bottom - AREA.top);
  const place = ({ cost, score }: PlacedPoint) => `${round(x(cost))},${round(y(score))}`;
  const frontier = points.filter(({ onFrontier }) => onFrontier);
  const { currency } = search.budget.ceiling;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(AREA.left, 28, `Search ${search.id}: success on searched tasks by cost`, 'font-size="15"'),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      `<path d="M${AREA.left} ${round(y(share))}H${AREA.right}" stroke="#ddd"/>`,
      text(AREA.left - 8, y(share) + 4, `${100 * share} %`, 'text-anchor="end"'),
    ]),
    ...[from, to].map((cost) => text(x(cost), AREA.bottom + 20, toAmount(cost), 'text-anchor="middle"')),
    text((AREA.left + AREA.right) / 2, AREA.bottom + 42, `${currency} per run`, 'text-anchor="middle"'),
    `<polyline points="${frontier.map(place).join(" ")}" fill="none" stroke="#197a3e" stroke-dasharray="4 3"/>`,
    ...points.flatMap((point) => {
      const colour = point.onFrontier ? "#197a3e" : "#888";
      const { interval } = point;
      const at = round(x(point.cost));
      const isRight = at > (AREA.left + AREA.right) / 2;
      const bar =
        interval === null
          ? []
          : [
              `<path d="M${at} ${round(y(interval.low))}V${round(y(interval.high))}" stroke="${colour}" opacity="0.5"/>`,
            ];
      return [
        ...bar,
        `<circle cx="${at}" cy="${round(y(point.score))}" r="5" fill="${colour}"/>`,
        // Put the name on the side of the point where the picture has more space.
        isRight
          ? text(x(point.cost) - 9, y(point.score) - 7, point.name, `fill="${colour}" text-anchor="end"`)
          : text(x(point.cost) + 9, y(point.score) - 7, point.name, `fill="${colour}"`),
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escapeXml(content)}</text>`;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}

/** Escapes text for XML. Replaces control characters and lone surrogates with spaces. */
function escapeXml(content: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return content.replace(/\p{Cc}|\p{Cs}/gu, " ").replace(/[&<>]/g, (character) => entities[character] ?? character);
}
