import t from "tap";
import { listLackingPermissions } from "../../../actors/code-host/lacking-permissions.js";

t.test("what an installation does not allow is told, and what becomes of it", async (t) => {
  const all = { metadata: "read", contents: "write", pull_requests: "write", workflows: "write" };
  t.same(listLackingPermissions({ permissions: all }), []);
  t.same(listLackingPermissions({ permissions: { ...all, contents: "read" } }), [
    "The permission contents: write is not given: nothing is pushed.",
  ]);
  t.equal(listLackingPermissions({ permissions: {} }).length, 4);
  t.same(listLackingPermissions({}), [], "nothing is known of a connection of an earlier release");
});
