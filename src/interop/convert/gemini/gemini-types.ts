import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../open-union.ts";

/** Bytes in a part, as base64. */
export interface GeminiBlob {
  mimeType: string;
  data: string;
}

/** Something said, thought, shown, called or returned. Any part can have a signature, and has to keep it. */
export interface GeminiPart {
  text?: string;
  /** Whether the text is what the model thought. */
  thought?: true;
  /** Base64. */
  thoughtSignature?: string;
  inlineData?: GeminiBlob;
  functionCall?: { name: string; args: Record<string, unknown>; id?: string };
  functionResponse?: {
    name: string;
    response: { output: string } | { error: string };
    id?: string;
    parts?: { inlineData: GeminiBlob }[];
  };
}

/** What one side says until the other does. */
export interface GeminiContent {
  role: "user" | "model";
  parts: GeminiPart[];
}

/** What `toGemini` makes. `systemInstruction` belongs into the request's `config`. */
export interface GeminiRequest {
  /** Absent if there is no system message. */
  systemInstruction?: { parts: { text: string }[] };
  contents: GeminiContent[];
  issues: ConversionIssue[];
}

/** A content as the SDK types it, and as `toGemini` makes it. */
export type GeminiContentLike = Open<{
  readonly role?: string | undefined;
  readonly parts?: readonly object[] | undefined;
}>;

/** A request with its contents as the SDK types them, and as `toGemini` makes it. */
export type GeminiRequestLike = Open<{
  readonly systemInstruction?: string | GeminiContentLike | undefined;
  readonly contents: readonly (GeminiContentLike | GeminiResponseLike)[];
}>;

/** A response as the SDK types it. */
export type GeminiResponseLike = Open<{
  readonly candidates?:
    | readonly Open<{
        readonly content?: GeminiContentLike | undefined;
        readonly finishReason?: string | undefined;
      }>[]
    | undefined;
  readonly responseId?: string | undefined;
  readonly modelVersion?: string | undefined;
  readonly usageMetadata?: Open<{ readonly promptTokenCount?: number | undefined }> | undefined;
}>;
