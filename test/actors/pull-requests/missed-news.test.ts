import t from "tap";
import type { HostedPullRequest } from "../../../actors/outbound/code-host/hosted-pull-request.js";
import type { Message } from "../../../runtime/turns/turn.js";
import {
  connect as connectInstallation,
  disconnect,
  host,
  mergedAt,
  repository,
  T0,
} from "../../support/pull-request-scene.js";
import { byAnn, SteppedLog } from "../../support/stepped-log.js";
import type { TurnTaken } from "../../support/turn.js";
import { putSecondTeam } from "../../support/work.js";

t.test("what deliveries missed of people's is found by a list of the open ones, every hour", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  connectInstallation(log.rows);
  const hourLater = (taken: TurnTaken) => taken.wakes.map(({ name, dueMs }) => [name, dueMs - log.actor.now]);
  t.same(hourLater(log.tell({ picture: byAnn(), reviews: [] })), [["list", 3_600_000]]);
  t.same(log.tell({ picture: byAnn(), reviews: [] }).wakes, [], "one list is waited for");
  const listed = (output: object) => {
    const due = log.actor.take({ type: "woken", name: "list", dueMs: log.actor.now } as Message);
    t.same(hourLater(due), [["list", 3_600_000]]);
    const [effect] = due.started;
    t.match(effect, { name: "pull-requests-open", input: { host, installationId: 7, repository } });
    const ended = { type: "effect.ended", effect: effect?.name, id: effect?.id, result: { ok: true, output } };
    return {
      taken: log.actor.take(ended as Message),
      etag: (effect?.input as { etag: string | null } | undefined)?.etag,
    };
  };
  const looked = (number: number, more: Partial<HostedPullRequest>) => {
    const picture = byAnn({ number, url: `https://${host}/acme/app/pull/${number}`, ...more });
    const output = { problem: null, seen: "changed", picture, reviews: [], etag: null };
    const ended = {
      type: "effect.ended",
      effect: "pull-request-look",
      id: `look ${number}`,
      result: { ok: true, output },
    };
    log.actor.take(ended as Message);
  };
  const states = () => log.stored.map(({ number, state }) => [number, state]);
  const known = { number: 12, updatedAtMs: T0 };
  const whole = { problem: null, listed: "changed", isWhole: true, etag: "one" };
  t.match(listed({ ...whole, open: [known] }).taken.started, [{ input: { number: 12 } }], "reviews may be missed yet");
  looked(12, {});
  t.same(listed({ ...whole, open: [known] }).taken.started, [], "it is as it was looked at");
  t.equal(listed({ problem: null, listed: "same" }).etag, "one");
  const { taken } = listed({
    ...whole,
    open: [
      { number: 12, updatedAtMs: T0 + 1_000 },
      { number: 9, updatedAtMs: T0 },
    ],
  });
  t.match(taken.started, [{ input: { number: 12 } }, { input: { number: 9 } }], "newer there, and not known yet");
  looked(12, { updatedAtMs: T0 + 1_000, title: "Better" });
  looked(9, {});
  t.same(states(), [
    [12, "open"],
    [9, "open"],
  ]);
  t.equal(listed({ problem: "again", why: "no answer" }).etag, null, "until all are known, it is listed anew");
  t.same(
    listed({ ...whole, isWhole: false, open: [] }).taken.started,
    [],
    "a part of the list says of none that it is over",
  );
  t.match(listed({ ...whole, open: [{ number: 12, updatedAtMs: T0 + 1_000 }] }).taken.started, [
    { input: { number: 9 } },
  ]);
  looked(9, mergedAt(T0 + 5_000));
  t.same(states(), [
    [12, "open"],
    [9, "merged"],
  ]);
  disconnect(log.rows);
  const over = log.actor.take({ type: "woken", name: "list", dueMs: log.actor.now } as Message);
  t.same([over.started, over.wakes], [[], []], "without a connection nothing is listed, until something is told again");
  t.same(hourLater(log.tell({ picture: byAnn(), reviews: [] })), [["list", 3_600_000]]);
});

t.test("a team that is new to the repository learns of what is open there", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  connectInstallation(log.rows);
  log.tell({ picture: byAnn(), reviews: [] });
  const list = (output: object) => {
    const [effect] = log.actor.take({ type: "woken", name: "list", dueMs: log.actor.now } as Message).started;
    const ended = { type: "effect.ended", effect: effect?.name, id: effect?.id, result: { ok: true, output } };
    const { started } = log.actor.take(ended as Message);
    return { etag: (effect?.input as { etag: string | null } | undefined)?.etag, started };
  };
  const look = () => {
    const output = { problem: null, seen: "changed", picture: byAnn(), reviews: [], etag: null };
    log.actor.take({
      type: "effect.ended",
      effect: "pull-request-look",
      id: "look 12",
      result: { ok: true, output },
    } as Message);
  };
  const output = {
    problem: null,
    listed: "changed",
    isWhole: true,
    etag: "one",
    open: [{ number: 12, updatedAtMs: T0 }],
  };
  t.match(list(output).started, [{ input: { number: 12 } }]);
  look();
  t.same(list(output), { etag: null, started: [] });
  t.equal(list({ problem: null, listed: "same" }).etag, "one");
  putSecondTeam(log.rows);
  const anew = list(output);
  t.equal(anew.etag, null, "what was told to the first team says nothing");
  t.match(anew.started, [{ input: { number: 12 } }]);
  look();
  t.same(
    log.stored
      .map(({ teamId }) => teamId)
      .sort()
      .at(-1),
    "team_2",
  );
  t.equal(log.stored.length, 2);
});

t.test("however many are open here and not shown there, what is newer there is looked at", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  connectInstallation(log.rows);
  for (let number = 1; number <= 150; number++) {
    log.tell({ number, picture: byAnn({ number, url: `https://${host}/acme/app/pull/${number}` }), reviews: [] });
  }
  const [effect] = log.actor.take({ type: "woken", name: "list", dueMs: log.actor.now } as Message).started;
  const open = [{ number: 151, updatedAtMs: T0 }];
  const output = { problem: null, listed: "changed", isWhole: true, etag: null, open };
  const ended = { type: "effect.ended", effect: effect?.name, id: effect?.id, result: { ok: true, output } };
  const { started } = log.actor.take(ended as Message);
  t.equal(started.length, 100);
  t.match(started[0], { input: { number: 151 } });
});
