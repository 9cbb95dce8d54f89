import t, { type Test } from "tap";
import { CodeHostRefused } from "../../../../actors/outbound/code-host/code-host-requests.js";
import { startCodeHost } from "../../../support/code-host.js";
import { bobThere, install } from "../../../support/code-host-scene.js";
import { toClient } from "../../../support/host-client.js";

const repository = "acme-inc/infra";
const there = { installationId: 7, repository };
const branch = "config/dev-work-careful-0abcdefg";

async function open(t: Test) {
  const peer = await startCodeHost(t);
  install(peer, 7);
  peer.repositories.set(7, [repository]);
  const infra = await peer.work.addRepository(repository, {
    "lines/dev.tf": "a\r\nb \u00e9\n",
    "lines/run.sh": { mode: "100755", content: "#!/bin/sh\n" },
    "lines/link.tf": { mode: "120000", content: "dev.tf" },
    "README.md": "hello\n",
  });
  const { codeHost, pauses } = toClient(t, peer);
  return { peer, infra, pauses, sources: codeHost.sources };
}

async function readHead({ sources }: Awaited<ReturnType<typeof open>>) {
  const head = await sources.readHead(there);
  if (head === null) throw new Error("there is no head");
  return head;
}

t.test("the head of the default branch, its files with their modes, and their bytes are read", async (t) => {
  const world = await open(t);
  const { sources, infra } = world;
  const head = await readHead(world);
  t.match(head, { branch: "main", commit: await infra.head("main"), parents: { length: 0 } });
  const { entries, isCut } = await sources.readTree(there, head.tree, true);
  t.same(
    entries.map(({ path, mode }) => [path, mode]),
    [
      ["README.md", "100644"],
      ["lines", "040000"],
      ["lines/dev.tf", "100644"],
      ["lines/link.tf", "120000"],
      ["lines/run.sh", "100755"],
    ],
  );
  t.notOk(isCut);
  const right = await sources.readTree(there, head.tree, false);
  t.same(
    right.entries.map(({ path }) => path),
    ["README.md", "lines"],
  );
  const read = (path: string) => sources.readFile(there, { path, commit: head.commit });
  t.same(await read("lines/dev.tf"), Buffer.from("a\r\nb \u00e9\n"));
  t.same(await read("lines/link.tf"), Buffer.from("a\r\nb \u00e9\n"), "a link is followed: its mode tells");
  t.equal(await read("lines/none.tf"), null);
  t.equal(await read("lines"), null);
  infra.isTreeCut = true;
  t.ok((await sources.readTree(there, head.tree, true)).isCut);
});

t.test("a file of more than a MiB is not read, and a repository that is gone or empty has no head", async (t) => {
  const { sources, infra, peer } = await open(t);
  const commit = await infra.commit({ branch: "main", files: { "long.tf": "x".repeat(1024 * 1024 + 1) } });
  t.equal(await sources.readFile(there, { path: "long.tf", commit }), null);
  await infra.git("update-ref", "-d", "refs/heads/main");
  t.equal(await sources.readHead(there), null);
  peer.work.repositories.delete(repository);
  t.equal(await sources.readHead(there), null);
});

t.test("a commit is whole files on top of another, byte by byte, with their modes; no branch has it yet", async (t) => {
  const world = await open(t);
  const { sources, infra } = world;
  const on = await readHead(world);
  const text = "\ufeffc\r\n\ud83d\ude00\n\n";
  const files = [
    { path: "lines/dev.tf", mode: "100644", content: text },
    { path: "lines/run.sh", mode: "100755", content: "" },
  ];
  const made = await sources.writeCommit(there, { on, parents: [], message: "One\n\nTwo", files });
  t.same(made.parents, [on.commit]);
  t.type(made.madeAtMs, "number");
  t.same(await sources.readCommit(there, made.commit), made);
  t.equal((await infra.heads()).size, 1);
  t.same(await infra.read(made.commit, "lines/dev.tf"), Buffer.from(text));
  t.same(await infra.changed(on.commit, made.commit), [
    { status: "M", path: "lines/dev.tf" },
    { status: "M", path: "lines/run.sh" },
  ]);
  t.match(await infra.entry(made.commit, "lines/run.sh"), { mode: "100755" });
  t.equal(await infra.git("show", "--no-patch", "--format=%B", made.commit), "One\n\nTwo");
});

t.test("a branch is made once, and moved on to what is above its head alone", async (t) => {
  const world = await open(t);
  const { sources, infra, peer, pauses } = world;
  const on = await readHead(world);
  const write = (content: string, parents: readonly string[] = []) =>
    sources.writeCommit(there, {
      on,
      parents,
      message: "m",
      files: [{ path: "lines/dev.tf", mode: "100644", content }],
    });
  t.equal(await sources.readBranch(there, branch), null);
  const first = (await write("1")).commit;
  t.equal(await sources.createBranch(there, { branch, commit: first }), true);
  t.equal(await sources.createBranch(there, { branch, commit: first }), false);
  t.equal(await sources.readBranch(there, branch), first);
  t.ok(await sources.holds(there, { branch, commit: first }));
  const aside = (await write("2")).commit;
  t.equal(await sources.advanceBranch(there, { branch, commit: aside }), false);
  t.notOk(await sources.holds(there, { branch, commit: aside }));
  const above = (await write("2", [first])).commit;
  t.equal(await sources.advanceBranch(there, { branch, commit: above }), true);
  await peer.work.push(infra, { branch, files: { "x.txt": "x" }, by: bobThere });
  t.ok(await sources.holds(there, { branch, commit: above }), "somebody committed on top");
  t.notOk(await sources.holds(there, { branch: "none", commit: above }));
  t.ok(pauses.length > 0, "writes are a second apart");
});

t.test(
  "who may not write, a rule that guards the branch and an archived repository are refused in words",
  async (t) => {
    const world = await open(t);
    const { sources, infra, peer } = world;
    const on = await readHead(world);
    const wanted = { on, parents: [], message: "m", files: [{ path: "a", mode: "100644", content: "a" }] };
    const { commit } = await sources.writeCommit(there, wanted);
    infra.protectedRefs = /^refs\/heads\/config\//;
    await t.rejects(sources.createBranch(there, { branch, commit }), {
      status: 422,
      message: /creations being restricted/,
    });
    infra.isArchived = true;
    await t.rejects(sources.writeCommit(there, wanted), { status: 403, message: /archived/ });
    const installation = peer.installations.get(7);
    if (installation === undefined) throw new Error("there is no installation");
    peer.installations.set(7, { ...installation, permissions: { metadata: "read", contents: "read" } });
    const another = toClient(t, peer).codeHost.sources;
    await t.rejects(another.writeCommit(there, wanted), { status: 403, message: /not accessible/ });
    await t.rejects(another.writeCommit({ ...there, installationId: 8 }, wanted), CodeHostRefused);
  },
);
