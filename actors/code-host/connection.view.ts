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
  /** Whether only organisations grant it. */
  readonly isOfOrganizations?: true;
}

const wanted: readonly Wanted[] = [
  { name: "metadata", level: "read", without: "its repositories are not found" },
  {
    name: "members",
    level: "read",
    without: "nobody is known to administer the organisation",
    isOfOrganizations: true,
  },
  { name: "contents", level: "write", without: "nothing is pushed" },
  { name: "pull_requests", level: "write", without: "no pull requests are opened" },
  { name: "workflows", level: "write", without: "changes of workflows are not pushed" },
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
    .map(({ name, level, without }) => `The permission ${name}: ${level} is not given: ${without}.`);
}
