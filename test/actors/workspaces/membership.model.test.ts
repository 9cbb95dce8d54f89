import fc from "fast-check";
import t from "tap";
import { refuseInTurn } from "../../../actors/access/visibility/write-permission.js";
import type { Role } from "../../../actors/caller.js";
import { createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { isRefusal } from "../../../actors/refusal.js";
import { listMemberships, listWorkspaceMembers, putMember } from "../../../actors/workspaces/member.table.js";
import { admitMember, type MembershipMessage } from "../../../actors/workspaces/membership.transitions.js";
import { workspaceActor } from "../../../actors/workspaces/workspace.machine.js";
import { address } from "../../../runtime/cells/address.js";
import { type Stepping, stepByHand, withTurn } from "../../support/turn.js";

const WORKSPACE = "ws_1";
const people = ["usr_a", "usr_b", "usr_c", "usr_d"];
const roles: readonly Role[] = ["owner", "admin", "member"];

type Command = Extract<MembershipMessage, { readonly by: string }> | Admission;

/** A person joins through an invite. */
interface Admission {
  readonly type: "admit";
  readonly by: string;
  readonly userId: string;
  readonly as: Role;
}

const person = fc.constantFrom(...people);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    type: fc.constant("member.role" as const),
    by: person,
    userId: person,
    role: fc.constantFrom(...roles),
  }),
  fc.record({ type: fc.constant("member.remove" as const), by: person, userId: person }),
  fc.record({
    type: fc.constant("admit" as const),
    by: person,
    userId: person,
    as: fc.constantFrom<Role>("admin", "member"),
  }),
);

/**
 * Returns a workspace whose owner is the first person. The other people have the given roles; a person with the role
 * null is not a member.
 */
function workspace(others: readonly (Role | null)[]): Stepping {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const stepping = stepByHand(workspaceActor(kinds, refuseInTurn), address(WORKSPACE, "workspace", WORKSPACE));
  stepping.restore("open", { sweeping: true });
  for (const [index, userId] of people.entries()) {
    const role = index === 0 ? "owner" : (others[index - 1] ?? null);
    if (role === null) continue;
    putMember(stepping.rows, WORKSPACE, { userId, email: `${userId}@example.com`, role, teams: [], since: "" });
  }
  return stepping;
}

/**
 * Returns the roles after a command, by the reference's rules in their simplest form. Returns null if the command is
 * refused.
 */
function expected(held: ReadonlyMap<string, Role>, { type, by, userId, ...rest }: Command): Map<string, Role> | null {
  if (type === "admit" && "as" in rest) return new Map([[userId, rest.as], ...held]);
  const caller = held.get(by);
  const target = held.get(userId);
  if (caller === undefined || target === undefined) return null;
  const ownersAfterwards = [...held].filter(([id, role]) => role === "owner" && id !== userId).length;
  const after = new Map(held);
  if (type === "member.role" && "role" in rest) {
    if (caller === "member") return null;
    if (rest.role === target) return after;
    if (caller === "admin" && (target !== "member" || rest.role === "owner")) return null;
    after.set(userId, rest.role);
    return rest.role !== "owner" && ownersAfterwards === 0 ? null : after;
  }
  const mayRemove = by === userId || caller === "owner" || (caller === "admin" && target === "member");
  after.delete(userId);
  return mayRemove && !(target === "owner" && ownersAfterwards === 0) ? after : null;
}

/** Returns the members' roles, by id. */
function rolesIn({ rows }: Stepping): Map<string, Role> {
  return new Map(
    listWorkspaceMembers(rows, WORKSPACE, { limit: 100 }).map(({ userId, role }): [string, Role] => [userId, role]),
  );
}

function carryOut(stepping: Stepping, command: Command): unknown {
  if (command.type !== "admit") return stepping.take(command).answer;
  const { userId, as } = command;
  const person = { userId, email: `${userId}@example.com` };
  const self = address(WORKSPACE, "invite", person.email);
  withTurn(self, (turn) => void admitMember(turn, person, { role: as, teams: [] }), { rows: stepping.rows });
  return null;
}

t.test("after any commands in any order, roles are as in the reference, and one owner remains", async (t) => {
  const other = fc.option(fc.constantFrom(...roles), { nil: null });
  fc.assert(
    fc.property(fc.tuple(other, other, other), fc.array(command, { maxLength: 40 }), (others, commands) => {
      const stepping = workspace(others);
      for (const one of commands) {
        const before = rolesIn(stepping);
        const after = expected(before, one);
        const answer = carryOut(stepping, one);
        if (isRefusal(answer) !== (after === null)) throw new Error(`${JSON.stringify(one)} in ${[...before]}`);
        const now = rolesIn(stepping);
        const wanted = [...(after ?? before)].sort();
        if (JSON.stringify([...now]) !== JSON.stringify(wanted)) throw new Error(`${[...now]}, not ${wanted}`);
        if (![...now.values()].includes("owner")) throw new Error("no owner is left");
      }
    }),
    { numRuns: 500 },
  );
  t.pass();
});

t.test("a removed person is in no list, no index and on no team", async (t) => {
  const stepping = workspace(["member", null, null]);
  const kept = () => stepping.rows.range({ prefix: [] }).filter(({ key }) => JSON.stringify(key).includes("usr_b"));
  t.ok(kept().length >= 3);
  stepping.take({ type: "member.remove", by: "usr_a", userId: "usr_b" } as Command);
  t.same(kept(), []);
  t.same(listMemberships(stepping.rows, "usr_b"), []);
});
