import t from "tap";
import { addAnswer, MAX_ANSWER_CHARACTERS } from "../../../actors/runs/run-answer.js";
import { getRunInput, runInputs } from "../../../actors/runs/run-input.table.js";
import { recountBlobs } from "../../../actors/tables/blob-recount.js";
import { storeText } from "../../../actors/tables/text-blobs.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const rows = memoryRows();
const stored = (text: string): string => storeText(rows, workspaceId, text) ?? "";
const told = (answer: Parameters<typeof addAnswer>[3]): string => addAnswer(rows, workspaceId, "Work well.", answer);

t.test("an answer follows the prompt: why it was sent back, and what was accepted", async (t) => {
  const accepted = [
    { repository: "acme/app", digest: stored("+one\n") },
    { repository: "acme/docs", digest: stored("+two") },
  ];
  t.equal(
    told({ note: stored("No title."), accepted }),
    `Work well.

# The answer

An earlier attempt was sent back:

\`\`\`
No title.
\`\`\`

The accepted change, including what the checkout already contains:

In acme/app:

\`\`\`diff
+one
\`\`\`

In acme/docs:

\`\`\`diff
+two
\`\`\`
`,
  );
  t.notMatch(told({ note: null, accepted }), /sent back/);
  t.notMatch(told({ note: stored("No title."), accepted: [] }), /accepted/);
});

t.test("no text closes its fence, and a long answer is cut and says so", async (t) => {
  const note = stored("```\n````\nout?");
  t.match(told({ note, accepted: [] }), /\n`{5}\n```\n````\nout\?\n`{5}\n$/);
  const digest = stored("+line\n".repeat(MAX_ANSWER_CHARACTERS));
  const long = told({ note: null, accepted: [{ repository: "acme/app", digest }] });
  t.match(long, /\n\nThe rest of the answer is left out\.\n$/);
  t.ok(long.length < MAX_ANSWER_CHARACTERS + 100);
});

t.test("a run's job has the answer, its config and its fingerprint do not, and its bodies are counted", async (t) => {
  const work = new SteppedWork();
  work.claim();
  const input = getRunInput(work.rows, workspaceId, work.runId);
  if (input.beginning === null) throw new Error("a run without its beginning");
  const note = storeText(work.rows, workspaceId, "No title.");
  const replay = { does: "repeat", secretsFor: { check: false, setup: [] }, answer: { note, accepted: [] } } as const;
  runInputs.put(work.rows, workspaceId, input, { ...input, beginning: { ...input.beginning, replay } });
  const { prompt } = input.config.station;
  const job = work.job();
  t.equal(job?.station.prompt, addAnswer(work.rows, workspaceId, prompt, replay.answer));
  t.same(job?.replay, { does: "repeat", secretsFor: { check: false, setup: [] } });
  t.same([...recountBlobs(work.rows, workspaceId, { referring: [runInputs], nowMs: 0 })], []);
});
