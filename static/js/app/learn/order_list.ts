// A list of ops that a reader puts in order: by two buttons on each, or by dragging it with a pointer.

type Say = (op: string, place: number) => void;

export function createOrder(list: HTMLElement, say: Say) {
  const rows = () => [...list.children] as HTMLElement[];
  const told = (row: HTMLElement) => say(row.dataset.op ?? "", rows().indexOf(row) + 1);

  function move(row: HTMLElement, to: number) {
    const others = rows().filter((each) => each !== row);
    if (to < 0 || to > others.length || rows()[to] === row) return false;
    list.insertBefore(row, others[to] ?? null);
    return true;
  }

  list.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest("button");
    const row = (button?.closest("li") ?? null) as HTMLElement | null;
    if (!button || !row) return;
    if (move(row, rows().indexOf(row) + Number(button.dataset.move))) told(row);
    button.focus();
  });

  for (const row of rows()) drag(row);

  /**
   * A pointer on an op's name holds its row. The row moves in the document, which ends a capture of the pointer: so the
   * document is listened to.
   */
  function drag(row: HTMLElement) {
    const handle = row.querySelector("code");
    handle?.addEventListener("pointerdown", (event) => {
      if (row.querySelector("button")?.disabled) return;
      const end = new AbortController();
      const { signal } = end;
      row.classList.add("is-held");
      document.addEventListener("pointermove", (moved) => moved.pointerId === event.pointerId && follow(moved), {
        signal,
      });
      for (const kind of ["pointerup", "pointercancel"])
        document.addEventListener(
          kind,
          () => {
            end.abort();
            row.classList.remove("is-held");
            told(row);
          },
          { signal },
        );
    });

    function follow(event: PointerEvent) {
      const others = rows().filter((each) => each !== row);
      const below = others.findIndex((each) => {
        const box = each.getBoundingClientRect();
        return event.clientY < box.top + box.height / 2;
      });
      move(row, below < 0 ? others.length : below);
    }
  }
}
