import { timeText } from "../time-text.js";
import { defineView } from "../view.js";
import { type CodeHostConnection, codeHostConnectionSchema } from "./connection.js";

/** Returns the view of a connection. */
export const codeHostConnectionView = defineView<CodeHostConnection>()(codeHostConnectionSchema, {
  account: ({ account: { login, kind } }) => ({ login, kind }),
  connectedAt: ({ connectedAtMs }) => timeText(connectedAtMs),
  warnings: (connection) => {
    const warnings = listLackingPermissions(connection);
    return warnings.length > 0 ? warnings : undefined;
  },
});

/** A permission that the service uses, and what fails without it. */
interface Wanted {
  readonly name: string;
  readonly level: "read" | "write";
  readonly without: string;
  /** Whether only installations of organisations need the permission. */
  readonly isOfOrganizations?: true;
}

const wanted: readonly Wanted[] = [
  { name: "metadata", level: "read", without: "its repositories cannot be found" },
  {
    name: "members",
    level: "read",
    without: "the organisation's administrators are unknown",
    isOfOrganizations: true,
  },
  { name: "contents", level: "write", without: "the service cannot push" },
  { name: "pull_requests", level: "write", without: "the service cannot open pull requests" },
  { name: "workflows", level: "write", without: "the service cannot push changes to workflows" },
];

/** Returns a sentence for each permission that the installation lacks; none if its permissions are unknown. */
export function listLackingPermissions({
  account,
  permissions,
}: Pick<CodeHostConnection, "account" | "permissions">): string[] {
  if (permissions === undefined) return [];
  return wanted
    .filter(({ isOfOrganizations }) => isOfOrganizations !== true || account.kind === "organization")
    .filter(({ name, level }) => permissions[name] !== "write" && permissions[name] !== level)
    .map(({ name, level, without }) => `The permission ${name}: ${level} is missing: ${without}.`);
}
