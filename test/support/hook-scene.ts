import type { Clock } from "../../runtime/clock.js";
import { type Answering, type HookReceiver, hookReceiver, hookSecret } from "./hook-receiver.js";
import { createUnder, workspaceWithTeam } from "./resources.js";
import { type Cleaning, type Client, startTestService, type TestService } from "./service.js";
import { until } from "./until.js";

/** Answers every request with an empty object. */
export const ok: Answering = (response) => response.end("{}");

/** A hook occurrence as the history returns it. */
export interface Firing {
  readonly id: string;
  readonly state: string;
  readonly code: string | null;
  readonly hook: string;
  readonly waits: { readonly since: string; readonly reason: string } | null;
  readonly attempts: readonly {
    readonly status: number | null;
    readonly code: string | null;
    readonly body: string;
    readonly requestHeaders: Record<string, string>;
  }[];
}

export interface HookScene {
  readonly service: TestService;
  readonly owner: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly receiver: HookReceiver;
  readonly openTask: () => Promise<string>;
  readonly firings: () => Promise<readonly Firing[]>;
  /** Resolves with the newest hook occurrence that is in one of these states, once there is one. */
  readonly settled: (...states: string[]) => Promise<Firing>;
  /** Creates a hook; returns its id. */
  readonly addHook: (hook: Record<string, unknown>) => Promise<string>;
}

/** Opens a service with a team, a line of two stations, and a receiver that its hooks may reach. */
export async function hookScene(
  t: Cleaning,
  answer: Answering,
  settings: {
    readonly allow?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly clock?: Clock;
  } = {},
): Promise<HookScene> {
  const receiver = await hookReceiver(t, answer);
  const service = await startTestService(t, {
    settings: { OUTBOUND_ALLOW: `${receiver.url},${settings.allow ?? ""}`, ...settings.environment },
    ...(settings.clock === undefined ? {} : { clock: settings.clock }),
  });
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [
      { key: "work", name: "Work", kind: "work", passesTo: ["review"] },
      { key: "review", name: "Review", kind: "review" },
    ],
  });
  const history = `/api/teams/${teamId}/hook-occurrences?limit=200`;
  const firings = async () => ((await owner.request("GET", history)).body?.items ?? []) as readonly Firing[];
  return {
    service,
    owner,
    workspaceId,
    teamId,
    receiver,
    firings,
    openTask: async () => {
      const opened = await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
      return String(opened.body?.id);
    },
    settled: (...states) =>
      until(`a firing that is ${states.join(" or ")}`, async () =>
        (await firings()).find(({ state }) => states.includes(state)),
      ),
    addHook: async (hook) => {
      const made = await createUnder(owner, `/api/resources/teams/${teamId}/hooks`, hook, `hook-${hook.key}`);
      if (made.status !== 201) throw new Error(made.text);
      return String(made.body?.id);
    },
  };
}

/** Returns a hook that sends one request whenever a task opens. */
export const hook = (url: string, more: Record<string, unknown> = {}) => ({
  key: "tell",
  on: "task.opened",
  steps: [{ name: "tell", request: { url } }],
  signing: { secret: hookSecret, secretVersion: 1 },
  ...more,
});
