/** Names of all tables. The prefix distinguishes them from other programs' tables in the same database. */
export const TABLES = {
  versions: "sessiontree_versions",
  sessions: "sessiontree_sessions",
  lines: "sessiontree_lines",
  pieces: "sessiontree_pieces",
  texts: "sessiontree_texts",
  deletedSessions: "sessiontree_deleted_sessions",
  /** Index of the searchable text. Exists only if the SQLite library supports FTS5 with trigrams. */
  search: "sessiontree_search",
} as const;

const { versions, sessions, lines, pieces, texts, deletedSessions, search } = TABLES;

/** Statement that creates the table of migrations if it is missing. */
export const CREATE_VERSIONS = `create table if not exists ${versions} (version integer primary key, purpose text not null, made_at text not null default current_timestamp)`;

const SESSIONS = `create table ${sessions} (
  key integer primary key,
  id text not null,
  cwd text not null,
  parent_session text,
  name text,
  name_search text,
  created_ms integer not null,
  last_message_ms integer,
  modified_ms integer not null,
  message_count integer not null,
  first_message text,
  revision integer not null default 0,
  next_seq integer not null default 1,
  last_seq integer not null default 0,
  leaf_seq integer not null default 0,
  is_complete integer not null default 0,
  made_at text not null default current_timestamp
)`;

/** Table of lines. A long line is stored in pieces, because Durable Objects limit the size of a row. */
const LINES = `create table ${lines} (
  key integer primary key,
  session integer not null,
  seq integer not null,
  entry_id text,
  parent_id text,
  type text,
  time_ms integer,
  is_unterminated integer not null,
  is_base64 integer not null,
  length integer not null,
  has_pieces integer not null,
  usage text,
  line text not null,
  unique (session, seq)
)`;

const PIECES = `create table ${pieces} (line integer not null, piece integer not null, text text not null, primary key (line, piece)) without rowid`;

/**
 * Table of searchable text in uppercase. Null means that the text is too long for a row, so a search must read the line.
 */
const TEXTS = `create table ${texts} (line integer primary key, text text)`;

/**
 * Table of deleted sessions, so that they are not mistaken for lost sessions, and new sessions do not begin with an old
 * revision.
 */
const DELETED_SESSIONS = `create table ${deletedSessions} (id text primary key, revision integer not null, deleted_at text not null default current_timestamp)`;

/** Statements that create the tables. Triggers delete the rows of a deleted session, even if another program deletes it. */
export const CREATE_TABLES = [
  SESSIONS,
  `create unique index sessiontree_sessions_by_id on ${sessions} (id) where is_complete = 1`,
  `create index sessiontree_sessions_by_time on ${sessions} (modified_ms desc, id) where is_complete = 1`,
  `create index sessiontree_sessions_by_cwd on ${sessions} (cwd, modified_ms desc, id) where is_complete = 1`,
  LINES,
  `create index sessiontree_lines_by_entry on ${lines} (session, entry_id) where entry_id is not null`,
  `create index sessiontree_lines_by_usage on ${lines} (session, seq, usage) where usage is not null`,
  `create index sessiontree_lines_without_entry on ${lines} (session) where entry_id is null`,
  PIECES,
  TEXTS,
  `create index sessiontree_long_texts on ${texts} (line) where text is null`,
  DELETED_SESSIONS,
  `create trigger sessiontree_note_deleted after delete on ${sessions} when old.is_complete = 1 begin
    insert into ${deletedSessions} (id, revision) values (old.id, old.revision)
      on conflict (id) do update set revision = max(revision, excluded.revision), deleted_at = current_timestamp;
  end`,
  `create trigger sessiontree_delete_lines after delete on ${sessions} begin
    delete from ${lines} where session = old.key;
  end`,
  `create trigger sessiontree_delete_parts after delete on ${lines} begin
    delete from ${pieces} where line = old.key;
    delete from ${texts} where line = old.key;
  end`,
];

/**
 * Statements that create the search index. Trigrams match any part of a string in any language. The index omits
 * positions, because strings that contain all trigrams of a word are then compared with the word.
 */
export const CREATE_SEARCH_INDEX = [
  `create virtual table ${search} using fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1')`,
  `create trigger sessiontree_index_text after insert on ${texts} when new.text is not null begin
    insert into ${search} (rowid, text) values (new.line, new.text);
  end`,
  `create trigger sessiontree_remove_text after delete on ${texts} when old.text is not null begin
    delete from ${search} where rowid = old.line;
  end`,
];

/** Statements that drop all tables, including all sessions. */
export const DROP_TABLES = [
  ...[search, texts, pieces, lines, sessions, deletedSessions].map((name) => `drop table if exists ${name}`),
];
