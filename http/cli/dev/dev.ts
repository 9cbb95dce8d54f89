import { confirm } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { toLine } from "../command/printable.js";
import { parseStationKeys } from "../command/station-keys.js";
import { toFields } from "../command/table.js";
import { toAgent } from "./agent.js";
import { type Checkout, countUncommitted, exclude, findCheckout } from "./checkout.js";
import { claim, refuseBrought } from "./claim.js";
import { type DevPlaces, removeAll, toPlaces } from "./dev-folder.js";
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

/**
 * Starts a service and a runner for the repository of this folder, prints where they are, and runs until the person
 * interrupts it.
 */
export async function dev(context: Context, options: DevOptions, words: readonly string[]): Promise<void> {
  const { terminal, signal } = context;
  const stations = parseStationKeys(options.stations ?? "work,review");
  const agent = toAgent(terminal.folder, [...(options.command ?? []), ...words]);
  const checkout = findCheckout(terminal.folder);
  const places = toPlaces(terminal, checkout.top);
  const settings = readSettings(terminal, { dataFolder: places.data, port: options.port });
  refuseBrought(places, checkout.top);
  if (options.reset === true) await reset(context, places, options.yes === true);
  claim(places, checkout.top);
  exclude(checkout.top);
  warnOfUncommitted(context, checkout);
  const running = await explained(
    start({ terminal, signal, checkout, places, settings, agent, stations, passEnv: options.passEnv ?? [] }),
  );
  await runUntilInterrupted(running, context, () => {
    const { url, link } = running;
    const next = 'signalbox task open "The tests fail" --follow';
    if (options.stations !== undefined) noteOtherStations(context, running.stations, stations);
    context.show({ url, link, agent: agent.command, next, log: places.log }, () =>
      toFields(terminal, [
        ["service", `${link} (the link works once)`],
        ["agent", agent.title],
        ["next", `in another terminal: ${next}`],
        ["log", places.log],
      ]),
    );
  });
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

async function reset({ terminal, signal }: Context, places: DevPlaces, isGiven: boolean): Promise<void> {
  const question = `Remove all tasks, runs and settings in ${places.folder}?`;
  if (!(await confirm(terminal, question, { isGiven, signal }))) throw new CommandError("nothing was removed");
  await explained(removeAll(places));
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
