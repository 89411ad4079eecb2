-- One row. `id` tells this database from every other one that has lain at its path.
CREATE TABLE store (id TEXT NOT NULL, pruned INTEGER NOT NULL) STRICT;

-- A session without a key is being deleted, and nobody sees it.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    key TEXT UNIQUE,
    agent TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_age ON sessions (updated, id);

-- `first` is the number of its first message; `state` is 0 while it runs.
CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    first INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    began INTEGER NOT NULL,
    ended INTEGER
) STRICT;
CREATE INDEX turns_of_session ON turns (session, state);

-- `until` is there in summaries only: they stand for the messages up to that number.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    number INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    time INTEGER NOT NULL,
    until INTEGER,
    body TEXT NOT NULL,
    UNIQUE (session, number)
) STRICT;
CREATE INDEX summaries ON messages (session, number) WHERE until IS NOT NULL;

-- The bytes of media, once each.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;

-- Which messages need which of them.
CREATE TABLE links (
    message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blobs (id),
    PRIMARY KEY (message, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_blob ON links (blob);
