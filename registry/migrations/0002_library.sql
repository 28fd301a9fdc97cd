-- Documents, the stored texts behind every citation, and the ranking's inverted index.

CREATE TABLE snapshots (
    id           uuid PRIMARY KEY,
    kind         text NOT NULL CHECK (kind IN ('document', 'web')),
    url          text NOT NULL,
    title        text NOT NULL,
    date         text,                    -- ISO date, where the source gives one
    text         text NOT NULL,           -- offsets are code points into this
    content_hash bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    released_at  timestamptz DEFAULT now() -- since when only threads keep it; null while it is
                                           -- the current text of a document
);
CREATE INDEX snapshots_released ON snapshots (released_at) WHERE released_at IS NOT NULL;
CREATE INDEX snapshots_of_pages ON snapshots (url, content_hash) WHERE kind = 'web';

CREATE TABLE documents (
    id           uuid PRIMARY KEY,
    owner        text,                    -- null: everybody's
    root         text NOT NULL,           -- the folder it is in
    name         text NOT NULL,           -- its path below that, with slashes
    size         bigint NOT NULL,
    changed_ns   bigint NOT NULL,         -- the later of its mtime and ctime
    reader       int NOT NULL,            -- release of the readers that made its text
    content_hash bytea,
    status       text NOT NULL DEFAULT 'queued'
                 CHECK (status IN ('queued', 'indexing', 'ready', 'failed')),
    reason       text,                    -- why a failed one failed
    attempts     int NOT NULL DEFAULT 0,  -- readings begun since it last changed
    snapshot_id  uuid REFERENCES snapshots,
    passages     int NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX documents_shared ON documents (root, name) WHERE owner IS NULL;
CREATE INDEX documents_by_owner ON documents (owner);
CREATE INDEX documents_by_snapshot ON documents (snapshot_id);
CREATE INDEX documents_to_index ON documents (created_at) WHERE status IN ('queued', 'indexing');

CREATE TABLE passages (
    snapshot_id uuid NOT NULL REFERENCES snapshots ON DELETE CASCADE,
    ordinal     int NOT NULL,
    start_at    int NOT NULL,
    end_at      int NOT NULL,
    heading     text NOT NULL,            -- the one it stands under, "" where there is none
    text        text NOT NULL,            -- snapshots.text[start_at:end_at]: a hit needs no page
    PRIMARY KEY (snapshot_id, ordinal)
);

CREATE TABLE thread_snapshots (
    thread_id   uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    snapshot_id uuid NOT NULL REFERENCES snapshots,
    PRIMARY KEY (thread_id, snapshot_id)
);
CREATE INDEX thread_snapshots_by_snapshot ON thread_snapshots (snapshot_id);

-- The index is a set of immutable segments, each of one owner and of 65,535 passages at most.
CREATE TABLE segments (
    segment_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner      text,
    passages   int NOT NULL,
    lengths    bytea NOT NULL,            -- terms of each passage: little-endian uint16
    version    int NOT NULL DEFAULT 1,    -- raised when a part of it dies
    retired_at timestamptz                -- merged into another; kept for searches under way
);
CREATE INDEX segments_by_owner ON segments (owner) WHERE retired_at IS NULL;

-- Passages first .. first + count - 1 of a segment are those of one snapshot, in order.
CREATE TABLE segment_parts (
    segment_id  int NOT NULL REFERENCES segments ON DELETE CASCADE,
    first       int NOT NULL,
    count       int NOT NULL,
    snapshot_id uuid NOT NULL,
    live        boolean NOT NULL DEFAULT true,
    PRIMARY KEY (segment_id, first)
);
CREATE INDEX segment_parts_by_snapshot ON segment_parts (snapshot_id);

CREATE TABLE postings (
    segment_id int NOT NULL,
    term       text NOT NULL,
    data       bytea NOT NULL,            -- records of 3 bytes: passage (uint16), frequency (uint8)
    PRIMARY KEY (segment_id, term)
);
ALTER TABLE postings ALTER COLUMN data SET STORAGE EXTERNAL;

-- One process indexes at a time.
CREATE TABLE index_lease (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    holder text NOT NULL,
    until  timestamptz NOT NULL
);
