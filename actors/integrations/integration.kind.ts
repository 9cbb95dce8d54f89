import { z } from "zod";
import type { AllowList } from "../outbound/http/allow-list.js";
import type { Kind } from "../resources/kind.js";
import { type IntegrationFields, integrationSchema } from "./definition.js";
import { integrationSizeErrors } from "./integration-expressions.js";
import { checkIntegration, secretReferences } from "./integration-rules.js";
import { integrationWarnings } from "./integration-warnings.js";

/**
 * The resource kind that connects a team to another system: deliveries and polls that raise events, actions, tools, and
 * a connection.
 */
export function integrationKind({
  allowList,
  baseUrl = () => "",
}: {
  readonly allowList: AllowList;
  readonly baseUrl?: () => string;
}): Kind<IntegrationFields> {
  return {
    name: "integration",
    plural: "integrations",
    idPrefix: "int",
    listedAfter: ["harness-profile"],
    heldBy: "team",
    permission: "configure",
    schema: integrationSchema,
    findSizeErrors: integrationSizeErrors,
    fixed: ["integration"],
    hcl: {},
    hidden: [],
    address: (fields, teamKey) => `${teamKey}/${fields.integration}`,
    references: secretReferences,
    title: ({ name }) => name,
    lookupKeys: {
      what: "tool",
      keys: ({ integration, tools }) => Object.keys(tools).map((name) => `${integration}.${name}`),
    },
    validateDefinition: checkIntegration,
    validate: checkIntegration,
    computed: ({ id, fields }) => ({
      deliveriesUrl: fields.webhook === null ? null : `${baseUrl()}/api/integrations/${id}/deliveries`,
    }),
    added: {
      deliveriesUrl: z.string().nullable().describe("The URL of the integration's webhook; null without a webhook."),
    },
    warnings: (fields, reading, row) => integrationWarnings(fields, allowList, { reading, row }),
  };
}
