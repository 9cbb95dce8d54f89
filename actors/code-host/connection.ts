import { z } from "zod";
import type { Stored } from "../view.js";

/** A connection, as shown to callers who can see the workspace. */
export const codeHostConnectionSchema = z
  .strictObject({
    installationId: z.int().describe("The installation's id on the code host."),
    host: z.string().describe("The code host's name, such as github.com."),
    account: z
      .strictObject({
        login: z.string().describe("The name of the account on the code host, such as `acme`."),
        kind: z.enum(["organization", "user"]).describe("Whether the account is an organization's or a person's."),
      })
      .describe("The account on the code host that the app is installed on."),
    state: z
      .enum(["connected", "suspended", "deleted"])
      .describe("`suspended` or `deleted` if the code host reported that state; otherwise `connected`."),
    connectedBy: z.string().describe("The person who connected the installation."),
    connectedAt: z.string().describe("When the installation was connected, as an RFC 3339 time."),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        "The permissions that the installation lacks, each with the effect on the service; absent if the " +
          "installation lacks none.",
      ),
  })
  .meta({ title: "code-host-connection" });

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends Stored<typeof codeHostConnectionSchema, "connectedAt" | "warnings"> {
  readonly connectedAtMs: number;
  /** When the stored data was current, by the code host's clock, in milliseconds since 1970. */
  readonly asOfMs: number;
  /** The app's permissions for the installation, by GitHub's names; absent if the code host did not report them. */
  readonly permissions?: HostPermissions;
}

/** The level of each permission, such as `read` or `write`, by the permission's name. */
export type HostPermissions = Readonly<Record<string, string>>;

/** Maximum number of installations that one workspace can connect to. */
export const MAX_CONNECTIONS = 100;
