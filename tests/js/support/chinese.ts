// All that the page says in Chinese.
import * as served from "../../../static/js/core/i18n/zh/served.ts";
import * as shared from "../../../static/js/core/i18n/zh/zh.ts";

export const TEXTS = { ...shared.TEXTS, ...served.TEXTS };
export const SERVERS = { ...shared.SERVERS, ...served.SERVERS };
