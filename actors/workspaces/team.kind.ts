import { z } from "zod";
import { displayName, slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";

const schema = z.strictObject({
  key: slug.describe("Names the team within its workspace; lowercase words joined by dashes. Fixed after the create."),
  name: displayName.describe("Title of the team for people, 1 to 100 characters."),
});

export type TeamFields = z.output<typeof schema>;

/** A team holds lines, hooks and tasks. The user who creates it becomes a member of it. */
export const teamKind: Kind<TeamFields> = {
  name: "team",
  plural: "teams",
  idPrefix: "team",
  listedAfter: ["workspace-token-trust"],
  heldBy: "workspace",
  permission: "configure",
  schema,
  fixed: ["key"],
  hcl: {},
  hidden: [],
  address: (fields) => fields.key,
  references: () => [],
  title: ({ name }) => name,
};
