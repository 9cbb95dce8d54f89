import t, { type Test } from "tap";
import { type DocsScene, openDocsScene } from "../support/docs-scene.js";

const LINE = "@@ -1 +1,2 @@\n A project.\n+More.\n";
const DIFF = `diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n${LINE}`;

/** An agent's action after a command of the page, and the state of the task after that action. */
interface Act {
  readonly state: string;
  act(): Promise<void> | void;
}

/**
 * Returns the actions of the agents on the page's first task. Each key is the last command of a block, and the action
 * follows this command.
 */
async function playAgents(place: DocsScene): Promise<Readonly<Record<string, Act>>> {
  const peer = await place.runner({ slots: 100 });
  let job = await Promise.resolve({ runId: "", fence: 0 });
  let asked = 0;
  const start = async () => {
    job = await peer.job();
    peer.start(job);
  };
  const askPermission = () =>
    peer.askPermission(job, { id: `${++asked}`, tool: "shell", inputs: '{"command":"npm install"}' });
  const failure = { code: "harness-failed", message: "the agent exited with 1", output: "" } as const;
  return {
    "task open": {
      state: "running",
      act: async () => {
        await start();
        peer.step(job, 0);
      },
    },
    "task note": {
      state: "inbox",
      act: () => peer.end(job, { ending: { kind: "ask", question: "The parser or the tests?" } }),
    },
    "task answer": {
      state: "inbox",
      act: async () => {
        await start();
        askPermission();
      },
    },
    "run approve": { state: "inbox", act: askPermission },
    "run edit": { state: "inbox", act: askPermission },
    "run dismiss": { state: "inbox", act: () => peer.end(job, { outcome: "failed", failure }) },
    "task retry": { state: "running", act: start },
    "task stop": {
      state: "inbox",
      act: async () => {
        await peer.message("run.stop");
        peer.end(job, { outcome: "stopped" });
      },
    },
    "task close": {
      state: "closed",
      act: async () => {
        // Get the run that started when the task was moved.
        job = await peer.job();
      },
    },
    // This action starts before its block. The agents work on the whole task while the block runs.
    "run diff": {
      state: "done",
      act: async () => {
        await start();
        const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff: DIFF }];
        const refused = await peer.askHandover(job, "review");
        if (refused !== null) throw new Error(refused);
        peer.end(job, { ending: { kind: "handover", to: "review", note: "" }, checkouts });
        await start();
        peer.end(job, { checkouts });
      },
    },
  };
}

/** Follows the page and plays its agents. Returns what each block printed; each key is the last command of a block. */
async function followPage(t: Test, place: DocsScene): Promise<Readonly<Record<string, string>>> {
  const { reader, ada, teamId, values } = place;
  const acts = await playAgents(place);
  const shown: Record<string, string> = {};
  const lastCommand = (code: string) => [...code.matchAll(/^signalbox (\w+(?: \w+)?)/gm)].at(-1)?.[1] ?? "";
  const reach = async (state: string) => {
    const tasks = (await ada.request("GET", `/api/teams/${teamId}/tasks?limit=1`)).body?.items as [
      { readonly id: string },
    ];
    const [{ id }] = tasks;
    await place.when(`task/${id}`, async () => {
      const task = await place.task(id);
      const waits = (task.approvals as readonly unknown[]).length > 0 || task.asks !== null;
      return task.state === state && (state !== "inbox" || waits);
    });
  };
  let working: Promise<unknown> = Promise.resolve();
  await reader.follow("docs/tasks.md", {
    values,
    before: ({ code }) => {
      if (lastCommand(code) === "run diff") working = Promise.resolve(acts["run diff"]?.act());
    },
    after: async ({ code }, { out, err }) => {
      const command = lastCommand(code);
      shown[command] ??= out + err;
      const next = command === "run diff" || code.includes("--review-branch") ? undefined : acts[command];
      if (next === undefined) return;
      await next.act();
      await reach(next.state);
    },
  });
  await working;
  t.same(
    Object.keys(acts).filter((command) => shown[command] === undefined),
    [],
    "the page has each command",
  );
  return shown;
}

t.test("the page leads from an opened task over questions and approvals to its end", async (t) => {
  const place = await openDocsScene(t);
  const shown = await followPage(t, place);
  const says = (command: string, wanted: RegExp) => t.match(shown[command] ?? "", wanted, command);
  says("run logs", /^TASK .* running .*The tests fail.*Two tests of the parser.*step 0/s);
  says("task answer", /question .* The parser or the tests\?\nanswered: The tests fail/);
  says("run approve", /approved shell \{"command":"npm install"\}/);
  says("run edit", /approved shell \{"command":"npm ci"\}/);
  says("run dismiss", /dismissed shell/);
  says("task close", /moved to review.*assigned to nobody.*assigned to ada.*closed/s);
  says("run diff", /opened at core\/main, station work: Rename the module\n.*done\n.*\+More\./s);
  const { items } = (await place.ada.request("GET", "/api/workspaces/acme/search?q=nightly")).body as {
    readonly items: readonly { readonly id: string }[];
  };
  t.match(await place.task(items[0]?.id ?? ""), {
    state: "closed",
    assignee: null,
    openedBy: { kind: "token", name: "nightly" },
  });
});
