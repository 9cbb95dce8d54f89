import { reference } from "../../runtime/reference.js";
import type { EffectEnded, Message } from "../../runtime/turn.js";
import type { IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import type { RaisedFiles } from "./team-marks.messages.js";

/** Files that an event attached to the task are to be fetched. Once for each key. */
export interface AttachFiles extends Message {
  readonly type: "files.attach";
  /** The key under which the event raised it. */
  readonly key: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly attaches: RaisedFiles;
}

/** What the actor of a task's attachments takes. */
export type TaskAttachmentsMessage = AttachFiles | EffectEnded<IntegrationRequestResult>;

/** The attachments of a task that are being fetched; its id is the task's. */
export const taskAttachmentsRef = reference<AttachFiles>("task-attachments");
