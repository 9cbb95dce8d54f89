import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { createModel } from "../../../actors/outbound/models/model.js";
import { openTraces } from "../../../http/process/traces.js";
import { RunAbort } from "../../../runtime/effects/run-signal.js";
import { hookSecret } from "../../support/hook-receiver.js";
import { hookScene, ok } from "../../support/hook-scene.js";

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Starts a receiver of OTLP over HTTP, which takes traces as JSON. */
async function otlpReceiver(t: Test): Promise<{ readonly url: string; readonly received: OtlpTraces[] }> {
  const received: OtlpTraces[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    request.on("end", () => {
      if (request.url !== "/v1/traces" || request.headers["content-type"] !== "application/json") {
        response.writeHead(415).end();
        return;
      }
      received.push(JSON.parse(text));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const spansOf = (received: readonly OtlpTraces[]) =>
  received.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

t.test(
  "a request, its turns, their flush and the hook that it fires are one trace, which the receiver continues",
  async (t) => {
    const { url, received } = await otlpReceiver(t);
    const scene = await hookScene(t, ok, { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
    await scene.addHook({
      key: "tell",
      on: "task.opened",
      steps: [{ name: "tell", request: { url: scene.receiver.url } }],
      signing: { secret: hookSecret, secretVersion: 1 },
    });
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    const path = `/api/teams/${scene.teamId}/tasks`;
    const opened = await scene.owner.request("POST", path, { title: "canary-title", line: "dev" }, headers);
    t.equal(opened.status, 201);
    const [request] = await scene.receiver.arrived(1);
    await scene.settled("delivered");
    await scene.service.stop();

    const spans = spansOf(received).filter(({ traceId }) => traceId === TRACE);
    const named = (name: string | RegExp) =>
      spans.find((span) => (typeof name === "string" ? span.name === name : name.test(span.name)));
    const above = ({ parentSpanId }: OtlpSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
    const served = named("POST /api/teams/{teamId}/tasks");
    t.equal(served?.parentSpanId, CALLER, "the caller's trace is continued");
    const effect = named("effect hook-delivery");
    if (effect === undefined || served === undefined) throw new Error(`no effect in ${spans.map(({ name }) => name)}`);
    const lineage: string[] = [];
    for (let span: OtlpSpan | undefined = effect; span !== undefined; span = above(span)) lineage.unshift(span.name);
    t.equal(lineage[0], served.name);
    t.ok(
      lineage.slice(1, -1).every((name) => name.startsWith("turn ")),
      lineage.join(" > "),
    );
    t.ok(lineage.length >= 3);
    const flush = named("flush");
    t.match(flush && above(flush)?.name, /^turn /);
    t.equal(request?.headers.traceparent, `00-${TRACE}-${effect.spanId}-01`, "the hook's request is below its effect");
    t.match(
      named(/^turn hook-firing|^turn hook-occurrence/)?.attributes.map(({ key }) => key),
      ["signalbox.workspace.id", "signalbox.actor.kind", "signalbox.actor.id"],
    );
    const [{ resource } = { resource: { attributes: [] } }] = received.flatMap(({ resourceSpans }) => resourceSpans);
    t.match(resource.attributes, [{ key: "service.name", value: { stringValue: "signalbox" } }]);
    t.notMatch(JSON.stringify(received), /canary|ada@example/, "no span has contents");
  },
);

t.test("work outside a trace sends no traceparent", async (t) => {
  const { url } = await otlpReceiver(t);
  const traces = await openTraces(url);
  t.teardown(() => traces?.close());
  t.same(traces?.headers(), {});
  t.equal(traces?.tracing.current(), null);
});

t.test("a question to the model carries the trace", async (t) => {
  const sent: Readonly<Record<string, string>>[] = [];
  const model = createModel({
    settings: { url: "http://127.0.0.1:1/v1", key: "k", name: "judge", prices: null },
    outbound: {
      post: ({ headers }) => {
        sent.push(headers);
        return Promise.reject(new Error("away"));
      },
    },
    now: () => 0,
    log: { warn: () => undefined },
    traceHeaders: () => ({ traceparent: `00-${TRACE}-${CALLER}-01` }),
  });
  const question = { model: "judge", messages: [], schema: { type: "object" as const }, maxTokens: 1 };
  await model.complete(question, new RunAbort());
  t.match(sent, [{ traceparent: `00-${TRACE}-${CALLER}-01`, authorization: "Bearer k" }]);
});

t.test(
  "without the setting no package is loaded; with it, a missing package stops the start with a clear message",
  async (t) => {
    const program = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(\`
      export function resolve(specifier, context, next) {
        if (!specifier.startsWith("@opentelemetry/")) return next(specifier, context);
        throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
      }\`));
    const { openTraces } = await import(${JSON.stringify(new URL("../../../http/process/traces.js", import.meta.url).href)});
    console.log(String(await openTraces(null)));
    await openTraces("http://127.0.0.1:1").catch((error) => console.log(error.name + " " + error.message));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    t.match(
      stdout,
      /^null\nWrongSetting OTEL_EXPORTER_OTLP_ENDPOINT: .*npm install @opentelemetry\/api .*sdk-trace-node.*\n$/,
    );
  },
);
