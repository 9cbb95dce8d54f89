/** A selector of a PromQL expression: a metric with the labels that its matchers and its `by` clause name. */
export interface Selected {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string | null>;
}

const FUNCTIONS = new Set(["rate", "increase", "histogram_quantile", "absent", "time", "sum", "max", "min", "avg"]);
const WORDS = new Set(["by", "on", "and", "or", "unless", "without", "ignoring"]);
const TOKEN =
  /\s+|(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?<text>"(?:[^"\\]|\\.)*")|(?<range>\[\d+[smhd]\])|(?<number>\d+(?:\.\d+)?)|(?<sign>=~|!~|!=|==|>=|<=|[-+*/=<>(){},])/y;

interface Token {
  readonly kind: "name" | "text" | "range" | "number" | "sign";
  readonly text: string;
}

/** Splits an expression into tokens. Throws at a character that cannot start a token. */
function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(expression);
    if (found === null) throw new Error(`not PromQL at ${at}: ${expression}`);
    const [kind, text] = Object.entries(found.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    if (kind !== undefined && text !== undefined) tokens.push({ kind: kind as Token["kind"], text });
  }
  return tokens;
}

/**
 * Lists the metrics of an expression. A metric has the labels of its own matchers, and the labels of all `by` and `on`
 * clauses of the expression. A name counts as a metric if it is neither a known function nor a keyword. Throws if
 * brackets do not match.
 */
export function listSelected(expression: string): Selected[] {
  const tokens = tokenize(expression);
  const selected: { metric: string; labels: Map<string, string | null> }[] = [];
  const grouped: string[] = [];
  const open: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as Token;
    if (text === "(" || text === "{") open.push(text);
    if (text === ")" || text === "}") {
      if (open.pop() !== (text === ")" ? "(" : "{")) throw new Error(`brackets do not match: ${expression}`);
    }
    if (kind !== "name" || FUNCTIONS.has(text)) continue;
    if (WORDS.has(text)) {
      if (text === "and" || text === "or" || text === "unless") continue;
      const end = tokens.findIndex(({ text: each }, place) => place > index && each === ")");
      grouped.push(
        ...tokens.slice(index, end).flatMap((each) => (each.kind === "name" && each.text !== text ? each.text : [])),
      );
      index = end;
      continue;
    }
    const labels = new Map<string, string | null>();
    selected.push({ metric: text, labels });
    if (tokens[index + 1]?.text !== "{") continue;
    const end = tokens.findIndex(({ text: each }, place) => place > index && each === "}");
    if (end < 0) throw new Error(`brackets do not match: ${expression}`);
    for (let at = index + 2; at < end; at += 4) {
      const [name, sign, value] = tokens.slice(at, at + 3);
      if (name?.kind !== "name" || value?.kind !== "text") throw new Error(`no matcher: ${expression}`);
      labels.set(name.text, sign?.text === "=" ? value.text.slice(1, -1) : null);
    }
    index = end;
  }
  if (open.length > 0) throw new Error(`brackets do not match: ${expression}`);
  for (const { labels } of selected) for (const name of grouped) if (!labels.has(name)) labels.set(name, null);
  return selected;
}
