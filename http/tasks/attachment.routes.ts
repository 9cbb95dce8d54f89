import { type FoundAttachment, findAttachment } from "../../actors/tasks/task-attachment.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

/** The route that reads the files of tasks. */
export function attachmentRoutes({ reading }: Runtime): readonly Route[] {
  const attachment: Subject<FoundAttachment> = {
    find: ({ caller, params }) => findAttachment(reading, caller, params.taskId ?? "", params.attachmentId ?? ""),
  };
  return [
    subjectRoute(attachment, {
      method: "GET",
      path: "/api/tasks/{taskId}/attachments/{attachmentId}",
      operation: "getTaskAttachment",
      summary: "Download a file that an event attached to a task",
      description:
        "For people who may read the team's outcomes. Returns the file as it arrived, as a download; its type is " +
        "in the task. Returns 404 for a file that was not fetched yet, or could not be.",
      access: "any",
      answers: {
        200: {
          body: null,
          text: "application/octet-stream",
          headers: {
            "content-disposition": "`attachment`, with the file name",
            "x-content-type-options": "`nosniff`",
          },
        },
      },
      handle: (_request, { name, content }) => ({
        status: 200,
        text: { type: "application/octet-stream", content },
        headers: {
          "content-disposition": `attachment; filename*=UTF-8''${toExtended(name)}`,
          "x-content-type-options": "nosniff",
        },
      }),
    }),
  ];
}

/** Encodes a name as RFC 8187 specifies. */
function toExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
