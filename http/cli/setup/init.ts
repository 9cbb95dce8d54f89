import type { Context } from "../command/context.js";
import { toFields } from "../command/table.js";
import { type InitOptions, type InitWishes, readWishes } from "./init-wishes.js";
import { type MadeObjects, makeObjects, toName } from "./make-objects.js";

export type { InitOptions };

/** Sets up a workspace, a team, a runner pool and a line, and says what to do next. */
export async function init(context: Context, options: InitOptions): Promise<void> {
  const { login, terminal } = context;
  const wishes = await readWishes(context, options);
  const made = await make(context, wishes);
  const { workspace, team, pool, line } = made;
  context.remember({ workspace: workspace.slug, team: team.key, line: wishes.line });
  if (line !== null) noteDifferences(context, options, wishes, line);
  const next = {
    runner: `SIGNALBOX_POOL_TOKEN=${pool.token ?? "<token of the pool>"} signalbox runner --url ${login.url} --command <program>`,
    task: 'signalbox task open "The tests fail" --follow',
  };
  const keys = line?.stations.map(({ key }) => key) ?? [];
  const shown = {
    workspace: { id: workspace.id, slug: workspace.slug, isNew: workspace.isNew },
    team: { id: team.id, key: team.key, isNew: team.isNew },
    pool,
    line: line === null ? null : { id: line.id, key: line.key, stations: keys, isNew: line.isNew },
    next,
  };
  context.show(shown, () =>
    toFields(terminal, [
      ["workspace", describe(workspace.slug, workspace)],
      ["team", describe(team.key, team)],
      ["runner pool", describe(pool.key, pool)],
      ["line", line === null ? null : describe(`${line.key} (${keys.join(", ")})`, line)],
      ["next", `start a runner on any machine: ${next.runner}`],
      ["then", next.task],
    ]),
  );
  if (pool.token !== null) terminal.note("The token of the pool is not shown again.");
}

async function make({ client, terminal }: Context, wishes: InitWishes): Promise<MadeObjects> {
  const { workspace, team, pool, line, repositories, stations } = wishes;
  let token: string | null = null;
  const wanted = {
    workspace: { slug: workspace, name: toName(workspace) },
    team: { key: team, name: toName(team) },
    pool: { key: pool },
    line: { key: line, name: toName(line), repositories, stations },
    takesOthers: false,
  };
  try {
    return await makeObjects(client, wanted, (made) => {
      token = made.token;
    });
  } catch (error) {
    if (token !== null) terminal.note(`created the runner pool ${pool}; its token, which is not shown again: ${token}`);
    throw error;
  }
}

/** Says which options have no effect because the line already existed. */
function noteDifferences(
  { terminal }: Context,
  { stations, repository }: InitOptions,
  wishes: InitWishes,
  line: NonNullable<MadeObjects["line"]>,
): void {
  const there = {
    "--stations": line.stations.map(({ key }) => key),
    "--repository": line.repositories.map(({ name }) => name),
  };
  const given = {
    "--stations": stations === undefined ? there["--stations"] : wishes.stations,
    "--repository": repository === undefined ? there["--repository"] : wishes.repositories,
  };
  for (const flag of ["--stations", "--repository"] as const) {
    if (there[flag].join() === given[flag].join()) continue;
    terminal.note(`${flag} has no effect: the line ${line.key} already has ${there[flag].join(", ")}`);
  }
}

function describe(name: string, { isNew }: { readonly isNew: boolean }): string {
  return `${name} (${isNew ? "created" : "exists"})`;
}
