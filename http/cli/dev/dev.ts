import { confirm } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import { devLoginSchema } from "../command/logins.js";
import { toLine } from "../command/printable.js";
import { readPrivateFile } from "../command/private-file.js";
import { parseStationKeys } from "../command/station-keys.js";
import { toFields } from "../command/table.js";
import { toAgent } from "./agent.js";
import { type Checkout, countUncommitted, exclude, findCheckout } from "./checkout.js";
import { claim, refuseBrought } from "./claim.js";
import { type DevPlaces, readLastPort, readState, removeAll, toPlaces } from "./dev-folder.js";
import { readSettings } from "./dev-settings.js";
import { runUntilInterrupted } from "./drain.js";
import { explained } from "./explained.js";
import { start } from "./start.js";

export interface DevOptions extends CommonOptions {
  readonly command?: readonly string[];
  readonly port?: string;
  readonly stations?: string;
  readonly passEnv?: readonly string[];
  readonly reset?: true;
  readonly yes?: true;
}

const NEXT = 'signalbox task open "The tests fail" --follow';

/**
 * Starts a service and a runner for the repository of this folder, prints their address, agent and log, and runs until
 * the person interrupts the command.
 */
export async function dev(
  context: Context,
  options: DevOptions,
  words: readonly string[],
): Promise<ExitCode | undefined> {
  const { terminal, signal } = context;
  const stations = parseStationKeys(options.stations ?? "work,review");
  const checkout = findCheckout(terminal.folder);
  const agent = await toAgent({ folder: terminal.folder, top: checkout.top }, [...(options.command ?? []), ...words]);
  const places = toPlaces(terminal, checkout.top);
  const settings = readSettings(terminal, { dataFolder: places.data, port: options.port });
  refuseBrought(places, checkout.top);
  const lastPort = readLastPort(places);
  if (options.reset === true && !(await reset(context, places, options.yes === true))) return exitCodes.failed;
  claim(places, checkout.top);
  exclude(checkout.top);
  warnOfUncommitted(context, checkout);
  const lastAgent = readState(places)?.agent;
  const passEnv = options.passEnv ?? [];
  const running = await explained(
    start({ terminal, signal, checkout, places, settings, agent, stations, passEnv, lastPort }),
    { isPortOption: options.port !== undefined, toInUse: () => toInUse(places, `in another terminal: ${NEXT}`) },
  );
  await runUntilInterrupted(running, context, () => {
    const { url, link } = running;
    if (options.stations !== undefined) noteOtherStations(context, running.stations, stations);
    if (agent.isExample && lastAgent !== undefined) terminal.note(`last time with --command: ${lastAgent.join(" ")}`);
    context.show({ url, link, agent: agent.command, next: NEXT, log: places.log }, () =>
      toFields(terminal, [
        ["address", `${link} (signs you in once; then ${url})`],
        ["agent", agent.title],
        ["next", `in another terminal: ${NEXT}`],
        ["log", places.log],
      ]),
    );
  });
  return undefined;
}

/**
 * Returns the message that `signalbox dev` already runs for this checkout. Returns null if the running `signalbox dev`
 * is still starting and has no sign-in yet.
 */
function toInUse({ login }: DevPlaces, advice: string): string | null {
  const running = readPrivateFile(login, devLoginSchema);
  return running === null ? null : `signalbox dev already runs here, at ${running.url}\n${advice}`;
}

/** Says that `--stations` has no effect, unless the line has exactly the wanted stations. */
function noteOtherStations({ terminal }: Context, there: readonly string[] | null, wanted: readonly string[]): void {
  if (there?.join() === wanted.join()) return;
  const why =
    there === null
      ? "the workspace already has other lines"
      : `the line main already has the stations ${there.join(", ")}`;
  terminal.note(`--stations has no effect: ${why}; change lines in the service, or use --reset`);
}

/**
 * Asks for confirmation and, if the person confirms, removes everything that `signalbox dev` has made. Returns whether
 * the person confirmed.
 */
async function reset({ terminal, signal }: Context, places: DevPlaces, isGiven: boolean): Promise<boolean> {
  const question = `Remove all tasks, runs and settings in ${places.folder}?`;
  const isConfirmed = await confirm(terminal, question, { isGiven, signal });
  if (isConfirmed) await explained(removeAll(places), { toInUse: () => toInUse(places, "stop it first: Ctrl+C") });
  else terminal.note("nothing was removed");
  return isConfirmed;
}

function warnOfUncommitted({ terminal }: Context, { top, branch }: Checkout): void {
  const count = countUncommitted(top);
  if (count === 0) return;
  const files = count === 1 ? "1 file has" : `${count} files have`;
  terminal.note(
    `${terminal.paint("yellow", "warning:")} ${files} uncommitted changes: agents start from the last commit of ` +
      `${toLine(branch)}, without them`,
  );
}
