import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "../client/entry.js";
import { line } from "./progress.js";

/** The mails of the demo's service, which has no mail server. */
export interface Mails {
  readonly texts: string[];
  /** Whether new mails are printed. */
  arePrinted: boolean;
}

const EMAIL = "ada@example.com";
const PROGRAM = fileURLToPath(new URL("../../../http/cli/signalbox.mjs", import.meta.url));

/** Requests a sign-in link for Ada, and returns it. */
export async function requestSignInLink(client: Client, mails: Mails): Promise<string> {
  const count = mails.texts.length;
  await client.post("/api/sign-in", { body: { email: EMAIL } });
  const link = /\S+\/sign-in\/\S+/.exec(mails.texts.slice(count).join("\n"))?.[0];
  if (link === undefined) throw new Error("the service logged no sign-in link");
  return link;
}

/** The ids and the token with which a person looks around after the demo. */
export interface Sights {
  readonly baseUrl: string;
  /** A token with the scope `read`. */
  readonly readToken: string;
  /** The task whose page the link opens. Below it, a run of this task that has a change. */
  readonly taskId: string;
  readonly runId: string;
  /** The search that one of the commands shows; null to show the hook deliveries instead. */
  readonly searchId: string | null;
}

/** Returns three commands that a person can type in the current folder. */
export function listCommands({ baseUrl, readToken, runId, searchId }: Sights): readonly string[] {
  const measured = searchId === null ? "hook log" : `search show ${searchId}`;
  return ["task list", `run diff ${runId}`, measured].map(
    (words) => `node ${relative(process.cwd(), PROGRAM)} ${words} --url ${baseUrl} --token ${readToken}`,
  );
}

/** Prints a link that signs Ada in and opens the page of a task, and three commands. */
export async function printSights(client: Client, mails: Mails, sights: Sights): Promise<void> {
  const link = await requestSignInLink(client, mails);
  mails.arePrinted = true;
  line("demo", "done: everything went as expected");
  line("demo", "to sign in and see a task, open this link:");
  line("open", `${link}#/tasks/${sights.taskId}`);
  line("demo", "or type in another terminal:");
  for (const command of listCommands(sights)) line("", command);
  line("demo", "the service runs until Ctrl+C");
}
