import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { toJson, toLine, toLines } from "../command/printable.js";
import { readInput } from "../command/read-input.js";
import type { Terminal } from "../command/terminal.js";
import { findIntegration, type IntegrationOption } from "./delivery-names.js";
import { isUnsuccessful } from "./delivery-states.js";

type Try = Schema<"DeliveryTry">;

interface TryOptions extends IntegrationOption {
  /** The headers, by lowercase name. */
  readonly header?: Readonly<Record<string, string>>;
}

/** Shows what a delivery with this body would do, and why. Nothing is stored or sent. */
export async function tryDelivery(
  context: Context,
  { header = {}, integration: name }: TryOptions,
  file: string | undefined,
): Promise<ExitCode> {
  const { team, integration } = await findIntegration(context, name);
  const body = await readBody(context, file);
  const result = await context.client.post("/api/integrations/{integrationId}/deliveries/try", {
    path: { integrationId: integration.id },
    body: { headers: header, body },
    signal: context.signal,
  });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  context.show(result, () => describeTry(context.terminal, result));
  return isUnsuccessful(result.state) ? exitCodes.failed : exitCodes.done;
}

async function readBody({ terminal }: Context, file: string | undefined): Promise<string> {
  if (file !== undefined || terminal.ask === null) return await readInput(terminal, file ?? "-");
  throw new CommandError("give a file with the body, or - for standard input", exitCodes.usage);
}

function describeTry(terminal: Terminal, result: Try): readonly string[] {
  const { isVerified, fault, response, responseProblem, key, keyProblem, mineProblem, state, reason } = result;
  const verified = isVerified ? "the delivery would be accepted" : `the delivery would be rejected (${fault})`;
  if (response !== null) {
    return [`${verified}: the response is ${toLine(toJson(response.body))}`];
  }
  return [
    terminal.paint(isVerified ? "green" : "yellow", verified),
    ...[
      key === null ? null : `key: ${key}`,
      keyProblem === null ? null : `no key: ${keyProblem}`,
      responseProblem === null ? null : `respond: ${responseProblem}`,
      mineProblem === null ? null : `mine: ${mineProblem}`,
      `${state}${reason === null ? "" : `: ${reason}`}`,
    ].flatMap((line) => (line === null ? [] : [toLine(line)])),
    ...result.entries.flatMap((entry) => describeEntry(terminal, entry)),
    ...(result.isCut ? ["there are more entries, which are not shown"] : []),
  ];
}

function describeEntry(terminal: Terminal, entry: Try["entries"][number]): readonly string[] {
  const { event, item, raise, outcome, taskId, reason } = entry;
  const place = `event ${event}${item === null ? "" : `, entry ${item}`}`;
  const why = reason === null ? "" : ` (${reason})`;
  if (raise === null) return ["", toLine(`${place}: raises nothing${why}`)];
  const { opens, say, branch, marks, channel, files } = raise;
  const details: readonly (readonly [string, string | null])[] = [
    ["title", opens?.title ?? null],
    ["line", opens === null ? null : `${opens.lineId}${opens.station === null ? "" : `, station ${opens.station}`}`],
    ["assignee", opens?.assigneeEmail ?? null],
    ["says", say === "" ? null : say],
    ["branch", branch],
    ["marks", marks.length === 0 ? null : marks.map(({ kind, value }) => `${kind} ${value}`).join(", ")],
    ["channel", channel],
    ["files", files.length === 0 ? null : files.join(", ")],
  ];
  return [
    "",
    terminal.paint(
      "bold",
      toLine(`${place}: ${outcome ?? "raises nothing"}${taskId === null ? "" : ` ${taskId}`}${why}`),
    ),
    ...details.flatMap(([name, value]) =>
      value === null ? [] : [`  ${name}: ${toLines(value).replaceAll("\n", "\n    ")}`],
    ),
  ];
}
