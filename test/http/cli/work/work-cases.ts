import { runCases } from "./run-cases.js";
import { taskCases } from "./task-cases.js";

export const workCases = [...taskCases, ...runCases];
