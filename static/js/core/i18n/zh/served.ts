// What only a page with its server says in Chinese: a stand-alone file has no use for it.
import { CLASSES_MESSAGES } from "./messages_classes.ts";
import { CONFIGURATION_MESSAGES } from "./messages_configuration.ts";
import { DIAGNOSIS_MESSAGES } from "./messages_diagnosis.ts";
import { CLASSROOM } from "./page/classroom.ts";
import { DIAGNOSIS } from "./page/diagnosis.ts";

export const TEXTS: Record<string, string> = { ...CLASSROOM, ...DIAGNOSIS };
export const SERVERS: Record<string, string> = {
  ...CLASSES_MESSAGES,
  ...CONFIGURATION_MESSAGES,
  ...DIAGNOSIS_MESSAGES,
};
