import type { Transporter } from "nodemailer";
import { z } from "zod";
import type { Effect } from "../../../runtime/cells/actor-type.js";
import { effect } from "../../../runtime/effects/effect-type.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import type { Sealer } from "../../sealer.js";
import { mailLane } from "../http/lanes.js";

const mailSchema = z.strictObject({
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  /** The log line that the service writes instead of sending mail, if there is no mail server. */
  logLine: z.string(),
});

/** A mail to send. */
export type Mail = z.output<typeof mailSchema>;

/**
 * Sends a mail. The input is a {@link Mail} as sealed JSON, because anyone who has the mail's link can sign in with it.
 * A mail without a link may be passed unsealed.
 */
export const MAIL_EFFECT = effect<string | Mail, null>("mail");

/** Seals a mail as input for {@link MAIL_EFFECT}. */
export function sealMail(sealer: Sealer, mail: Mail): string {
  return sealer.seal(JSON.stringify(mail));
}

export interface MailOptions {
  readonly sealer: Pick<Sealer, "open">;
  /** Null to write mails to the log. */
  readonly smtpUrl: string | null;
  readonly from: string;
  readonly log: MailLog;
  /** Called with the fate of each mail. */
  readonly mailed?: (fate: MailFate) => void;
}

/** `logged` is a mail that was written to the log, because there is no mail server. */
export type MailFate = "sent" | "logged" | "failed";

export interface MailLog {
  /** Writes a mail's log line. Only this line may contain a link. */
  mail(line: string): void;
  warn(message: string, details: Record<string, unknown>): void;
}

/** The library's default ports. */
const SMTP_PORT = 587;
const SMTPS_PORT = 465;
/**
 * Timeout for the connection to a mail server and for its greeting, in milliseconds. {@link ANSWER_TIMEOUT_MS} is the
 * timeout for each answer.
 */
const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Sends mails over SMTP, or writes them to the log if no mail server is configured. The result is `null`. If a mail
 * cannot be sent, the effect ends with an error and writes a log line. The error and the log line contain nothing of
 * the mail.
 */
export function mailEffect(options: MailOptions): Effect {
  const { smtpUrl, log, from, sealer, mailed = () => undefined } = options;
  const opening = smtpUrl === null ? null : openMailServer(smtpUrl);
  const send = async ({ to, subject, text, logLine }: Mail, id: string): Promise<null> => {
    if (opening === null) {
      log.mail(logLine);
      mailed("logged");
      return null;
    }
    const { transport, server } = await opening;
    try {
      await transport.sendMail({ from, to, subject, text, messageId: `<${id}@signalbox>` });
      mailed("sent");
      return null;
    } catch (error) {
      const code = failureCode(error);
      mailed("failed");
      log.warn("a mail was not sent", { id, code, server });
      throw new Error(`the mail was not sent: ${code}`);
    }
  };
  return MAIL_EFFECT.implementPrepared((input, { id, owner }) => {
    const mail = mailSchema.parse(typeof input === "string" ? JSON.parse(sealer.open(input)) : input);
    const target = mail.to.slice(mail.to.lastIndexOf("@") + 1).toLowerCase();
    // Sign-in mails belong to no workspace. Limit them per domain, so that one domain cannot block the others.
    const client = owner.partition === GLOBAL_PARTITION ? `${GLOBAL_PARTITION} ${target}` : owner.partition;
    return { place: { lane: mailLane, client, target, bytes: mail.text.length }, begin: () => send(mail, id) };
  });
}

interface MailServer {
  readonly transport: Transporter;
  /** The server's host and port, without credentials. */
  readonly server: string;
}

/** Loads the library and creates a transport. Does not connect. */
async function openMailServer(url: string): Promise<MailServer> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
  });
  const { protocol, hostname, port } = new URL(url);
  return { transport, server: `${hostname}:${port || (protocol === "smtps:" ? SMTPS_PORT : SMTP_PORT)}` };
}

/**
 * Returns the codes of an error from the mail server or the connection. The error's text is not used, because it may
 * contain parts of the mail.
 */
function failureCode(error: unknown): string {
  if (typeof error !== "object" || error === null) return "unknown";
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  return [code, responseCode].filter((part) => typeof part === "string" || typeof part === "number").join(" ");
}
