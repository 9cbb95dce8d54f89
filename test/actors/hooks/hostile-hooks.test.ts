import fc from "fast-check";
import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import { CLOSE, OPEN, readTemplate } from "../../../actors/expressions/templates.js";
import { renderRequest } from "../../../actors/hooks/delivery/render-request.js";
import type { HookFields } from "../../../actors/hooks/hook.js";
import { hookKind } from "../../../actors/hooks/hook.kind.js";
import { compileConditions } from "../../../actors/hooks/matching/conditions.js";
import { evaluateConditions } from "../../../actors/hooks/matching/lookup-keys.js";
import { MAX_MATCH_COST, toSubject } from "../../../actors/hooks/matching/match-hooks.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { WriteScope } from "../../../actors/resources/kind.js";
import { memoryRows } from "../../support/turn.js";

const kind = hookKind({ allowList: parseAllowList("receiver.test"), signsTokens: false });
const scope: WriteScope<HookFields> = {
  reading: memoryRows(),
  workspaceId: "ws_1",
  teamId: "team_1",
  teamKey: "core",
  station: null,
  previous: null,
  hidden: { "signing.secret": "sealed" },
  caller: { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" },
  now: 0,
  newId: (prefix) => `${prefix}_1`,
};
const work: WorkEvent = {
  on: "run.ended",
  occurrence: "occ_1",
  workspaceId: "ws_1",
  teamId: "team_1",
  lineId: "l",
  stationId: "s",
  task: {
    id: "task_1",
    title: "Do it",
    url: "",
    line: "dev",
    station: "Work",
    stationKey: "work",
    marks: { kind: "bug" },
    repositories: ["acme/app"],
    pullRequest: null,
  },
  run: { id: "run_1" },
  causes: [],
  event: { at: "", outcome: "completed" },
};

const piece = fc.constantFrom(
  ...[
    OPEN,
    CLOSE,
    "{",
    "}",
    "{{",
    "$",
    "$$",
    "'",
    '"',
    "'''",
    "\\",
    "r'",
    "//",
    "\n",
    " ",
    "\u0000",
    "\ud800",
    "é",
    "💥",
  ],
  ...[
    "event.at",
    "event.outcome",
    "evnt",
    "task.marks['kind']",
    "task",
    "run.id",
    "vars.level",
    "vars.none",
    "step.one",
  ],
  ...[
    "step.one.output",
    "secret.token",
    "hook.key",
    "1",
    "+",
    "==",
    "in",
    "[",
    "]",
    "(",
    ")",
    ".all(x, ",
    "?",
    ":",
    ",",
  ],
  ...["__proto__", "constructor", "toString", "https://receiver.test/", "%00", "@", "#", "\r\n", "a".repeat(300)],
);
const anything = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((parts) => parts.join("")),
  fc.array(piece, { maxLength: 6 }).map((parts) => `${OPEN} ${parts.join("")} ${CLOSE}`),
);
const written = fc.constantFrom(
  ...[`${OPEN} task ${CLOSE}`, `a ${OPEN} event.outcome ${CLOSE} b`, `${OPEN} {'a': {'b': '}}'}} ${CLOSE}`, "plain"],
  ...[`${OPEN} run.id ${CLOSE}${OPEN} 1 / 0 ${CLOSE}`, `${OPEN} task.marks.none ${CLOSE}`, "}} {{ $"],
);
/** Mostly valid parts, so that whole definitions are often valid. */
const text = fc.oneof({ weight: 9, arbitrary: written }, { weight: 1, arbitrary: anything });
const seldom = <Value>(often: Value, other: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 14, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: other });
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, 1, -0.5, 1e300),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(piece, fc.constant("a")), tie("value"), { maxKeys: 3 }),
  ),
})).value;
const step = fc.record({
  request: fc.record({
    url: seldom(
      "https://receiver.test/",
      text.map((rest) => `https://receiver.test/${rest}`),
    ),
    headers: fc.dictionary(seldom("x-a", fc.constantFrom("X-A", "host", "webhook-id", "__proto__", "a b")), text, {
      maxKeys: 2,
    }),
    body: json,
  }),
});
const definition = fc.record({
  key: fc.constant("tell"),
  on: fc.constant("run.ended"),
  when: fc.oneof(fc.constantFrom(null, "event.outcome == 'failed'", `${OPEN} run.id != '' ${CLOSE}`), anything),
  vars: fc.dictionary(seldom("level", fc.constantFrom("__proto__", "constructor", "1", "a-b")), text, { maxKeys: 2 }),
  match: fc.record({ lines: fc.array(seldom("dev", text), { maxLength: 2 }) }),
  steps: fc
    .array(step, { minLength: 1, maxLength: 3 })
    .map((steps) => steps.map((each, index) => ({ ...each, name: `step-${index}` }))),
  signing: fc.constant({ secretVersion: 1 }),
});

t.test("no definition makes a write, its matching or a request throw", async (t) => {
  const seen = { refused: 0, faulty: 0, written: 0, unwritable: 0 };
  const follow = (given: unknown): boolean => {
    const parsed = kind.schema.safeParse(given);
    if (!parsed.success) {
      seen.refused += 1;
      return parsed.error.issues.every(({ message }) => message !== "");
    }
    const errors = kind.validate?.(parsed.data, scope) ?? [];
    const { steps } = parsed.data;
    const verdict = evaluateConditions(compileConditions(parsed.data), toSubject(work), { units: MAX_MATCH_COST });
    const names = { ...toSubject(work).values(), vars: new Map(), hook: new Map([["key", "tell"]]), step: new Map() };
    const rendered = steps.map(({ request }) => (request === null ? null : renderRequest(request, () => names)));
    if (errors.length > 0) seen.faulty += 1;
    else seen.written += 1;
    if (rendered.some((each) => each !== null && "error" in each)) seen.unwritable += 1;
    return (
      verdict !== "undecided" &&
      errors.every(({ path, message }) => typeof path === "string" && message !== "") &&
      rendered.every((each) => each === null || "error" in each || each.url instanceof URL)
    );
  };
  fc.assert(fc.property(definition, follow), { numRuns: 3_000 });
  t.ok(Math.min(...Object.values(seen)) > 20, `all of it happened: ${JSON.stringify(seen)}`);
});

t.test("a template is parsed into its parts, with any content", async () => {
  fc.assert(
    fc.property(text, (given) => {
      const read = readTemplate(given);
      if ("fault" in read) return given.includes(OPEN) && read.fault.span !== null && read.fault.message !== "";
      const again = read.template.map((part) => (typeof part === "string" ? part : `${OPEN}${part.source}${CLOSE}`));
      const areInPlace = read.template.every(
        (part) => typeof part === "string" || given.startsWith(part.source, part.start),
      );
      return again.join("") === given && areInPlace;
    }),
    { numRuns: 10_000 },
  );
});
