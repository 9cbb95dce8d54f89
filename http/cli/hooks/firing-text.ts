import { MAX_ATTEMPTS } from "../../../actors/outbound/http/retry-wait.js";
import { type Colour, toLine, toLines } from "../command/printable.js";
import { toFields } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";
import { toCurl } from "./attempt-curl.js";
import type { Firing } from "./hook-names.js";

const COLOURS: Readonly<Record<Firing["state"], Colour>> = {
  attempting: "blue",
  waiting: "yellow",
  delivered: "green",
  failed: "red",
  refused: "yellow",
};

/** Says in one sentence how a firing went so far. */
export function toSentence(terminal: Terminal, firing: Firing): string {
  const { hook, state, reason, refused, attempts, retryAt, waits } = firing;
  const last = attempts.at(-1);
  const answer = last?.status === null || last === undefined ? "" : `, the receiver answered ${last.status}`;
  if (state === "delivered") return `${hook}: delivered${answer}`;
  if (state === "failed") return toLine(`${hook}: failed, ${reason ?? firing.code ?? "for an unknown reason"}`);
  if (state === "refused") return toLine(`${hook}: ${refused ?? "refused"}`);
  if (state === "attempting") return toLine(`${hook}: in progress${waits === null ? "" : `, ${waits.reason}`}`);
  const why = last?.reason ?? last?.code ?? "it failed";
  return toLine(
    `${hook}: attempt ${attempts.length} of ${MAX_ATTEMPTS} failed, ${why}; next ${toTimeText(terminal, retryAt) ?? "unknown"}`,
  );
}

/** Shows a firing with every attempt: its request, and the receiver's answer. */
export function describeFiring(terminal: Terminal, firing: Firing): readonly string[] {
  const { id, hook, on, occurrence, taskId, runId, firedAt, endedAt, resends, resentAs, state, test } = firing;
  const fields: readonly (readonly [string, string | null])[] = [
    ["firing", id],
    ["hook", hook],
    ["event", `${on} ${occurrence}${test ? " (a test)" : ""}`],
    ["task", taskId],
    ["run", runId],
    ["fired", toTimeText(terminal, firedAt)],
    ["ended", toTimeText(terminal, endedAt)],
    ["resends", resends],
    ["resent as", resentAs],
  ];
  return [
    terminal.paint(COLOURS[state], toSentence(terminal, firing)),
    ...toFields(
      terminal,
      fields.filter(([, value]) => value !== null),
    ),
    ...firing.attempts.flatMap((attempt) => describeAttempt(terminal, attempt)),
  ];
}

function describeAttempt(terminal: Terminal, attempt: Firing["attempts"][number]): readonly string[] {
  const { n, step, at, tookMs, url, status, code, reason, requestBody, body } = attempt;
  const outcome = code === null ? `answered ${status ?? "nothing"}` : `${code}${reason === null ? "" : `: ${reason}`}`;
  return [
    "",
    terminal.paint("bold", toLine(`attempt ${n}, step ${step}, ${toTimeText(terminal, at)}, ${tookMs} ms: ${outcome}`)),
    ...(toCurl(attempt) ?? [...(url === null ? [] : [toLine(`to ${url}`)]), ...indent("sent", requestBody)]),
    ...indent("answer", body),
  ];
}

function indent(name: string, text: string | null): readonly string[] {
  return text === null || text === ""
    ? []
    : [
        `${name}:`,
        ...toLines(text)
          .split("\n")
          .map((line) => `  ${line}`),
      ];
}
