-- Mirrors of repositories on other servers (package mirror). A repository is copied from at most one, and to a few.
CREATE TABLE mirrors (
    id            {{id}},
    repo_id       BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    push          BOOLEAN NOT NULL,             -- copied to the address; else from it, and read-only
    url           {{text}} NOT NULL,            -- without credentials
    username      {{text}} NOT NULL DEFAULT '',
    secret        {{text}} NOT NULL DEFAULT '', -- the password, encrypted with a key in the data folder
    every         BIGINT NOT NULL DEFAULT 0,    -- microseconds between two looks at the source; 0: after pushes only
    follow_head   BOOLEAN NOT NULL,             -- the default branch is that of the source
    was_private   BOOLEAN NOT NULL,             -- the repository's visibility when it was set up
    created_by    BIGINT REFERENCES accounts (id),
    by_operator   BOOLEAN NOT NULL,             -- nobody's right counts
    created_at    BIGINT NOT NULL,
    version       BIGINT NOT NULL DEFAULT 1,    -- raised with each change of the settings
    wanted        BIGINT NOT NULL DEFAULT 1,    -- raised whenever somebody asks for a run, or pushes
    active        BOOLEAN NOT NULL DEFAULT TRUE,
    due_at        BIGINT NOT NULL DEFAULT 0,
    tries         BIGINT NOT NULL DEFAULT 0,
    failures      BIGINT NOT NULL DEFAULT 0,    -- since the last success
    failing_since BIGINT,
    ended_at      BIGINT,                       -- the last run
    succeeded_at  BIGINT,
    problem       {{text}} NOT NULL DEFAULT ''  -- why the last run failed, for administrators
);
CREATE INDEX mirrors_of_repo ON mirrors (repo_id, push, id);
CREATE INDEX mirrors_due ON mirrors (due_at, id);
CREATE INDEX mirrors_by ON mirrors (created_by);
