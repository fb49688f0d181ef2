// Starts a page of a class: its language and look, then the part that the page is.
import { createDesk } from "./desk.ts";
import { createHome } from "./home.ts";
import { createJoin } from "./join.ts";
import { createLook, createLookMenu } from "../learn/look.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { loadLanguage } from "../../ui/languages.ts";

const PARTS: Record<string, (code: string) => void> = { home: createHome, join: createJoin, lead: createDesk };

export async function startClass() {
  const look = createLook();
  const { dataset } = document.body;
  const asked = new URLSearchParams(location.search).get("lang") ?? document.documentElement.dataset.language;
  await loadLanguage(`?lang=${asked}`, () => import("../../core/i18n/zh/served.ts"));
  applyAppearance(look.get().view);
  createLookMenu(look);
  PARTS[dataset.part ?? ""]?.(dataset.code ?? "");
}
