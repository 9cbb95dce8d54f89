import t from "tap";
import { listLackingPermissions } from "../../../actors/code-host/connection.view.js";

t.test("what an installation does not allow is told, and what becomes of it", async (t) => {
  const account = { login: "acme", kind: "organization" } as const;
  const ann = { login: "ann", kind: "user" } as const;
  const ofPerson = { metadata: "read", contents: "write", pull_requests: "write", workflows: "write" };
  const all = { ...ofPerson, members: "read" };
  t.same(listLackingPermissions({ account, permissions: all }), []);
  t.same(listLackingPermissions({ account, permissions: { ...all, contents: "read" } }), [
    "The permission contents: write is missing: the service cannot push.",
  ]);
  t.same(listLackingPermissions({ account, permissions: ofPerson }), [
    "The permission members: read is missing: the organisation's administrators are unknown.",
  ]);
  t.same(listLackingPermissions({ account: ann, permissions: ofPerson }), [], "a person's account has no members");
  t.equal(listLackingPermissions({ account, permissions: {} }).length, 5);
  t.same(listLackingPermissions({ account }), [], "nothing is known of a connection of an earlier release");
});
