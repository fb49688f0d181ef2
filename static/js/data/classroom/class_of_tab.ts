// Which class this tab is in, and as what. Kept for the tab alone: another tab of the same browser is free.
export type Part = "leader" | "member";

const KEPT = "bubbleline.class";

export function classOfTab(): { code: string; part: Part } | null {
  const [code, part] = (sessionStorage.getItem(KEPT) ?? "").split(" ");
  return code && (part === "leader" || part === "member") ? { code, part } : null;
}

export function keepClass(code: string, part: Part) {
  sessionStorage.setItem(KEPT, `${code} ${part}`);
}

export function forgetClass() {
  sessionStorage.removeItem(KEPT);
}
