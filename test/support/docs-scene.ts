import { join } from "node:path";
import type { Test } from "tap";
import { writePrivateFile } from "../../http/cli/command/private-file.js";
import { openReader, type Reader, type ReaderOptions } from "./reader.js";
import { startRealRunner } from "./real-runner.js";
import { openWorkplace, type Workplace } from "./workplace.js";

/** The service's address in all pages. */
const PAGE_URL = "http://127.0.0.1:8787";

/** The line of the quick start. */
const LINE = { key: "main", name: "Main" };

/** A service in this process, and a person who is signed in there and follows pages of `docs/`. */
export interface DocsScene extends Workplace {
  readonly reader: Reader;
  /**
   * The values for {@link Reader.follow}: texts of the pages and their replacements. Contains the service's address. A
   * test adds its own values.
   */
  readonly values: Record<string, string>;
}

interface DocsOptions extends ReaderOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stations?: readonly unknown[];
  /** The command of a real runner's agent; without it the test acts as the runner. */
  readonly agent?: readonly string[];
}

/** Opens workspace `acme` with team `core`, pool `main` and line `main`, as in the quick start, and a reader who is signed in there. */
export async function openDocsScene(t: Test, options: DocsOptions = {}): Promise<DocsScene> {
  const { settings = {}, stations, agent, ...readerOptions } = options;
  const place = await openWorkplace(t, { settings, line: LINE, ...(stations === undefined ? {} : { stations }) });
  const { service, ada, token } = place;
  const reader = openReader(t, readerOptions);
  // Not `service.baseUrl`: a test may set `BASE_URL` to an address that does not lead to the service.
  const url = `http://127.0.0.1:${service.port}`;
  const login = { url, cookie: ada.credentials.cookie };
  const logins = { current: url, logins: { [url]: login } };
  writePrivateFile(join(reader.home, ".config/signalbox/logins.json"), logins);
  if (agent !== undefined) {
    const gitUrl = `file://${reader.repository}`;
    await startRealRunner(t, { url, token, gitUrl, command: agent });
  }
  return { ...place, reader, values: { [PAGE_URL]: url } };
}

/** Lists the texts of all steps of the team's newest task, oldest run first, without spaces at their ends. */
export async function listSteps({ ada, teamId, runs }: DocsScene): Promise<readonly string[]> {
  const read = async (path: string) =>
    (await ada.request("GET", path)).body?.items as readonly { readonly id: string; readonly text: string }[];
  const [task] = await read(`/api/teams/${teamId}/tasks?limit=1`);
  const ids = (await runs(task?.id ?? "")).map(({ id }) => id).reverse();
  const steps = await Promise.all(ids.map((id) => read(`/api/runs/${id}/steps`)));
  return steps.flat().map(({ text }) => text.trim());
}
