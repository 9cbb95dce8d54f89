import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";

const askedSchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  temperature: z.number().optional(),
  max_tokens: z.number().optional(),
  max_completion_tokens: z.number().optional(),
  response_format: z.object({ json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }) }).optional(),
});

/** A request that the model received. */
export interface AskedModel extends z.output<typeof askedSchema> {
  readonly headers: IncomingHttpHeaders;
}

export interface ScriptedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** The model's reaction to a request. */
export type ScriptedAnswer =
  /** An answer: a value as JSON, or any text. `usage` is null if the answer does not report it. */
  | { readonly value: unknown; readonly usage?: ScriptedUsage | null }
  | { readonly text: string; readonly usage?: ScriptedUsage | null; readonly finish?: string }
  /** Any other HTTP response. */
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /**
   * `hang`: never answers. `drop`: drops the connection. `half`: drops it in the middle of an answer. `rubbish`:
   * answers something that is not HTTP.
   */
  | "hang"
  | "drop"
  | "half"
  | "rubbish";

export type Scripted = ScriptedAnswer | ((asked: AskedModel) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** An OpenAI-compatible model on the loopback interface with scripted answers. */
export interface ScriptedModel {
  /** The value for `MODEL_URL`. */
  readonly url: string;
  readonly asked: readonly AskedModel[];
  /** Answers to the next requests, in order. */
  readonly queue: Scripted[];
  /** Resolves when the model has received this many requests in total. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

const USAGE: ScriptedUsage = { prompt_tokens: 1_000, completion_tokens: 100 };

/** Starts the model; `usual` answers when the queue is empty. */
export async function startScriptedModel(
  usual: Scripted = (asked) => ({ value: inForm(asked) }),
): Promise<ScriptedModel> {
  const asked: AskedModel[] = [];
  const queue: Scripted[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const one = await readAsked(request);
    if (one === null) return void response.writeHead(404).end();
    asked.push(one);
    for (const look of [...waiting]) look();
    const scripted = queue.shift() ?? usual;
    answer(response, typeof scripted === "function" ? await scripted(one) : scripted);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`,
    asked,
    queue,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (asked.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readAsked(request: IncomingMessage): Promise<AskedModel | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") return null;
  return { ...askedSchema.parse(JSON.parse(Buffer.concat(chunks).toString())), headers: request.headers };
}

function answer(response: ServerResponse, scripted: ScriptedAnswer): void {
  if (scripted === "hang") return;
  if (scripted === "drop") return void response.socket?.destroy();
  if (scripted === "rubbish") return void response.socket?.end("hello\r\n\r\n");
  if (scripted === "half") {
    const whole = completion("{}", USAGE, "stop");
    response.writeHead(200, { "content-type": "application/json", "content-length": whole.length });
    return void response.write(whole.slice(0, whole.length / 2), () => response.socket?.destroy());
  }
  if ("status" in scripted) {
    return void response.writeHead(scripted.status, scripted.headers).end(scripted.body);
  }
  const [text, finish] =
    "text" in scripted ? [scripted.text, scripted.finish ?? "stop"] : [JSON.stringify(scripted.value), "stop"];
  const { usage = USAGE } = scripted;
  response.writeHead(200, { "content-type": "application/json" }).end(completion(text, usage, finish));
}

function completion(content: string, usage: ScriptedUsage | null, finish_reason: string): string {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason }];
  return JSON.stringify({ object: "chat.completion", choices, ...(usage === null ? {} : { usage }) });
}

/** Values with which to fill in a form. */
export interface Filling {
  readonly boolean?: boolean;
  readonly number?: number;
  readonly text?: string;
  /** Index of the value for a choice. */
  readonly choice?: number;
}

const formSchema: z.ZodType<Form> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    items: formSchema.optional(),
    properties: z.record(z.string(), formSchema).optional(),
  }),
);

interface Form {
  readonly type?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly items?: Form | undefined;
  readonly properties?: Readonly<Record<string, Form>> | undefined;
}

/**
 * Returns a value in the form that the request asks for. By default, lists are as short as possible, choices are the
 * first ones, booleans are true, and numbers are the highest. A model with these answers always prefers the first of
 * two candidates.
 */
export function inForm({ response_format }: AskedModel, filling: Filling = {}): unknown {
  if (response_format === undefined) throw new Error("the request asks for no form");
  return fill(formSchema.parse(response_format.json_schema.schema), filling);
}

function fill(form: Form, filling: Filling): unknown {
  if (form.enum !== undefined) return form.enum[filling.choice ?? 0];
  if (form.type === "boolean") return filling.boolean ?? true;
  if (form.type === "integer" || form.type === "number") return filling.number ?? form.maximum ?? form.minimum ?? 1;
  if (form.type === "array") {
    const { items } = form;
    return items === undefined ? [] : Array.from({ length: form.minItems ?? 0 }, () => fill(items, filling));
  }
  if (form.type === "object") {
    const parts = Object.entries(form.properties ?? {});
    return Object.fromEntries(parts.map(([name, part]) => [name, fill(part, filling)]));
  }
  return filling.text ?? "So it is.";
}
