import { DYN, type Type, toObject } from "../expressions/cel-types.js";
import {
  type Definition,
  type ExpressionLocation,
  findPart,
  findSizeFault,
  integrationNames,
  integrationPositions,
  type Language,
  listExpressions,
  listNames,
} from "../expressions/positions.js";
import { firstFaults, toSentence, validateField } from "../expressions/validate-expression.js";
import { type FieldError, pathText } from "../refusal.js";
import type { Warning } from "../resources/kind.js";

/**
 * The expression language of integrations. Its names include the captures, `forEach` entries and inputs of the
 * definition.
 */
export const integrationLanguage: Language = {
  name: "integration",
  positions: integrationPositions,
  maxExpressions: 500,
  namesAt: (definition, placed) => {
    const { sees, alsoSees } = placed.position;
    const names = new Map<string, Type>(sees.map((name) => [name, integrationNames[name] ?? DYN]));
    const event = eventAt(definition, placed);
    if (alsoSees.includes("item") && typeof findPart(event, ["forEach"]) === "string") names.set("item", DYN);
    if (alsoSees.includes("captures")) for (const name of listCaptures(event)) names.set(name, DYN);
    const inputs = inputsAt(definition, placed);
    if (inputs === null) return names;
    return names.set("inputs", toObject(Object.fromEntries(inputs.map((name) => [name, DYN]))));
  },
};

/** Lists the names that an event's lookup captures. */
function listCaptures(event: unknown): string[] {
  return listNames(findPart(event, ["lookup", "capture"]));
}

/** Finds the webhook or poll event that contains a path; undefined if none does. */
function eventAt(definition: Definition, { path }: ExpressionLocation): unknown {
  return path[1] === "events" ? findPart(definition, path.slice(0, 3)) : undefined;
}

/**
 * Lists the inputs that the expression at a path can read. If the path is in a tool, these are the tool's inputs. If
 * the path is in an action, these are the inputs of all tools that run the action. Returns null if there is no such
 * tool.
 */
function inputsAt(definition: Definition, { path, position }: ExpressionLocation): string[] | null {
  const [block, name] = path;
  const listInputs = (tool: string) => listNames(findPart(definition, ["tools", tool, "inputs"]));
  if (block === "tools" && position.sees.includes("inputs")) return listInputs(String(name));
  if (block !== "actions" || !position.alsoSees.includes("inputs")) return null;
  const running = listNames(definition.tools).filter(
    (tool) => findPart(definition, ["tools", tool, "action"]) === name,
  );
  return running.length === 0 ? null : running.flatMap(listInputs);
}

/**
 * Returns an error if the expressions of a definition exceed the limits on their number or characters. The limits bound
 * the cost of checking the expressions.
 */
export function integrationSizeErrors(body: unknown): FieldError[] {
  const tooMuch = findSizeFault(integrationLanguage, body);
  return tooMuch === null ? [] : [{ path: "", message: tooMuch }];
}

/**
 * Returns warnings for invalid expressions, and for captures with the name of a built-in value. The definition can be
 * stored despite these warnings.
 */
export function expressionWarnings(definition: Definition): Warning[] {
  const unchecked = firstFaults(listExpressions(integrationLanguage, definition), (placed) => {
    const { position, path, text } = placed;
    const names = integrationLanguage.namesAt(definition, placed);
    const result = validateField(text, position.form, { names, returns: position.returns });
    return result.faults.map((fault) => warning(path, toSentence(fault, result)));
  });
  return [...unchecked, ...shadowing(definition)];
}

/** Warns about captures with the name of a built-in value, which they hide. */
function shadowing(definition: Definition): Warning[] {
  return ["webhook", "poll"].flatMap((source) => {
    const events = findPart(definition, [source, "events"]);
    return (Array.isArray(events) ? events : []).flatMap((event, index) =>
      listCaptures(event)
        .filter((name) => Object.hasOwn(integrationNames, name))
        .map((name) =>
          warning(
            [source, "events", index, "lookup", "capture", name],
            `the capture ${name} hides the value that has this name`,
          ),
        ),
    );
  });
}

function warning(path: readonly (string | number)[], message: string): Warning {
  return { path: pathText(path), message, severity: "warning" };
}
