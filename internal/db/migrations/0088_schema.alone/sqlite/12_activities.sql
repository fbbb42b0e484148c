-- Feeds of what happened.

-- The feeds: a row for each thing that happened. It names its subject and holds none of its text (package
-- activity).
CREATE TABLE activities (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    org_id     BIGINT,                        -- the organization that owns the repository; NULL: a user does
    actor_id   BIGINT NOT NULL,
    public     BOOLEAN NOT NULL,              -- everybody may see it: was_public, and the repository still is
    kind       SMALLINT NOT NULL,             -- see activity.Kind
    issue_id   BIGINT,                        -- of kinds 7 to 12
    subject_id BIGINT,                        -- the fork, member, comment, review or release
    ref        TEXT,                          -- of kinds 1 to 3; NULL: the repository itself was created
    before_sha TEXT,
    after_sha  TEXT,
    created_at BIGINT NOT NULL,
    was_public BOOLEAN NOT NULL DEFAULT FALSE -- the repository was public when it happened
);
CREATE INDEX activities_of_actor ON activities (actor_id, public, id);
CREATE INDEX activities_of_org ON activities (org_id, public, id) WHERE org_id IS NOT NULL;
CREATE INDEX activities_of_repo ON activities (repo_id, public, id);

-- Job: how far the removal of activities that no feed shows has come. One row, once that has begun.
CREATE TABLE activity_pruning (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    position BIGINT NOT NULL, -- the last activity that was looked at; 0: the next round begins
    began    BIGINT NOT NULL, -- the newest activity when this round began
    paid     BIGINT NOT NULL  -- the newest activity for which work was done
);
