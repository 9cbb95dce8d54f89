import t, { type Test } from "tap";
import type { HostedFault } from "../../../http/demo/code-host/code-host.js";
import { adaThere, bobThere } from "../../support/code-host-scene.js";
import { openPickedHost, PickedWorld } from "../../support/picked-world.js";

/**
 * Tests how the service opens a pull request in two cases: the code host gives unusual answers, or several people act
 * at the same time.
 */

const OPENING = /POST .*\/pulls$/;
const BRANCH = /POST .*\/git\/refs$/;
const READING = /GET .*\/git\/ref\/heads\/(?!main)/;

async function open(t: Test) {
  const host = await openPickedHost(t);
  const world = await PickedWorld.open(host);
  const fail = (on: RegExp, fault: HostedFault, times = 1) => {
    for (let n = 0; n < times; n += 1) host.peer.onceFaults.push({ on, fault });
  };
  const asked = (on: RegExp) => host.peer.asked.filter((name) => on.test(name)).length;
  return { world, fail, asked, peer: host.peer, infra: world.infra };
}

const invalidHead: HostedFault = {
  status: 422,
  body: '{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"}]}',
};

t.test("a head that the code host does not know yet is tried twice more, and then refused in its words", async (t) => {
  for (const times of [1, 2]) {
    const { world, fail, asked } = await open(t);
    fail(OPENING, invalidHead, times);
    t.match(await world.pick("1"), { state: "opened", attempts: 1 });
    t.equal(asked(OPENING), times + 1);
  }
  const { world, fail, asked } = await open(t);
  fail(OPENING, invalidHead, 3);
  const message = /answered with 422 \(Validation Failed: PullRequest head invalid\)/;
  t.match(await world.pick("1"), { state: "refused", reason: { code: "no-access", message } });
  t.equal(asked(OPENING), 3);
});

t.test("a 422 about anything else is refused at once, with resource, field, code and message", async (t) => {
  const custom = { resource: "PullRequest", code: "custom", message: "No commits between" };
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [[{ resource: "PullRequest", field: "base", code: "invalid" }], /PullRequest base invalid/],
    [[custom], /PullRequest custom: No commits between/],
    ["a text alone", /Failed: a text alone/],
    [[{ field: 7 }, null, { code: "missing_field", field: "title" }, "a text"], /Failed: title missing_field: a text/],
  ];
  for (const [errors, message] of cases) {
    const { world, fail, asked } = await open(t);
    fail(OPENING, { status: 422, body: JSON.stringify({ message: "Validation Failed", errors }) });
    t.match(await world.pick("1"), { state: "refused", reason: { code: "no-access", message } });
    t.equal(asked(OPENING), 1);
  }
});

t.test("one that a person closed before the pick, however shortly, does not count as this one", async (t) => {
  const { world, peer, infra, fail } = await open(t);
  fail(OPENING, { status: 403, body: '{"message":"Resource not accessible by integration"}' });
  const { branch } = await world.pick("1");
  const theirs = await peer.work.open(infra, { title: "Theirs", head: branch, base: "main", by: bobThere });
  await world.harness.advance(2_000);
  await peer.work.close(theirs, bobThere);
  await world.harness.advance(2_000);
  const row = await world.pick("2");
  const { pulls } = await world.there();
  t.match(pulls, [{ state: "closed" }, { state: "open", number: 2 }]);
  t.match(row.url, /\/pull\/2$/);
});

t.test("one that was closed, or merged and its branch deleted, before its answer came is this one", async (t) => {
  for (const end of ["close", "merge"] as const) {
    const { world, peer, infra, fail, asked } = await open(t);
    fail(OPENING, "lose");
    let ended: Promise<unknown> | null = null;
    world.onRound = () => {
      const pull = peer.work.pulls.find((one) => one.repository === infra);
      if (pull === undefined || pull.state !== "open" || ended !== null) return;
      ended = peer.work[end](pull, bobThere).then(() => infra.git("update-ref", "-d", `refs/heads/${pull.head}`));
    };
    const row = await world.pick("1");
    await ended;
    t.match(row, { state: "opened", attempts: 1, url: /\/pull\/1$/ });
    t.match(await world.there(), { branches: { length: 0 }, pulls: { length: 1 } }, end);
    t.equal(asked(BRANCH), 1, "the branch is made once");
  }
});

t.test("one whose branch is deleted before the retry reads it is this one, and gets no new branch", async (t) => {
  for (const end of ["close", "merge"] as const) {
    const { world, peer, infra, fail, asked } = await open(t);
    fail(OPENING, "lose");
    let isEnded = false;
    world.beforeSend = async (name) => {
      const pull = peer.work.pulls.find((one) => one.repository === infra);
      if (pull?.state !== "open" || !READING.test(name)) return;
      isEnded = true;
      await peer.work[end](pull, bobThere);
      await infra.git("update-ref", "-d", `refs/heads/${pull.head}`);
    };
    t.match(await world.pick("1"), { state: "opened", attempts: 1, url: /\/pull\/1$/ });
    t.ok(isEnded, end);
    t.match(await world.there(), { branches: { length: 0 }, pulls: { length: 1 } }, end);
    t.equal(asked(BRANCH), 1, "the branch is made once");
  }
});

t.test("in a renamed or transferred repository it is opened under the new name, at once", async (t) => {
  for (const name of ["acme-inc/moved", "acme-inc/moved-again"]) {
    const { world, peer, infra } = await open(t);
    const before = infra.name;
    await peer.rename(infra, `${name}-${before.split("/")[1]}`, adaThere);
    const row = await world.pick("1");
    t.match(row, { state: "opened", attempts: 1, reason: null, source: { repository: before } });
    t.match(row.url, new RegExp(`/${name}-.*/pull/1$`));
    t.match(await world.there(), { branches: { length: 1 }, pulls: { length: 1 } });
  }
});
