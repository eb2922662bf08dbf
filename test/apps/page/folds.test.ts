import { expect, test } from "vitest";
import { Folds } from "../../../src/apps/page/ui/fold.tsx";

test("the folds of an entry open together, and close if all of them are open", () => {
  const folds = new Folds();
  const drawn: string[] = [];
  for (const name of ["call", "output"]) folds.show(1, name, () => drawn.push(name));
  folds.show(2, "call", () => drawn.push("other"));
  folds.set(1, "call", true);
  folds.toggleEntry(1);
  expect([folds.isOpen(1, "call"), folds.isOpen(1, "output"), folds.isOpen(2, "call")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(drawn).toEqual(["call", "call", "output"]);
  folds.toggleEntry(1);
  expect([folds.isOpen(1, "call"), folds.isOpen(1, "output")]).toEqual([false, false]);
});

test("if all folds are open, those of an entry close first", () => {
  const folds = new Folds();
  folds.setAll(true);
  folds.show(1, "call", () => undefined);
  folds.toggleEntry(1);
  expect([folds.isOpen(1, "call"), folds.isOpen(2, "call")]).toEqual([false, true]);
});

test("a fold removed from the document is not drawn, and returns in its current state", () => {
  const folds = new Folds();
  let times = 0;
  const leave = folds.show(1, "call", () => times++);
  folds.toggleEntry(1);
  leave();
  folds.set(1, "call", false);
  expect([times, folds.isOpen(1, "call")]).toEqual([1, false]);
});
