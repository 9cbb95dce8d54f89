import { taskCases } from "./task-cases.js";

export const workCases = [...taskCases];
