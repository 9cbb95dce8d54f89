import { createTransport } from "nodemailer";
import type { Effect } from "../../runtime/actor-type.js";
import type { Sealer } from "../workspaces/secret-value.js";

/** A mail to send. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** What the log says in place of the mail when there is no mail server; one line. */
  readonly logLine: string;
}

/** The effect's name. Its input is a {@link Mail} sealed as JSON: mails hold links that admit whoever has them. */
export const MAIL_EFFECT = "mail";

/** Seals a mail for the effect's input. */
export function sealMail(sealer: Sealer, mail: Mail): string {
  return sealer.seal(JSON.stringify(mail));
}

export interface MailOptions {
  readonly sealer: Pick<Sealer, "open">;
  /** Null writes mails to the log. */
  readonly smtpUrl: string | null;
  readonly from: string;
  /** Writes one line to the log; the one place where a link may be in it (see the settings). */
  readonly logMail: (line: string) => void;
}

/** Sends mails over SMTP, or writes them to the log when no server is set up. */
export function mailEffect(options: MailOptions): Effect {
  const transport = options.smtpUrl === null ? null : createTransport(options.smtpUrl);
  return {
    name: MAIL_EFFECT,
    concurrency: 8,
    run: async (input, { id }) => {
      if (typeof input !== "string") throw new Error("a mail's input is sealed text");
      const mail = JSON.parse(options.sealer.open(input)) as Mail;
      if (transport === null) {
        options.logMail(mail.logLine);
        return null;
      }
      const { to, subject, text } = mail;
      const messageId = `<${id}@signalbox>`;
      await transport.sendMail({ from: options.from, to, subject, text, messageId });
      return null;
    },
  };
}
