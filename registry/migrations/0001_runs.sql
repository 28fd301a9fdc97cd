-- Threads, their runs, the durable timeline, requirements and idempotency keys.

CREATE TABLE threads (
    thread_id  uuid PRIMARY KEY,          -- v7: its order is the order of creation
    owner      text NOT NULL,
    title      text NOT NULL,
    question   text NOT NULL,
    input      jsonb NOT NULL,            -- what its start asked for
    epoch      bigint NOT NULL DEFAULT 0, -- the fencing token: raised at each claim, and by
                                          -- whoever writes an event while nobody owns a run
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz                -- a delete was accepted; purged once nothing runs
);
CREATE INDEX threads_by_owner ON threads (owner, thread_id DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_to_purge ON threads (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE runs (
    run_id      uuid PRIMARY KEY,
    ordinal     bigint GENERATED ALWAYS AS IDENTITY, -- the latest run of a thread has the highest
    thread_id   uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    kind        text NOT NULL CHECK (kind IN ('start', 'continue', 'answer', 'modify', 'job')),
    status      text NOT NULL CHECK (status IN ('pending', 'running', 'waiting', 'succeeded',
                                                'failed', 'cancelled', 'interrupted')),
    priority    text NOT NULL DEFAULT 'default' CHECK (priority IN ('high', 'default', 'low')),
    input       jsonb NOT NULL,           -- what a retry passes again
    attempt     int NOT NULL DEFAULT 1,   -- + 1 when recovered from a dead worker
    epoch       bigint NOT NULL,          -- of its latest claim; of its first event before that
    first_epoch bigint NOT NULL,          -- of its first event
    worker_id   text,
    lease_until timestamptz,
    cancel_mode text CHECK (cancel_mode IN ('stop', 'finish')),
    cancel_by   text,
    cancel_at   timestamptz,
    interrupts  jsonb NOT NULL DEFAULT '[]', -- what a waiting run waits on
    problem     jsonb,                       -- why a failed one failed
    counters    jsonb NOT NULL DEFAULT '{}', -- sums that its body kept, such as tokens used
    created_at  timestamptz NOT NULL DEFAULT now(),
    started_at  timestamptz,
    ended_at    timestamptz
);
CREATE UNIQUE INDEX one_active_run_per_thread ON runs (thread_id)
    WHERE status IN ('pending', 'running');
CREATE INDEX runs_by_thread ON runs (thread_id, ordinal DESC);
CREATE INDEX runs_pending ON runs (ordinal) WHERE status = 'pending';
CREATE INDEX runs_leased ON runs (lease_until) WHERE status = 'running';

CREATE TABLE timeline (
    thread_id uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    epoch     bigint NOT NULL,
    seq       bigint NOT NULL,
    run_id    uuid,
    name      text NOT NULL,
    data      jsonb NOT NULL,
    PRIMARY KEY (thread_id, epoch, seq)
);

CREATE TABLE requirements (
    requirement_id uuid PRIMARY KEY,
    thread_id      uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    body           jsonb NOT NULL,
    status         text NOT NULL DEFAULT 'queued'
                   CHECK (status IN ('queued', 'applied', 'rejected')),
    created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX requirements_queued ON requirements (thread_id, created_at)
    WHERE status = 'queued';

CREATE TABLE idempotency (
    owner          text NOT NULL,
    key            text NOT NULL,
    digest         bytea NOT NULL,        -- of the request; the same key with another is refused
    thread_id      uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    run_id         uuid,
    requirement_id uuid,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
