import fc from "fast-check";
import { z } from "zod";
import { writeJson } from "../../actors/exact-json.js";
import type { Route } from "../../http/wire/route.js";

/** Generates requests with every kind of fault, over a table of routes. */

export interface AnyRequest {
  readonly method: string;
  /** The path with its query, as sent over the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/**
 * Values for path parameters. The key is the parameter's name, or for `{id}` the name of the preceding collection. The
 * generated paths use each value for its own parameter, and sometimes for another parameter.
 */
export type Known = Readonly<Record<string, string>>;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PURGE"];
const DEEP = 5_000;

/** Unusual values. */
const odd = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, -0.5, 1e308, 2 ** 53, Number.MIN_VALUE, "", " ", "0", "true", "\0", "\ud800", "\u202e", "é"],
  ...["ada@example.com", "https://", "http://[::1", "$(id)", "{{x}}", "../../etc/passwd", "x".repeat(70_000), "*"],
  ...["2026-02-30T25:00:00Z", "whsec_!", "[", "(a+)+$", "__proto__", "constructor", [], {}, [[]], [null], { "": null }],
  ...[2n ** 53n + 1n, -(2n ** 64n) - 1n, 10n ** 400n, { isLosslessNumber: true, value: 2n ** 64n + 1n }],
  ...[{ __proto__: null, toString: 1 }, Array.from({ length: 2_000 }, () => 0)],
);

/** JSON of any shape. */
export const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    odd,
    fc.string({ unit: "binary" }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "toString", "length")), tie("value"), {
      maxKeys: 4,
    }),
  ),
})).value;

/** Text that is not JSON, that is unusual JSON, or that exceeds reasonable limits of a parser. */
export const noJson = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      ...[
        "",
        "{",
        '{"a":',
        "nul",
        "NaN",
        "[1,]",
        "{}{}",
        "'a'",
        '{"a":1e999}',
        '{"a":1,"a":2}',
        '{"__proto__":{"a":1}}',
      ],
      ...[
        "[".repeat(DEEP),
        `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`,
        `{"a":${"9".repeat(DEEP)}}`,
        "\ufeff{}",
        '"\\ud800"',
      ],
    )
    .map((text) => Buffer.from(text)),
  fc.constantFrom("ff", "22c328", "7b2261223a22eda08022", "00", "7b0022").map((hex) => Buffer.from(hex, "hex")),
);

const percents = fc.constantFrom(
  ...[
    "%",
    "%0",
    "%00",
    "%zz",
    "%2f",
    "%2e%2e",
    "%ff",
    "%c3%28",
    "%ed%a0%80",
    "%F0%9D%84%9E",
    "..",
    ".",
    "",
    "*",
    ";a=b",
  ],
  ...[
    "__proto__",
    "constructor",
    "undefined",
    "null",
    "-1",
    "a".repeat(3_000),
    "team_",
    "ws_01J000000000000000000000000",
  ],
);
const encoded = fc
  .uint8Array({ maxLength: 8 })
  .map((bytes) => Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));

