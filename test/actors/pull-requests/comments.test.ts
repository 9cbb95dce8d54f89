import t from "tap";
import { toCommentDigest } from "../../../actors/pull-requests/comment.effects.js";
import { pullRequestDetailView } from "../../../actors/pull-requests/pull-request.view.js";
import { SteppedPullRequest } from "../../support/pull-request-scene.js";
import type { TurnTaken } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const notes = ({ sent }: TurnTaken) =>
  sent.flatMap(({ message }) => (message.type === "note" && "text" in message ? [String(message.text)] : []));

t.test("a comment is written ten seconds later, one for each purpose, and again when it changed", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const kept = pr.take({ type: "pull-request.comment", purpose: "decisions", text: "One." });
  t.same(kept.wakes, [{ name: "comment", dueMs: pr.actor.now + 10_000 }]);
  pr.take({ type: "pull-request.comment", purpose: "decisions", text: "Two." });
  const written = pr.woken("comment");
  t.match(written.started, [
    { name: "pull-request-comment", input: { purpose: "decisions", id: null, text: "Two.", number: 12 } },
  ]);
  const digest = "3fc4b1d6c07b9b1a6e0a7b0e0b4e6d0d6ff0cc9e4d3a2b3e7b7d4cd9a4d1bd30";
  pr.answer(written, { problem: null, id: 99, digest });
  const next = pr.woken("comment");
  t.match(
    next.started,
    [{ input: { id: 99 } }],
    "what is there is not what it should be: it is changed, by its number",
  );
});

t.test("one that is not taken is tried eight times, ever later, then given up until its text changes", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  for (const purpose of ["decisions", "stack"]) pr.take({ type: "pull-request.comment", purpose, text: "One." });
  let attempt = pr.woken("comment");
  const waits: number[] = [];
  for (;;) {
    const taken = pr.answer(attempt, { problem: "again", why: "code.example answered with 302." });
    const dueMs = taken.wakes[0]?.dueMs ?? Number.NaN;
    if (dueMs === pr.actor.now) {
      t.match(notes(taken), [/\(decisions\) could not be written: code\.example answered with 302\./]);
      break;
    }
    waits.push(dueMs - pr.actor.now);
    attempt = pr.woken("comment");
  }
  t.same(waits, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]);
  const shown = () => pr.row && pullRequestDetailView(pr.rows, workspaceId, pr.row).comments;
  const problem = "code.example answered with 302.";
  t.same(shown(), [
    { purpose: "decisions", id: null, problem },
    { purpose: "stack", id: null, problem: null },
  ]);
  const other = pr.woken("comment");
  t.match(other.started, [{ input: { purpose: "stack" } }], "others are written meanwhile");
  const limited = pr.answer(other, { problem: "limited", untilMs: pr.actor.now + 90_000, why: "no more" });
  t.match(limited.wakes, [{ dueMs: pr.actor.now + 90_000 }]);
  const untilMs = pr.actor.now + 90_000;
  t.match(
    [notes(limited), notes(pr.answer(pr.woken("comment"), { problem: "limited", untilMs, why: "no more" }))],
    [
      [
        `code.example limits requests (no more) The comment on https://code.example/acme/app/pull/12 (stack) is retried after ${new Date(untilMs).toISOString()}.`,
      ],
      [],
    ],
    "the task says until when, once",
  );
  pr.answer(pr.woken("comment"), { problem: null, id: 98, digest: toCommentDigest("One.") });
  t.same(pr.woken("comment").started, []);
  pr.take({ type: "pull-request.comment", purpose: "decisions", text: "Two." });
  const again = pr.woken("comment");
  t.match(again.started, [{ input: { purpose: "decisions", text: "Two." } }]);
  t.match(shown(), [{ problem: null }, { id: 98 }]);
  t.match(notes(pr.answer(again, { problem: "refused", why: "It is locked." })), [/It is locked/]);
  t.match(shown(), [{ problem: "It is locked." }, { problem: null }]);
});
