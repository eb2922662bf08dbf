import { toRecord } from "../../core/context/entry-fields.ts";
import { getTellingArgument, type StoredCall } from "../../core/facts/tool-calls.ts";

/** Names of tools that run commands: the first words of a command show its purpose. */
export const SHELL = /^(?:bash|shell|exec|terminal|run_?(?:shell_?)?command|local_shell|powershell|command)/i;

/** Number of words compared per command. */
const WORDS = 2;

/** Maximum number of characters of a command that are read. */
const MAX_COMMAND = 4_000;

/** Maximum depth of nested shells whose command is read. */
const MAX_NESTED = 3;

/** Quoted or escaped text, command substitution, redirection, command separator, white space, or other characters. */
const TOKEN =
  /"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|\$\([^)]*\)|`[^`]*`|(?:\d+|&)?[<>]{1,3}-?\s*&?[^\s|;&]*|&&|\|\|?|[;&\n]|[^\S\n]+|[^\s"'\\|;&<>$`]+|[\s\S]/g;

const QUOTES = /^(["'])([\s\S]*)\1$/;
const REDIRECTION = /^(?:\d+|&)?[<>]/;
const ASSIGNMENT = /^\w+=/;

/** Here-document within a command, and the text after it. */
const DOCUMENT = /(<<-?\s*["']?\w[^\n]*)\n[\s\S]*/;

/** Programs that run a command given after their own options and numbers. */
const WRAPPER = /^(?:env|sudo|time|timeout|nohup|nice|command|exec)$/;
const WRAPPER_OPTION = /^(?:-\S*|\d+\w?)$/;

const SHELL_PROGRAM = /^(?:\S*\/)?(?:ba|z|da|k)?sh$/;

/** Commands that only prepare other commands, or print. */
const PREPARING = /^(?:cd|pushd|popd|export|unset|set|source|\.|echo|printf|true|:|sleep|pwd)$/;

/** Programs that only filter another program's output. */
const FILTER = /^(?:tail|head|[ef]?grep|rg|sed|awk|tee|cat|less|more|wc|sort|uniq|cut|tr|jq)$/;

/**
 * Returns the purposes of a call, which are used to compare calls: the tool and its main argument; for a command line, the first
 * words of each of its commands, in order, without commands that only prepare others or filter output. Never empty.
 */
export function getPurposes({ name, input }: Pick<StoredCall, "name" | "input">): string[] {
  const { command, cmd } = toRecord(input);
  const words = [command, cmd].find(Array.isArray);
  if (!SHELL.test(name)) return [`${name}\n${getTellingArgument(input)}`];
  const purposes =
    words === undefined
      ? getCommandPurposes(getTellingArgument(input))
      : getPurposesOfWords(words.filter((one) => typeof one === "string"));
  return purposes.length > 0 ? purposes : [getTellingArgument(input)];
}

function getCommandPurposes(text: string, depth = 0): string[] {
  const line = text.slice(0, MAX_COMMAND).replace(DOCUMENT, "$1");
  const purposes = splitCommands(line).map((stages) => {
    const own = stages.findLast(([program = ""]) => !FILTER.test(program)) ?? stages[0] ?? [];
    return { isPreparing: PREPARING.test(own[0] ?? ""), purposes: getPurposesOfWords(own, depth) };
  });
  const main = purposes.filter(({ isPreparing }) => !isPreparing);
  return (main.length > 0 ? main : purposes).flatMap((one) => one.purposes);
}

/** Returns the purposes of a program with its arguments; for a shell with a command, returns the purposes of that command. */
function getPurposesOfWords(words: readonly string[], depth = 0): string[] {
  const [program = "", option = ""] = words;
  if (SHELL_PROGRAM.test(program) && /^-\w*c$/.test(option) && depth < MAX_NESTED)
    return getCommandPurposes(words.slice(2).join(" "), depth + 1);
  return words.length === 0
    ? []
    : [
        words
          .slice(0, WORDS)
          .join(" ")
          .replace(/[)}]+$/, ""),
      ];
}

/** Splits a command line into commands; a command is an array of pipe stages, and a stage is an array of words. */
function splitCommands(line: string): string[][][] {
  const commands: string[][][] = [[[]]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.at(-1)?.push(word);
    word = undefined;
  };
  for (const [token] of line.matchAll(TOKEN)) {
    if (/^\s+$/.test(token) && token !== "\n") endWord();
    else if (REDIRECTION.test(token)) endWord();
    else if (token === "|") {
      endWord();
      commands.at(-1)?.push([]);
    } else if (/^(?:&&|\|\||[;&\n])$/.test(token)) {
      endWord();
      commands.push([[]]);
    } else word = `${word ?? ""}${QUOTES.exec(token)?.[2] ?? token}`;
  }
  endWord();
  const stages = commands.map((all) => all.map(withoutPrefix).filter((words) => words.length > 0));
  return stages.filter((all) => all.length > 0);
}

/** Drops variables, wrapping programs, and opening brackets before a program. */
function withoutPrefix(words: readonly string[]): string[] {
  const rest = [...words];
  const first = rest[0]?.replace(/^[({!]+/, "");
  if (first !== undefined) rest[0] = first;
  let isWrapped = false;
  while (rest[0] !== undefined) {
    const isWrapper = WRAPPER.test(rest[0]);
    const isOption = isWrapped && WRAPPER_OPTION.test(rest[0]);
    if (rest[0] !== "" && !ASSIGNMENT.test(rest[0]) && !isWrapper && !isOption) break;
    isWrapped ||= isWrapper;
    rest.shift();
  }
  return rest;
}
