import type { Block } from "../model/blocks.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";

interface JsonFoldProps {
  readonly ordinal: number;
  /** Tells the folds of an entry apart. */
  readonly name: string;
  readonly block: Extract<Block, { kind: "json" }>;
}

/** What a program stored, folded. */
export function JsonFold({ ordinal, name, block }: JsonFoldProps) {
  return (
    <Fold ordinal={ordinal} name={name} class="json" summary={<span class="fold-title">{block.title}</span>}>
      {() => <Code text={block.text} language="json" />}
    </Fold>
  );
}
