import type { ContentPart } from "../../../core/facts/entry-content.ts";
import { imageAddress, imageText } from "../../../core/facts/images.ts";
import { prettyJson } from "../../text/pretty-json.ts";
import { Code } from "./code.tsx";
import { Fold } from "./fold.tsx";

type StoredKind = Extract<ContentPart, { kind: "data" | "image" | "note" | "failure" }>;

interface StoredPartProps {
  readonly ordinal: number;
  /** Tells the folds of an entry apart. */
  readonly name: string;
  readonly part: StoredKind;
}

/** A part that is the same in whatever it stands: what a program stored, an image, or what is said about the entry. */
export function StoredPart({ ordinal, name, part }: StoredPartProps) {
  switch (part.kind) {
    case "data":
      return (
        <Fold
          ordinal={ordinal}
          name={name}
          class="json"
          summary={<span class="fold-title">{part.title}</span>}
        >
          {() => <Code text={prettyJson(part.value)} language="json" />}
        </Fold>
      );
    case "image": {
      const address = imageAddress(part);
      return address === undefined ? (
        <p class="muted">(an image that cannot be shown: {imageText(part)})</p>
      ) : (
        <img class="picture" src={address} alt="Stored in this entry" loading="lazy" />
      );
    }
    case "note":
      return <p class="muted">{part.text}</p>;
    case "failure":
      return <p class="error">{part.text}</p>;
  }
}

/** Tells whether `StoredPart` shows a part. */
export function isStored(part: ContentPart): part is StoredKind {
  return part.kind === "data" || part.kind === "image" || part.kind === "note" || part.kind === "failure";
}
