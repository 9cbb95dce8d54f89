import t from "tap";
import type { Role } from "../../../actors/caller.js";
import { assignableRoles, type RoleChange, refuseRemoval, refuseRole } from "../../../actors/workspaces/role-change.js";

const roles: readonly Role[] = ["owner", "admin", "member"];

const ONLY_LEADS = "Only an owner or an admin can set roles.";
const BELOW = "You can only set roles for people below you.";
const OWN = "You cannot change your own role.";
const ABOVE = "You cannot give a role above your own.";
const LAST = "The workspace needs at least one owner. Please make someone else an owner first.";

function standing(caller: Role, target: Role | "self", isLastOwner = false): RoleChange {
  const who = { userId: "caller", role: caller };
  return { caller: who, target: target === "self" ? who : { userId: "target", role: target }, isLastOwner };
}

function said(refusal: ReturnType<typeof refuseRole>): string {
  if (refusal === null) return "";
  const detail = "detail" in refusal ? refusal.detail : undefined;
  return `${refusal.refused === "conflict" ? 409 : 403} ${detail}`;
}

t.test("every caller x target x role, as Changing roles and its refusals say", async (t) => {
  const table: Readonly<Record<Role, Readonly<Record<Role | "self", Readonly<Record<Role, string>>>>>> = {
    owner: {
      owner: { owner: "", admin: "", member: "" },
      admin: { owner: "", admin: "", member: "" },
      member: { owner: "", admin: "", member: "" },
      self: { owner: "", admin: "", member: "" },
    },
    admin: {
      owner: { owner: "", admin: `403 ${BELOW}`, member: `403 ${BELOW}` },
      admin: { owner: `403 ${BELOW}`, admin: "", member: `403 ${BELOW}` },
      member: { owner: `403 ${ABOVE}`, admin: "", member: "" },
      self: { owner: `403 ${OWN}`, admin: "", member: `403 ${OWN}` },
    },
    member: {
      owner: { owner: `403 ${ONLY_LEADS}`, admin: `403 ${ONLY_LEADS}`, member: `403 ${ONLY_LEADS}` },
      admin: { owner: `403 ${ONLY_LEADS}`, admin: `403 ${ONLY_LEADS}`, member: `403 ${ONLY_LEADS}` },
      member: { owner: `403 ${ONLY_LEADS}`, admin: `403 ${ONLY_LEADS}`, member: `403 ${ONLY_LEADS}` },
      self: { owner: `403 ${ONLY_LEADS}`, admin: `403 ${ONLY_LEADS}`, member: `403 ${ONLY_LEADS}` },
    },
  };
  for (const caller of roles) {
    for (const target of [...roles, "self"] as const) {
      for (const role of roles) {
        const expected = table[caller][target][role];
        t.equal(said(refuseRole(standing(caller, target), role)), expected, `${caller} gives ${target} ${role}`);
      }
    }
  }
});

t.test("the last owner cannot lose the role, and the refusal says what to do first", async (t) => {
  for (const role of ["admin", "member"] as const) {
    t.equal(said(refuseRole(standing("owner", "self", true), role)), `409 ${LAST}`);
  }
  t.equal(said(refuseRole(standing("owner", "self", true), "owner")), "", "the role they hold changes nothing");
  t.equal(said(refuseRemoval(standing("owner", "self", true))), `409 ${LAST}`);
});

t.test("people are removed by those above them, and anyone may leave", async (t) => {
  const ONLY = "403 Only an owner or an admin can remove people.";
  const HIGHER = "403 You can only remove people below you.";
  const table: Readonly<Record<Role, Readonly<Record<Role | "self", string>>>> = {
    owner: { owner: "", admin: "", member: "", self: "" },
    admin: { owner: HIGHER, admin: HIGHER, member: "", self: "" },
    member: { owner: ONLY, admin: ONLY, member: ONLY, self: "" },
  };
  for (const caller of roles) {
    for (const target of [...roles, "self"] as const) {
      t.equal(said(refuseRemoval(standing(caller, target))), table[caller][target], `${caller} removes ${target}`);
    }
  }
});

t.test("the roles that may be given are exactly those that are not refused", async (t) => {
  t.same(assignableRoles(standing("owner", "member")), ["owner", "admin"]);
  t.same(assignableRoles(standing("owner", "self")), ["admin", "member"]);
  t.same(assignableRoles(standing("owner", "self", true)), []);
  t.same(assignableRoles(standing("admin", "member")), ["admin"]);
  t.same(assignableRoles(standing("admin", "owner")), []);
  t.same(assignableRoles(standing("admin", "self")), []);
  t.same(assignableRoles(standing("member", "member")), []);
});
