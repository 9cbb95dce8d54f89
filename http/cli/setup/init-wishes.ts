import type { z } from "zod";
import { repositoryName, slug } from "../../../actors/resources/fields.js";
import { ask } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { askGitOrNull } from "../command/git.js";
import { toLine } from "../command/printable.js";
import { parseStationKeys } from "../command/station-keys.js";

/** The options of `init`. `--team` is `<workspace>/<team>`. */
export interface InitOptions extends CommonOptions {
  readonly repository?: readonly string[];
  readonly line?: string;
  readonly stations?: string;
  readonly pool?: string;
}

/** The objects to set up. All their keys are valid. */
export interface InitWishes {
  readonly workspace: string;
  readonly team: string;
  readonly repositories: readonly string[];
  readonly line: string;
  readonly stations: readonly string[];
  readonly pool: string;
}

const DEFAULTS = { team: "core", line: "main", stations: "work,review", pool: "main" };

/**
 * Reads the wishes from the options. If a required option is missing, asks in a terminal for every omitted value.
 * Without a terminal, throws a {@link CommandError} that names the missing options.
 */
export async function readWishes(context: Context, options: InitOptions): Promise<InitWishes> {
  const { repository: repositories = [], team: given = "" } = options;
  const slash = given.indexOf("/");
  const workspace = slash === -1 ? undefined : given.slice(0, slash);
  const team = given === "" ? undefined : given.slice(slash + 1);
  const missing = [
    ...(workspace === undefined ? ["--team <workspace>/<team>"] : []),
    ...(repositories.length === 0 ? ["--repository <owner/name>"] : []),
  ];
  const isAsking = missing.length > 0;
  if (isAsking && context.terminal.ask === null) {
    throw new CommandError(`standard input is not a terminal: pass ${missing.join(" and ")}`, exitCodes.usage);
  }
  const read = (what: string, value: string | undefined, usual: string, parse: Parse<string>): Promise<string> =>
    value === undefined && isAsking
      ? askUntilValid(context, what, usual, parse)
      : Promise.resolve(parse(value ?? usual));
  return {
    workspace: await read("Workspace", workspace, await findWorkspace(context, isAsking), parser("--team", slug)),
    team: await read("Team", team, DEFAULTS.team, parser("--team", slug)),
    repositories:
      repositories.length === 0
        ? [
            await read(
              "Repository (owner/name)",
              undefined,
              findRepository(context),
              parser("--repository", repositoryName),
            ),
          ]
        : repositories.map(parser("--repository", repositoryName)),
    line: await read("Line", options.line, DEFAULTS.line, parser("--line", slug)),
    stations: parseStationKeys(
      await read("Stations, separated by commas", options.stations, DEFAULTS.stations, (text) =>
        parseStationKeys(text).join(),
      ),
    ),
    pool: await read("Runner pool", options.pool, DEFAULTS.pool, parser("--pool", slug)),
  };
}

/** Returns the parsed value, or throws a {@link CommandError} that says what is wrong. */
type Parse<Value> = (text: string) => Value;

function parser(flag: string, schema: z.ZodType<string>): Parse<string> {
  return (text) => {
    const parsed = schema.safeParse(text.trim());
    if (parsed.success) return parsed.data;
    const [first] = parsed.error.issues;
    throw new CommandError(`${flag}: "${toLine(text)}" ${first?.message}`, exitCodes.usage);
  };
}

/** Asks until the answer is valid. An empty answer takes the default, if there is one. */
async function askUntilValid(
  { terminal, signal }: Context,
  what: string,
  usual: string,
  parse: Parse<string>,
): Promise<string> {
  for (;;) {
    const question = usual === "" ? `${what}:` : `${what} [${toLine(usual)}]:`;
    const answer = await ask(terminal, question, { instead: "the options", signal });
    try {
      return parse(answer === "" ? usual : answer);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      terminal.note(error.message.replace(/^--\w+: /, ""));
    }
  }
}

/**
 * Returns the default answer for the workspace question: the slug of the folder's default workspace, or of the person's
 * only workspace. Empty if there is none, or if no question is asked.
 */
async function findWorkspace({ defaults, names }: Context, isAsking: boolean): Promise<string> {
  if (!isAsking) return "";
  const [only, second] = await names.workspaces();
  return defaults.workspace ?? (second === undefined ? (only?.slug ?? "") : "");
}

/**
 * Returns the default answer for the repository question: the repository of the folder's checkout; empty if it is not
 * known.
 */
function findRepository({ terminal }: Context): string {
  try {
    const address = askGitOrNull(terminal.folder, "remote", "get-url", "origin") ?? "";
    const [, name = ""] = /[/:]([^/:]+\/[^/]+?)(\.git)?\/?$/.exec(address) ?? [];
    return repositoryName.safeParse(name).success ? name : "";
  } catch (error) {
    // If git is not installed, the repository is not known.
    if (error instanceof CommandError) return "";
    throw error;
  }
}
