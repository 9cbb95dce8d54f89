import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, Span as OtelSpan, Tracer } from "@opentelemetry/api";
import type { TraceHeaders } from "../../actors/outbound/http/trace-headers.js";
import type { Span, Tracing } from "../../runtime/tracing.js";
import type { Traced } from "../transport/edge.js";
import { readRelease } from "../wire/release.js";
import type { Outcome } from "../wire/route.js";
import { WrongSetting } from "./config.js";

/** The recording of traces. */
export interface Traces {
  readonly tracing: Tracing;
  readonly headers: TraceHeaders;
  /** Runs the handler of a request in a span, which continues the trace of the request's `traceparent`. */
  readonly traced: Traced;
  /** Sends the recorded spans. */
  close(): Promise<void>;
}

/** The packages of OpenTelemetry, which people install beside the service if they want traces. */
const packages = ["api", "core", "exporter-trace-otlp-http", "resources", "sdk-trace-node"].map(
  (name) => `@opentelemetry/${name}`,
);

/**
 * Starts to record traces and sends them to the OTLP receiver at the base URL `endpoint`, as JSON over HTTP. If
 * `endpoint` is null, loads nothing and resolves with null. Throws {@link WrongSetting} if a package is missing.
 */
export async function openTraces(endpoint: string | null): Promise<Traces | null> {
  return endpoint === null ? null : createTraces(await loadPackages(), endpoint);
}

async function loadPackages() {
  try {
    const [api, core, exporter, resources, sdk] = await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/core"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/sdk-trace-node"),
    ]);
    return { api, core, exporter, resources, sdk };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new WrongSetting(
      `OTEL_EXPORTER_OTLP_ENDPOINT: a package of OpenTelemetry is missing: run npm install ${packages.join(" ")} where ` +
        "signalbox is installed, or unset OTEL_EXPORTER_OTLP_ENDPOINT",
    );
  }
}

type Packages = Awaited<ReturnType<typeof loadPackages>>;

/** Stores the current span itself and registers nothing globally, so that several services can run in one process. */
function createTraces({ api, core, exporter, resources, sdk }: Packages, endpoint: string): Traces {
  const provider = new sdk.NodeTracerProvider({
    resource: resources.resourceFromAttributes({
      "service.name": process.env.OTEL_SERVICE_NAME ?? "signalbox",
      "service.version": readRelease(),
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))],
  });
  const tracer = provider.getTracer("signalbox");
  const propagator = new core.W3CTraceContextPropagator();
  const running = new AsyncLocalStorage<TracedSpan | null>();
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const toSpan = (span: OtelSpan): TracedSpan => new TracedSpan(span, SpanStatusCode.ERROR);
  const within: Tracing["within"] = (span, work) => running.run(span instanceof TracedSpan ? span : null, work);
  return {
    tracing: {
      current: () => running.getStore() ?? null,
      begin: (parent, name, attributes) => {
        const above = parent instanceof TracedSpan ? trace.setSpan(ROOT_CONTEXT, parent.span) : ROOT_CONTEXT;
        return toSpan(tracer.startSpan(name, { attributes }, above));
      },
      within,
    },
    headers: () => {
      const span = running.getStore();
      const carrier: Record<string, string> = {};
      if (span != null) propagator.inject(trace.setSpan(ROOT_CONTEXT, span.span), carrier, api.defaultTextMapSetter);
      return carrier;
    },
    traced: ({ method, header, route, requestId }, handle) => {
      const sent = { traceparent: header("traceparent"), tracestate: header("tracestate") };
      const above = propagator.extract(ROOT_CONTEXT, sent, api.defaultTextMapGetter);
      const attributes = { "http.request.method": method, "http.route": route, "signalbox.request.id": requestId };
      const span = toSpan(
        startServing(tracer, { name: `${method} ${route}`, kind: SpanKind.SERVER, attributes }, above),
      );
      return ended(span, () => within(span, handle));
    },
    close: () => provider.shutdown(),
  };
}

interface Serving {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string>>;
}

function startServing(tracer: Tracer, { name, ...options }: Serving, above: Context): OtelSpan {
  return tracer.startSpan(name, options, above);
}

class TracedSpan implements Span {
  readonly span: OtelSpan;
  readonly #failed: number;

  constructor(span: OtelSpan, failed: number) {
    this.span = span;
    this.#failed = failed;
  }

  end(error?: string): void {
    if (error !== undefined) this.span.setAttribute("error.type", error).setStatus({ code: this.#failed });
    this.span.end();
  }
}

/** Ends the span with the outcome of the handler. */
function ended(span: TracedSpan, handle: () => Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
  const end = (outcome: Outcome): Outcome => {
    if ("refused" in outcome) span.end(outcome.refused);
    else {
      span.span.setAttribute("http.response.status_code", outcome.status);
      span.end();
    }
    return outcome;
  };
  const failed = (error: unknown): never => {
    span.end(error instanceof Error ? error.name : "unknown");
    throw error;
  };
  try {
    const outcome = handle();
    return outcome instanceof Promise ? outcome.then(end, failed) : end(outcome);
  } catch (error) {
    return failed(error);
  }
}
