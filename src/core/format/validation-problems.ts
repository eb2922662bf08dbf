const MAX_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 300;

/** Problem with a value, and its path. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Formats the problems with a value, one per line: the path, a colon, and the expected value.
 *
 * @returns At most twenty lines. If problems were omitted, the last line states their number.
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

/** Formats a path into a value as code, for example `message.content[0].text`. */
function formatDotPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => {
      if (typeof key === "number") return `[${key}]`;
      if (typeof key === "symbol" || !/^[\w$]+$/.test(key)) return `[${JSON.stringify(String(key))}]`;
      return i === 0 ? key : `.${key}`;
    })
    .join("");
}

/**
 * Returns the type of a value with an article, such as `a string`, `an array`, or `null`. Never quotes the value, because it may
 * be long or private.
 */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  return withArticle(Array.isArray(value) ? "array" : typeof value);
}

/** Adds an article to the name of a type. */
export function withArticle(noun: string): string {
  if (noun === "null" || noun === "undefined") return noun;
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
