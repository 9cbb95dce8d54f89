import { reference } from "../../runtime/cells/reference.js";
import type { EffectEnded, Message } from "../../runtime/turns/turn.js";
import type { IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import type { RaisedFiles } from "./team-marks.messages.js";

/** Fetches the files that an event attached to the task. */
export interface AttachFiles extends Message {
  readonly type: "files.attach";
  /** The key of the event that attached the files. */
  readonly key: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly attaches: RaisedFiles;
}

/** The messages that the attachments actor receives. */
export type TaskAttachmentsMessage = AttachFiles | EffectEnded<IntegrationRequestResult>;

/** The actor that fetches a task's attachments. The actor's id is the task's id. */
export const taskAttachmentsRef = reference<AttachFiles>("task-attachments");
