const MAX_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 300;

/** One thing that is wrong with a value, and where in it. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Writes what is wrong with a value, one line per problem: the path, a colon, and what was expected there.
 *
 * @returns At most twenty lines, the last of which tells how many were left out.
 */
export function formatProblems(problems: readonly Problem[]): string[] {
  if (problems.length <= MAX_PROBLEMS) return problems.map(formatProblem);
  const shown = problems.slice(0, MAX_PROBLEMS - 1);
  return [...shown.map(formatProblem), `and ${problems.length - shown.length} more problems`];
}

function formatProblem({ path, message }: Problem): string {
  const line = path.length === 0 ? message : `${formatDotPath(path)}: ${message}`;
  return line.length > MAX_PROBLEM_LENGTH ? `${line.slice(0, MAX_PROBLEM_LENGTH)}…` : line;
}

/** Writes a path in a value as code would: `message.content[0].text`. */
function formatDotPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => {
      if (typeof key === "number") return `[${key}]`;
      if (typeof key === "symbol" || !/^[\w$]+$/.test(key)) return `[${JSON.stringify(String(key))}]`;
      return i === 0 ? key : `.${key}`;
    })
    .join("");
}

/** Names what a value is, with its article: `a string`, `an array`, `null`. Never quotes it: it may be long or private. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  return withArticle(Array.isArray(value) ? "array" : typeof value);
}

/** Puts the article before the name of a kind. */
export function withArticle(noun: string): string {
  if (noun === "null" || noun === "undefined") return noun;
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
