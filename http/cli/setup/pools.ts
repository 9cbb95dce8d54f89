import { randomBytes } from "node:crypto";
import { listAll, type Schema } from "../../client/entry.js";
import { confirm } from "../command/ask.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { showList } from "../command/list-limit.js";
import { findDevService } from "../command/logins.js";
import { withAdviceIfLost } from "../command/lost-response.js";
import type { NamedWorkspace } from "../command/names.js";
import { pickResource } from "../command/pick-resource.js";
import { toTable } from "../command/table.js";
import { DEV_POOL } from "./make-objects.js";
import type { WorkspaceOption } from "./tokens.js";

type Pool = Schema<"RunnerPool">;
type Runner = Schema<"Runner">;

export interface RotateOptions extends WorkspaceOption {
  readonly yes?: true;
}

/** Length of a new pool token, in bytes. */
const TOKEN_BYTES = 32;

/** Lists the runner pools of a workspace, each with the number of connected runners and their slots. */
export async function listPools(context: Context, options: WorkspaceOption): Promise<void> {
  const { names, terminal } = context;
  const workspace = await names.workspace(options.workspace);
  const [pools, runners] = await Promise.all([readPools(context, workspace), readRunners(context, workspace)]);
  const items = pools.map((pool) => {
    const own = runners.filter((runner) => runner.pool === pool.key && runner.connected);
    const [slots, free] = [own.map((runner) => runner.slots), own.map((runner) => runner.free)];
    return { ...pool, runners: { connected: own.length, slots: total(slots), free: total(free) } };
  });
  showList(
    context,
    { items, hasMore: false },
    {
      none: `the workspace ${workspace.slug} has no runner pools: signalbox init creates one`,
      toLines: () =>
        toTable(
          terminal,
          [
            { title: "pool", of: ({ key }) => key },
            { title: "kind", of: ({ kind }) => kind, isMinor: true },
            { title: "runners", of: ({ runners: { connected } }) => connected },
            { title: "free slots", of: ({ runners: { free, slots } }) => `${free} of ${slots}` },
            { title: "max runs", of: ({ concurrency }) => concurrency, isMinor: true },
            { title: "labels", of: ({ labels }) => labels.join(", "), isFlexible: true },
            { title: "id", of: ({ id }) => id },
          ],
          items,
        ),
    },
  );
}

/**
 * Replaces the token of a pool. Asks for confirmation, unless `--yes` is given. Without `--json`, prints only the new
 * token to standard output.
 */
export async function rotatePool(
  context: Context,
  { yes, ...options }: RotateOptions,
  name: string,
): Promise<ExitCode | undefined> {
  const { client, names, signal, terminal } = context;
  const workspace = await names.workspace(options.workspace);
  const what = {
    what: "runner pool",
    where: `the workspace ${workspace.slug}`,
    key: ({ key }: Pool) => key,
    ifNone: "signalbox init creates one",
  };
  const pool = pickResource(what, await readPools(context, workspace), name);
  const { id, version, key, kind, labels, concurrency, push } = pool;
  if (kind !== "pull") {
    throw new CommandError(
      `the pool ${key} has no token: it is a push pool, whose requests are signed with the secret ${push?.secret ?? ""}`,
    );
  }
  const question = `Replace the token of the pool ${key} of ${workspace.slug}? The old one stops working at once.`;
  if (!(await confirm(terminal, question, { isGiven: yes === true, signal }))) {
    terminal.note("the token was not replaced");
    return exitCodes.failed;
  }
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const body = { key, kind, labels, concurrency, push, token };
  const changed = await withAdviceIfLost(
    client.put("/api/resources/runner-pools/{id}", { path: { id }, version, body, signal: null }),
    `the token of the pool ${key} may be replaced: run signalbox pool rotate ${key} again`,
  );
  const ifLost = `the token of the pool ${key} was replaced, but the new one is lost: run signalbox pool rotate ${key} again`;
  context.show({ ...changed, token }, () => [token], ifLost);
  terminal.note(
    `replaced the token of the pool ${key} of ${workspace.slug}: restart its runners with SIGNALBOX_POOL_TOKEN=<new token>; it is not shown again`,
  );
  if (key === DEV_POOL && findDevService(terminal) === context.login.url) {
    terminal.note("the runner of signalbox dev also stops working: the next start of signalbox dev restores its token");
  }
  return undefined;
}

async function readPools({ client }: Context, { id: workspaceId }: NamedWorkspace): Promise<readonly Pool[]> {
  return (await client.get("/api/resources/workspaces/{workspaceId}/runner-pools", { path: { workspaceId } })).items;
}

async function readRunners({ client }: Context, { slug }: NamedWorkspace): Promise<readonly Runner[]> {
  const runners: Runner[] = [];
  const all = listAll(client, "/api/workspaces/{slug}/runners", "after", { path: { slug }, query: { limit: 200 } });
  for await (const runner of all) runners.push(runner);
  return runners;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
