import type { Command as CommanderCommand, Help } from "commander";
import { COMMON_PARAMETERS, type LoadedCommand, PRETTY } from "./command.ts";
import type { Output } from "./output.ts";
import { measureWidth, wrapText } from "./text/width.ts";

/** Lines and columns of a screen on which the short help of a command fits. */
const LINES = 24;
const COLUMNS = 80;

/** Columns that a text gets at least beside a term; where there are fewer, it stands below. */
const NARROWEST = 20;

/** Columns before a term of a list, and before what it means. */
const INDENT = "  ";

/** Parameters that the short help names without a line of their own. */
const COMMON: ReadonlySet<string> = new Set([PRETTY, ...COMMON_PARAMETERS].map(({ form }) => form));

interface HelpParts {
  readonly named: LoadedCommand;
  readonly made: CommanderCommand;
  readonly helper: Help;
  readonly out: Output;
}

/** Writes the help of a command: what it takes in short, and as many examples as a screen has room for. */
export function formatShortHelp({ named, made, helper, out }: HelpParts): string {
  const { command, name, summary } = named;
  const own = command.parameters.filter(({ form, isRare }) => !COMMON.has(form) && isRare !== true);
  const common = [PRETTY, ...COMMON_PARAMETERS].filter(
    (one) => one !== PRETTY || command.parameters.includes(PRETTY),
  );
  const forms = common.map(({ form }) => form).join(", ");
  const head = [
    ...wrapText(`Usage: ${helper.commandUsage(made)}`, out.columns),
    ...wrapText(`${summary}.`, out.columns),
    "",
  ];
  const also = wrapText(`Also ${forms}.`, out.columns);
  const max = LINES - 4 - head.length - also.length;
  const described = formatParameters(own, out, shortenDescription);
  // On a narrow screen there may be room for the names alone.
  const takes =
    described.length <= max
      ? described
      : wrapText(`It takes ${own.map(({ form }) => form).join(", ")}.`, out.columns);
  const lines = [...head, ...takes, ...also];
  const room = LINES - 3 - lines.length;
  const examples = command.examples.flatMap(([line, purpose]) => formatExample(line, purpose, out));
  const more = `All of it: sessiontree help ${name}`;
  return [...lines, "", ...examples.slice(0, Math.max(1, room)), more, ""].join("\n");
}

/** Writes all that there is to know of a command. */
export function formatWholeHelp({ named, made, helper, out }: HelpParts): string {
  const { command, summary } = named;
  const { colors, columns } = out;
  // Breaks that are in the text already would make ragged lines.
  const paragraphs = [`${summary}.`, ...(command.details?.split(/\n{2,}/) ?? [])];
  const parameters = [...command.parameters, ...COMMON_PARAMETERS];
  const examples = command.examples.flatMap(([line, purpose]) => [
    ...wrapText(purpose, columns - 4).map((text) => `  ${colors.dim(`# ${text}`)}`),
    `  sessiontree ${line}`,
  ]);
  return [
    ...wrapText(`Usage: ${helper.commandUsage(made)}`, columns),
    ...paragraphs.flatMap((text) => ["", ...wrapText(text.trim(), columns)]),
    "",
    ...formatParameters([...parameters, HELP], out, ({ description }) => description),
    "",
    colors.bold("Examples:"),
    ...examples,
    "",
  ].join("\n");
}

interface Described {
  readonly form: string;
  readonly description: string;
}

const HELP: Described = {
  form: "-h, --help",
  description: "print what is needed most; help COMMAND prints all",
};

/** Writes parameters below each other, what they mean behind them. */
function formatParameters(
  parameters: readonly Described[],
  out: Output,
  toText: (parameter: Described, room: number) => string,
): string[] {
  const width = Math.max(0, ...parameters.map(({ form }) => measureWidth(form)));
  const before = INDENT.length * 2 + width;
  return parameters.flatMap((parameter) => {
    const term = INDENT + parameter.form.padEnd(width);
    const text = toText(parameter, Math.max(COLUMNS, out.columns) - before);
    // Beside long terms of a narrow screen there is no room for words.
    if (out.columns - before < NARROWEST)
      return [term.trimEnd(), ...wrapText(text, out.columns - 4).map((line) => `    ${line}`)];
    return wrapText(text, out.columns - before).map(
      (line, i) => `${i === 0 ? term : " ".repeat(term.length)}${INDENT}${line}`,
    );
  });
}

/** Shortens what a parameter means, at a semicolon or colon, to what fits on a line; the rest is in the whole help. */
function shortenDescription({ description }: Described, room: number): string {
  if (measureWidth(description) <= room) return description;
  const ends = (sign: string) => {
    const parts = description.split(sign);
    return parts.map((_, i) => parts.slice(0, i + 1).join(sign)).filter((text) => measureWidth(text) <= room);
  };
  return ends("; ").at(-1) ?? ends(": ").at(-1) ?? description;
}

/** Writes an example on one line, with its purpose if there is room. */
function formatExample(line: string, purpose: string, { colors, columns }: Output): string {
  const text = `${INDENT}sessiontree ${line}`;
  const comment = `${INDENT}# ${purpose}`;
  return measureWidth(text + comment) <= columns ? text + colors.dim(comment) : text;
}
