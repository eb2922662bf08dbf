/** Place of a text: a comment, a message or the title of a test, a document, or the first line of a docstring. */
export type TextPlace = "comment" | "string" | "prose" | "opening";

/** Words that are not idiomatic, and what to write instead. */
export interface EnglishRule {
  /** Matches whole words, in any case. */
  readonly words: RegExp;
  readonly instead: string;
  /** Default: all except openings. */
  readonly places?: readonly TextPlace[];
}

const OPENING = ["opening"] as const;

/** Creates a rule for whole words. */
function rule(words: string, instead: string, places?: readonly TextPlace[]): EnglishRule {
  const pattern = new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, "i");
  return { words: pattern, instead, ...(places !== undefined && { places }) };
}

/** Creates a rule for the first words of a docstring. */
function opening(words: string, instead: string): EnglishRule {
  return { words: new RegExp(`^(?:${words})(?![\\w-])`), instead, places: OPENING };
}

/** Words to avoid, each with its replacement. */
export const ENGLISH_RULES: readonly EnglishRule[] = [
  opening("What", 'a noun ("Options for …", "Number of …") or a verb ("Returns …")'),
  opening("How", 'a noun ("Options for …") or a verb'),
  opening("Where", 'a noun ("Path of …", "Position of …") or a verb'),
  opening("Who", "a noun or a verb"),
  opening("That", "a noun or a verb"),
  opening("Gives", "Returns"),
  opening("Tells", "Returns, Reports, Returns whether"),
  opening("Says", "Returns, States"),
  opening("Makes sure", "Ensures"),
  opening("Looks", "Reads, Searches, Checks"),
  opening("Takes", "Accepts, Reads, Removes"),
  opening("Puts", "Writes, Adds, Inserts"),
  opening("Asks", "Requests, Calls"),
  rule("beside", "next to, besides, in addition to"),
  rule("behind", "after"),
  rule("stands?|stood(?! for)", "is, remains"),
  rule("tells?|told", "returns, reports, states"),
  rule("anew", "again, re-…"),
  rule("nobody", "no caller, no process, not … anyone"),
  rule("somebody", "another process, a user, someone"),
  rule("whoever", "the caller, anyone who"),
  rule("go(?:es)? on", "continue, continues"),
  rule("went on|going on", "continued, continuing"),
  rule("(?<!there )is no (?!longer|more\\b|way\\b|need\\b|point\\b|such\\b|reason\\b)\\w+", "is not a …"),
  rule("(?<!there )are no (?!longer|more\\b)\\w+", "are not …"),
  rule("what holds", "guarantees"),
  rule("doors?", "entry point, section"),
  rule("mend(?:s|ed|ing)?", "fix, repair"),
  rule("hangs? (?:on|off|below|under)", "is a child of"),
  rule("a way back", "branching, undo"),
  rule("for good", "permanently"),
  rule("(?:is|are) gone", "no longer exists, was removed"),
  rule("let(?:s)? go(?: of)?", "release, releases"),
  rule("(?:is|are) done with", "no longer needs, is finished"),
  rule("once more", "again"),
  rule("now and then", "occasionally"),
  rule("for nothing", "in vain, unnecessarily"),
  rule("leads? nowhere", "does not resolve"),
  rule("in front of", "before"),
  rule("lies? (?:in|at|on|between|before|after|below)", "is in"),
  rule("of late", "recently"),
  rule("whence|hence|thence", "so, therefore, from which"),
  rule("till", "until"),
  rule("lest", "so that … not"),
  rule("ought", "should, must"),
  rule("gladly|kindly", "nothing"),
  rule("on the spot", "immediately"),
  rule("goes by the name", "is named"),
  rule("takes? (?:it|them|this|that) for", "treats … as"),
  rule("wishe?s?(?: to)?", "want, request"),
  rule("shall", "must, will"),
  rule("thereby|hereby|whereby|wherein|therein|thereof|thereto", "a plain sentence"),
  rule("amongst|whilst", "among, while"),
  rule("towards|afterwards|upwards|downwards|outwards|inwards", "the form without -s"),
  rule(
    "colou?red in by|colours?|behaviours?|favou?rs? to|honours?|neighbours?|favours?",
    "the American spelling: -or",
  ),
  rule("centres?|metres?|fibres?", "the American spelling: -er"),
  rule("analyses? (?:the|a|an)|analysed|catalogues?", "the American spelling"),
  rule(
    "(?:recogn|serial|normal|initial|optim|summar|minim|maxim|synchron|final|custom|organ|real|general|author|emphas|util|priorit|visual|categor)is(?:e|es|ed|ing|ation|ations)",
    "the American spelling: -ize",
  ),
  rule("cancelled|cancelling|labelled|labelling|modelled|modelling|travell\\w+", "one l"),
  rule(
    "grey|licence|defence|judgement|artefacts?|programmes?|learnt|spelt|burnt|fulfil|cheque",
    "the American spelling",
  ),
  rule("utili[sz]\\w+|leverag\\w+", "use"),
  rule("in order to", "to"),
  rule("due to the fact that", "because"),
  rule("prior to", "before"),
  rule("subsequent to", "after"),
  rule("(?:is|are) able to", "can"),
  rule("obviously|basically|of course|simply put|needless to say", "nothing"),
  rule("please note(?: that)?|note that", "the fact itself"),
  rule("as well as possible", "best"),
  rule("in vain of", "without"),
  rule("by heart", "in memory"),
  rule("the same as ever", "unchanged"),
  rule("takes? away", "remove, removes"),
  rule("puts? away", "store, stores"),
  rule("comes? along", "arrive, arrives"),
  rule("cares? for|looks? after", "handle, handles"),
  rule("wants? no", "does not need"),
  rule("has? nothing to do with", "is unrelated to"),
  rule("at (?:its|their) place", "in its place"),
  rule("make(?:s)? (?:it|them) out", "recognize"),
  rule("thinks? (?:itself|themselves)", "assume"),
  rule("house(?!hold)", "architecture, package"),
];
