-- Branches whose pull requests are merged by a queue. Each row is a job: the worker builds the queue's groups,
-- looks what their checks say, and merges.
CREATE TABLE merge_queues (
    id       {{id}},
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    base_ref {{text}} NOT NULL, -- a branch

    wanted   BOOLEAN NOT NULL DEFAULT TRUE,
    again    BOOLEAN NOT NULL DEFAULT FALSE, -- something has changed while a worker was at it
    due_at   BIGINT NOT NULL DEFAULT 0, -- see db.Jobs
    tries    SMALLINT NOT NULL DEFAULT 0,
    UNIQUE (repo_id, base_ref)
);
CREATE INDEX merge_queues_wanted ON merge_queues (due_at, id) WHERE wanted;

-- Pull requests that wait in a queue.
CREATE TABLE queue_entries (
    id              {{id}},
    queue_id        BIGINT NOT NULL REFERENCES merge_queues (id) ON DELETE CASCADE,
    issue_id        BIGINT NOT NULL UNIQUE REFERENCES issues (id) ON DELETE CASCADE,
    enqueued_by     BIGINT NOT NULL REFERENCES accounts (id), -- merges the pull request
    installation_id BIGINT NOT NULL, -- of the App whose bot enqueued_by is; 0: it is a user
    enqueued_at     BIGINT NOT NULL,
    jumped          BOOLEAN NOT NULL -- before all that did not
);
CREATE INDEX queue_entries_of_queue ON queue_entries (queue_id);
CREATE INDEX queue_entries_by ON queue_entries (enqueued_by);

-- The branches of merge groups. A group holds an entry and all entries before it.
CREATE TABLE merge_groups (
    id       {{id}},
    queue_id BIGINT NOT NULL REFERENCES merge_queues (id) ON DELETE CASCADE,
    entry_id BIGINT NOT NULL, -- which may be gone
    made_by  BIGINT NOT NULL REFERENCES accounts (id),
    ref      {{text}} NOT NULL, -- refs/heads/gh-readonly-queue/...
    base_sha {{text}} NOT NULL, -- the base, or the group before it
    head_sha {{text}} NOT NULL,
    pull_sha {{text}} NOT NULL, -- the head of the pull request that it was made of
    made_at  BIGINT NOT NULL,
    told     {{text}} NOT NULL, -- as webhooks show it, in JSON
    ended    SMALLINT NOT NULL DEFAULT 0 -- 0: not yet, 1: merged, 2: invalidated, 3: dequeued
);
CREATE INDEX merge_groups_of_queue ON merge_groups (queue_id);
CREATE INDEX merge_groups_by ON merge_groups (made_by);
