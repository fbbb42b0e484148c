-- Who changed accounts, access, membership, visibility, ownership or tokens: see package
-- audit. Names are what they were then, and stay when their bearers are renamed or deleted,
-- so ids here are plain numbers without foreign keys.
CREATE TABLE audit (
    id         {{id}},
    created_at BIGINT NOT NULL,
    action     {{text}} NOT NULL,               -- in GitHub's words: repo.create
    actor_id   BIGINT,                          -- NULL: no account's: the operator's, or the process's own
    actor      {{text}},
    address    {{text}},                        -- of the client; of the operator the system's user
    token_id   BIGINT,
    allowed    {{text}} NOT NULL,               -- the right by which it was allowed
    request    {{text}},                        -- the request's id, as in the log
    org_id     BIGINT,                          -- the organization that it concerned
    org        {{text}},
    user_id    BIGINT,                          -- the user whom it was done to
    user_login {{text}},
    repo_id    BIGINT,
    repo       {{text}},                        -- OWNER/NAME
    changes    {{text}} NOT NULL                -- a JSON object
);
CREATE INDEX audit_by_time ON audit (created_at, id);
CREATE INDEX audit_by_action ON audit (action, created_at, id);
CREATE INDEX audit_by_actor ON audit ((lower(actor)), created_at, id);
CREATE INDEX audit_by_repo ON audit ((lower(repo)), created_at, id);
CREATE INDEX audit_of_org ON audit (org_id, created_at, id);
CREATE INDEX audit_of_org_by_action ON audit (org_id, action, created_at, id);
CREATE INDEX audit_of_org_by_actor ON audit (org_id, (lower(actor)), created_at, id);
CREATE INDEX audit_of_org_by_repo ON audit (org_id, (lower(repo)), created_at, id);

-- Which node removes old rows: one row once that has begun, see db.Jobs.
CREATE TABLE audit_pruning (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    due_at BIGINT NOT NULL,
    tries  BIGINT NOT NULL DEFAULT 0
);