const query = fc
  .array(
    fc.tuple(
      fc.constantFrom("limit", "before", "after", "address", "hook", "event", "state", "station", "__proto__", "q", ""),
      fc.oneof(percents, encoded, fc.constantFrom("0", "-1", "1e9", "999999999999999999999", "NaN", "1&limit=2")),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => (pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`));

const visible = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const value = fc.oneof(visible, fc.constantFrom("", "x".repeat(300), "x".repeat(5_000), "\u00e9\u00ff", "a, b", '"'));
const headers = fc.record(
  {
    "content-type": fc.constantFrom(
      ...["text/plain", "application/json; charset=utf-16", "", "application/xml", "multipart/form-data", "json/"],
    ),
    "content-encoding": fc.constantFrom("gzip", "identity", "br, gzip", ""),
    "if-match": fc.oneof(value, fc.constantFrom('"1"', 'W/"1"', "*", '"999999999999999999999"', '"1", "2"', '"-1"')),
    "if-none-match": value,
    accept: value,
    "service-client": value,
    "service-api-version": fc.constantFrom("2026-09-23", "1", "", "2026-09-23, 2026-09-23"),
    authorization: fc.oneof(
      value,
      visible.map((text) => `Bearer ${text}`),
      fc.constantFrom("Basic Og==", "Bearer"),
    ),
    cookie: fc.oneof(value, fc.constantFrom("session=", "session=a; session=b", "=;;==")),
    origin: value,
    "x-forwarded-for": value,
  },
  { requiredKeys: [] },
);

/** Generates requests over the routes: most use an existing route, with a body that is almost valid. */
export function anyRequest(routes: readonly Route[], known: Known): fc.Arbitrary<AnyRequest> {
  return fc.constantFrom(...routes).chain((route) =>
    fc
      .record({
        method: fc.oneof({ weight: 9, arbitrary: fc.constant(route.method) }, fc.constantFrom(...METHODS)),
        path: readPath(route, known),
        query: fc.oneof(fc.constant(""), query),
        body: fc.oneof({ weight: 4, arbitrary: readBody(route) }, noJson),
        headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, headers),
        key: fc.oneof({ weight: 4, arbitrary: fc.uuid() }, value, fc.constant(null)),
      })
      .map(({ method, path, query, body, headers: odd, key }) => ({
        method,
        path: `${path}${query}`,
        headers: {
          ...(method === "GET" || method === "HEAD" ? {} : { "content-type": "application/json" }),
          ...(key === null ? {} : { "idempotency-key": key }),
          ...(method === "PUT" ? { "if-match": '"1"' } : {}),
          ...odd,
        },
        body: method === "GET" || method === "HEAD" || method === "TRACE" ? null : body,
      })),
  );
}

function readPath(route: Route, known: Known): fc.Arbitrary<string> {
  const places = route.path.split(/(\{\w+\})/);
  const strange = fc.oneof(fc.constantFrom(...Object.values(known)), percents, encoded);
  const filled = places.map((place, index) => {
    if (!place.startsWith("{")) return fc.constant(place);
    const name = place === "{id}" ? (places[index - 1]?.split("/").at(-2) ?? "") : place.slice(1, -1);
    const right = known[name];
    return right === undefined ? strange : fc.oneof({ weight: 7, arbitrary: fc.constant(right) }, strange);
  });
  const more = fc.oneof(
    { weight: 30, arbitrary: fc.constant("") },
    fc.constantFrom("/", "//", "/x", "%20", "/%2e%2e/"),
  );
  return fc.tuple(fc.tuple(...filled), more).map(([parts, end]) => `${parts.join("")}${end}`);
}

/**
 * Generates a body: the route's example with up to three changes, or an object with the route's fields and any values.
 */
function readBody(route: Route): fc.Arbitrary<Buffer> {
  const fields = listFields(route);
  const ofFields =
    fields.length === 0 ? json : fc.dictionary(fc.constantFrom(...fields), fc.oneof(odd, json), { maxKeys: 6 });
  const spoilt = fc
    .array(fc.record({ place: fc.nat(), value: fc.oneof(odd, json), how: fc.constantFrom("set", "drop", "add") }), {
      maxLength: 3,
    })
    .map((wounds) => wounds.reduce(wound, structuredClone(route.example)));
  const bodies = route.example === undefined ? [ofFields] : [spoilt, ofFields];
  return fc.oneof(...bodies).map((body) => Buffer.from(writeJson(body) ?? ""));
}

function listFields({ takes, body }: Route): readonly string[] {
  const schema = takes ?? body;
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

interface Wound {
  readonly place: number;
  readonly value: unknown;
  readonly how: "set" | "drop" | "add";
}

function wound(body: unknown, { place, value, how }: Wound): unknown {
  const all = placesIn(body);
  const at = all[place % Math.max(1, all.length)];
  if (at === undefined) return structuredClone(value);
  if (how === "drop") delete at.holder[at.key];
  else at.holder[how === "set" ? at.key : `${at.key}x`] = structuredClone(value);
  return body;
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.entries(holder).flatMap(([key, inner]) => [{ holder, key }, ...placesIn(inner)]);
}
