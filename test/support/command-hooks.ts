import type { Test } from "tap";
import { type CommandScene, openCommandScene } from "./command-cases.js";
import { type Answering, type HookReceiver, hookReceiver } from "./hook-receiver.js";
import { hook, ok } from "./hook-scene.js";
import { listItems } from "./resources.js";
import { until } from "./until.js";

/** A scene of the command line with hooks. */
export interface CommandHookScene extends CommandScene {
  /** The receiver of the team's hooks. */
  readonly receiver: HookReceiver;
  readonly addHook: (fields: Record<string, unknown>) => Promise<string>;
  /** Opens a task. Resolves with the task's id when one of the task's hook firings has the state `state`. */
  readonly openTask: (state?: string) => Promise<string>;
}

/** Opens a scene with a receiver of hooks, and a line `dev` of two stations. */
export async function openCommandHookScene(t: Test, answer: Answering = ok): Promise<CommandHookScene> {
  const receiver = await hookReceiver(t, answer);
  const scene = await openCommandScene(t, { OUTBOUND_ALLOW: receiver.url });
  const { person, teamId } = scene;
  await person.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [
      { key: "work", name: "Work", kind: "work", passesTo: ["review"] },
      { key: "review", name: "Review", kind: "review" },
    ],
  });
  return {
    ...scene,
    receiver,
    addHook: async (fields) =>
      (await person.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url, fields))).id,
    openTask: async (state = "delivered") => {
      const { body } = await person.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
      const path = `/api/teams/${teamId}/hook-occurrences?state=${state}`;
      await until(`a firing is ${state}`, async () =>
        listItems(await person.request("GET", path)).some(({ taskId }) => taskId === body?.id),
      );
      return String(body?.id);
    },
  };
}
