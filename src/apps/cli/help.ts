import type { Command as CommanderCommand, Help } from "commander";
import { COMMON_PARAMETERS, type Command, type LoadedCommand, PRETTY } from "./command.ts";
import type { Output } from "./output.ts";
import { measureWidth, wrapText } from "./text/width.ts";

/** Screen size for which the short help of a command is designed. */
const LINES = 24;
const COLUMNS = 80;

/** Minimum width of a description next to its term, in columns; with less space, the description is below the term. */
const NARROWEST = 20;

/** Indentation of a term, and gap before its description. */
const INDENT = "  ";

/** Parameters that the short help lists without descriptions. */
const COMMON: ReadonlySet<string> = new Set([PRETTY, ...COMMON_PARAMETERS].map(({ form }) => form));

interface HelpParts {
  readonly named: LoadedCommand;
  readonly made: CommanderCommand;
  readonly helper: Help;
  readonly out: Output;
}

/** Formats the short help of a command: its parameters in brief, and as many examples as fit on a screen. */
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
  // On a narrow screen, there may be space only for the names.
  const takes =
    described.length <= max
      ? described
      : wrapText(`It accepts ${own.map(({ form }) => form).join(", ")}.`, out.columns);
  const lines = [...head, ...takes, ...also];
  const room = LINES - 3 - lines.length;
  const examples = listCommonExamples(command).map(([line, purpose]) => formatExample(line, purpose, out));
  const more = `All of it: sessiontree help ${name}`;
  return [...lines, "", ...examples.slice(0, Math.max(1, room)), more, ""].join("\n");
}

/** Returns the examples without options that the short help omits. */
function listCommonExamples({ parameters, examples }: Command): Command["examples"] {
  const rare = parameters.flatMap(({ form, isRare }) =>
    isRare === true ? (form.match(/--[a-z-]+/)?.[0] ?? []) : [],
  );
  return examples.filter(([line]) => !line.split(" ").some((word) => rare.includes(word)));
}

/** Formats the complete help of a command. */
export function formatWholeHelp({ named, made, helper, out }: HelpParts): string {
  const { command, summary } = named;
  const { colors, columns } = out;
  // Existing line breaks in the text would make ragged lines.
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
  description: "print short help; help COMMAND prints all",
};

/** Formats parameters in a list, each followed by its description. */
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
    // Next to long terms on a narrow screen, there is not enough space for words.
    if (out.columns - before < NARROWEST)
      return [term.trimEnd(), ...wrapText(text, out.columns - 4).map((line) => `    ${line}`)];
    return wrapText(text, out.columns - before).map(
      (line, i) => `${i === 0 ? term : " ".repeat(term.length)}${INDENT}${line}`,
    );
  });
}

/** Truncates a parameter's description at a semicolon or colon to fit on a line; the complete help contains all of it. */
function shortenDescription({ description }: Described, room: number): string {
  if (measureWidth(description) <= room) return description;
  const ends = (sign: string) => {
    const parts = description.split(sign);
    return parts.map((_, i) => parts.slice(0, i + 1).join(sign)).filter((text) => measureWidth(text) <= room);
  };
  return ends("; ").at(-1) ?? ends(": ").at(-1) ?? description;
}

/** Formats an example on one line, with its purpose if there is space. */
function formatExample(line: string, purpose: string, { colors, columns }: Output): string {
  const text = `${INDENT}sessiontree ${line}`;
  const comment = `${INDENT}# ${purpose}`;
  return measureWidth(text + comment) <= columns ? text + colors.dim(comment) : text;
}
