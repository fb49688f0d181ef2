// Defines <bubble-line> for any page: one script, no server, no framework.
import { BubbleLine } from "./component/element.ts";

if (!customElements.get("bubble-line")) customElements.define("bubble-line", BubbleLine);
