import { readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { noteBackup } from "../../../http/process/last-backup.js";
import { listSelected } from "../../support/promql.js";
import { openWorkplace } from "../../support/workplace.js";

const folder = new URL("../../../../docs/deploy/", import.meta.url);

const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Signalbox[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(["info", "warning", "critical"]) }),
          annotations: z.strictObject({ summary: z.string().regex(/\.$/) }),
        }),
      ),
    }),
  ),
});

const dashboardSchema = z.looseObject({
  title: z.string(),
  uid: z.string(),
  schemaVersion: z.int(),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      type: z.enum(["row", "timeseries", "stat"]),
      title: z.string(),
      gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      targets: z.array(z.looseObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
});

const readRules = () => rulesSchema.parse(parse(readFileSync(new URL("alerts.yml", folder), "utf8"))).groups;
const readPanels = () =>
  dashboardSchema.parse(JSON.parse(readFileSync(new URL("dashboard.json", folder), "utf8"))).panels;

/** Metrics that Prometheus adds to every scrape. */
const OWN_METRICS = ["up"];
const OWN_LABELS = ["job", "instance"];

/** Reads the series of a live service with some work: the label sets of each metric. */
async function liveSeries(t: Test): Promise<ReadonlyMap<string, readonly ReadonlyMap<string, string>[]>> {
  const settings = {
    MODEL_URL: "http://127.0.0.1:9/v1",
    MODEL_NAME: "judge",
    MODEL_PRICES: '{"in": 1, "out": 2, "currency": "EUR"}',
  };
  const place = await openWorkplace(t, { settings });
  noteBackup(place.service.folder, Date.now());
  await place.open();
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  peer.end(job, { spent: { amount: 1, currency: "USD" } });
  await place.service.logged(/"msg":"run ended"/);
  const { text } = await place.service.anonymous.request("GET", "/metrics");
  const series = new Map<string, ReadonlyMap<string, string>[]>();
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const [, name = "", labels = ""] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    const named = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value] as const);
    series.set(name, [...(series.get(name) ?? []), new Map(named)]);
  }
  return series;
}

t.test("every metric and label of the alert rules and of the dashboard is one that a service has", async (t) => {
  const series = await liveSeries(t);
  const expressions = [
    ...readRules().flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
    ...readPanels().flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ];
  t.ok(expressions.length > 40);
  for (const [where, expression] of expressions) {
    const selected = listSelected(expression);
    t.ok(selected.length > 0, `${where}: ${expression}`);
    for (const { metric, labels } of selected) {
      const known = series.get(metric);
      if (OWN_METRICS.includes(metric)) continue;
      t.ok(known, `${where}: ${metric} exists`);
      for (const [label, value] of labels) {
        if (OWN_LABELS.includes(label)) continue;
        const values = (known ?? []).map((each) => each.get(label));
        t.ok(
          values.every((each) => each !== undefined),
          `${where}: ${metric} has the label ${label}`,
        );
        if (value !== null) t.ok(values.includes(value), `${where}: ${metric} has ${label}="${value}"`);
      }
    }
  }
});

t.test("the legends and summaries name only labels that their expressions keep", async (t) => {
  const used = (text: string) =>
    [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = ""]) => label);
  const shown = [
    ...readRules().flatMap(({ rules }) => rules.map(({ expr, annotations }) => [expr, annotations.summary] as const)),
    ...readPanels().flatMap(({ targets = [] }) =>
      targets.map(({ expr, legendFormat }) => [expr, legendFormat] as const),
    ),
  ];
  for (const [expression, text] of shown)
    for (const label of used(text)) t.ok(isKept(expression, label), `${label} of ${expression}`);
});

/**
 * Whether the series that the expression returns have the label. The series keep the label if the expression aggregates
 * by it or does not aggregate at all.
 */
function isKept(expression: string, label: string): boolean {
  const by = [...expression.matchAll(/by \(([^)]*)\)/g)].map(([, names = ""]) => names.split(/,\s*/));
  return by.length === 0 ? !/\bsum\(/.test(expression) : by.some((names) => names.includes(label));
}

t.test("panels have ids of their own and do not overlap", async (t) => {
  const panels = readPanels();
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  t.equal(new Set(cells).size, cells.length);
});

t.test("the reader of expressions refuses what it cannot read", async (t) => {
  const [one] = listSelected('sum by (pool) (rate(a_total{fate="done",status=~"5.."}[5m])) > 0.5');
  t.equal(one?.metric, "a_total");
  t.same(
    [...(one?.labels ?? [])],
    [
      ["fate", "done"],
      ["status", null],
      ["pool", null],
    ],
  );
  t.same(
    listSelected("unknown(a) + b").map(({ metric }) => metric),
    ["unknown", "a", "b"],
  );
  for (const wrong of ["rate(a[5m]", "a{b}", "a;b", 'a{b="c"', "a)"]) t.throws(() => listSelected(wrong), wrong);
});
