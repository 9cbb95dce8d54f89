import type { TestService } from "./service.js";

/**
 * Reads the service's metrics. Returns the value of each series by its name with labels, as written in the response.
 */
export async function metricsOf(service: Pick<TestService, "anonymous">): Promise<Readonly<Record<string, number>>> {
  const { status, text } = await service.anonymous.request("GET", "/metrics");
  if (status !== 200) throw new Error(`the metrics answered ${status}`);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}
