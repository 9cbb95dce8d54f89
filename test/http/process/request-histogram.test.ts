import { Histogram, Registry } from "prom-client";
import t from "tap";
import { RequestHistogram } from "../../../http/process/request-histogram.js";

t.test("it shows what the library's own histogram shows of the same requests", async (t) => {
  const [own, theirs] = [new Registry(), new Registry()];
  const counted = new RequestHistogram();
  own.registerMetric(counted);
  const observed = new Histogram({
    name: "signalbox_http_request_seconds",
    help: "Time to respond to a request",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [theirs],
  });
  t.equal(await own.metrics(), await theirs.metrics(), "none yet");
  const seconds = [0, 0.0005, 0.001, 0.0011, 0.02, 0.3, 2, 9.9, 10, 11];
  for (const [index, time] of seconds.entries()) {
    const labels = [
      index % 2 === 0 ? "GET" : "HEAD",
      index % 3 === 0 ? "/a" : "/a/{id}",
      index % 5 === 0 ? 200 : 404,
    ] as const;
    counted.count(...labels, time);
    observed.labels(labels[0], labels[1], String(labels[2])).observe(time);
  }
  const lines = async (registry: Registry) => (await registry.metrics()).split("\n").sort();
  t.same(await lines(own), await lines(theirs));
  t.equal((await own.metrics()).split("\n").length, (await theirs.metrics()).split("\n").length);
});
