// What only a page with its server says in Chinese: a stand-alone file has no use for it.
import { CONFIGURATION_MESSAGES } from "./messages_configuration.ts";
import { DIAGNOSIS_MESSAGES } from "./messages_diagnosis.ts";
import { DIAGNOSIS } from "./page/diagnosis.ts";

export const TEXTS: Record<string, string> = DIAGNOSIS;
export const SERVERS: Record<string, string> = { ...DIAGNOSIS_MESSAGES, ...CONFIGURATION_MESSAGES };
