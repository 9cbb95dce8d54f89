import { isTemplate } from "../expressions/templates.js";
import { checkInputs } from "../integrations/tool-inputs.js";
import { findOfferedTool } from "../integrations/tools.js";
import { type FieldError, pathText } from "../refusal.js";
import type { WriteScope } from "../resources/kind.js";
import type { HookFields } from "./hook.js";

/**
 * Returns the errors in the inputs that steps pass to tools, as far as they show before an event: unknown or missing
 * inputs, and literals of the wrong type. Values of expressions are checked when the call is made.
 */
export function callErrors(
  { steps }: HookFields,
  { reading, workspaceId, teamKey }: Pick<WriteScope<HookFields>, "reading" | "workspaceId" | "teamKey">,
): FieldError[] {
  return steps.flatMap(({ call, with: given }, index) => {
    const declared = call === null ? undefined : findOfferedTool(reading, { workspaceId, teamKey }, call)?.tool.inputs;
    if (declared === undefined) return [];
    const inputs = given ?? {};
    const checked = checkInputs(declared, inputs, {});
    const errors = "errors" in checked ? checked.errors : [];
    const isKnown = ({ path }: FieldError): boolean => {
      const name = /^\w+/.exec(path)?.[0] ?? path;
      const input = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (input === undefined) return true;
      return Object.hasOwn(inputs, name) ? !holdsExpressions(inputs[name]) : input.default === undefined;
    };
    const at = ["steps", index, "with"];
    return errors
      .filter(isKnown)
      .map(({ path, message }) => ({ path: `${pathText(at)}${path.startsWith("[") ? "" : "."}${path}`, message }));
  });
}

function holdsExpressions(value: unknown): boolean {
  if (typeof value === "string") return isTemplate(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsExpressions);
}
