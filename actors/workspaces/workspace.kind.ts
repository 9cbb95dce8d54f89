import { z } from "zod";
import { displayName, slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";

const schema = z.strictObject({
  slug: slug.describe("Unique name in paths; lowercase words joined by dashes. Fixed, and taken even after a close."),
  name: displayName.describe("Title of the workspace for people, 1 to 100 characters."),
});

export type WorkspaceFields = z.output<typeof schema>;

/** A workspace. Any signed-in user may open one. The slug of a closed workspace stays taken. */
export const workspaceKind: Kind<WorkspaceFields> = {
  name: "workspace",
  plural: "workspaces",
  idPrefix: "ws",
  heldBy: "none",
  permission: "configure",
  schema,
  fixed: ["slug"],
  hcl: {},
  hidden: [],
  address: (fields) => fields.slug,
  references: () => [],
};
