-- What builds, Apps and people say of commits.

-- Statuses that builds report of commits: all of them.
CREATE TABLE statuses (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha         TEXT NOT NULL,
    context     TEXT NOT NULL,     -- as it was sent
    state       SMALLINT NOT NULL, -- 1 error, 2 failure, 3 pending, 4 success
    target_url  TEXT,
    description TEXT,
    creator_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at  BIGINT NOT NULL
);
CREATE INDEX statuses_of_commit ON statuses (repo_id, sha, id);

-- The latest status of each context of a commit.
CREATE TABLE status_contexts (
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha       TEXT NOT NULL,
    context   TEXT NOT NULL,     -- in lower case
    status_id BIGINT NOT NULL,
    state     SMALLINT NOT NULL, -- of that status
    total     BIGINT NOT NULL,   -- counter: statuses of the context
    PRIMARY KEY (repo_id, sha, context)
);

-- Counters of these for each commit.
CREATE TABLE status_commits (
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha      TEXT NOT NULL,
    total    BIGINT NOT NULL DEFAULT 0, -- statuses
    contexts BIGINT NOT NULL DEFAULT 0,
    failed   BIGINT NOT NULL DEFAULT 0, -- contexts whose latest is an error or a failure
    pending  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, sha)
);

-- Check runs that Apps report of commits. A suite holds the runs of one App for one commit. Suites outlive
-- their App, so app_id has no foreign key.
CREATE TABLE check_suites (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    app_id      BIGINT NOT NULL,
    head_sha    TEXT NOT NULL,
    head_branch TEXT,                        -- NULL: no branch had this tip
    before_sha  TEXT,                        -- of the push that made the commit the tip; NULL: no push did
    status      SMALLINT NOT NULL DEFAULT 1, -- 1 queued, 2 in progress, 3 completed
    conclusion  SMALLINT NOT NULL DEFAULT 0, -- the worst of its runs, once completed
    runs        BIGINT NOT NULL DEFAULT 0,   -- counter: the latest of each name
    waiting     BIGINT NOT NULL DEFAULT 0,   -- of these, not completed
    failing     BIGINT NOT NULL DEFAULT 0,   -- of these, failed
    bytes       BIGINT NOT NULL,             -- of its own row and all its runs
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    UNIQUE (repo_id, head_sha, app_id)
);
CREATE INDEX check_suites_of_repo ON check_suites (repo_id, id);

-- The runs of check suites.
CREATE TABLE check_runs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    suite_id     BIGINT NOT NULL REFERENCES check_suites (id) ON DELETE CASCADE,
    repo_id      BIGINT NOT NULL,           -- as the suite, like the next two
    app_id       BIGINT NOT NULL,
    head_sha     TEXT NOT NULL,
    name         TEXT NOT NULL,
    latest       BOOLEAN NOT NULL,          -- the newest of its name in the suite
    status       SMALLINT NOT NULL,         -- as in check_suites
    conclusion   SMALLINT NOT NULL,         -- 0 none; the worst first, see package checkrun
    external_id  TEXT NOT NULL,
    details_url  TEXT,
    started_at   BIGINT NOT NULL,
    completed_at BIGINT,
    title        TEXT,
    summary      TEXT,
    body         TEXT,
    images       TEXT,                      -- JSON, like actions
    actions      TEXT,
    annotations  BIGINT NOT NULL DEFAULT 0, -- counter
    bytes        BIGINT NOT NULL,           -- with its annotations
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX check_runs_by_name ON check_runs (suite_id, name, id);
CREATE INDEX check_runs_of_commit ON check_runs (repo_id, head_sha, id);
CREATE INDEX check_runs_latest ON check_runs (repo_id, head_sha, id) WHERE latest = TRUE;
CREATE INDEX check_runs_latest_of_suite ON check_runs (suite_id, status, conclusion) WHERE latest = TRUE;

-- Annotations of check runs.
CREATE TABLE check_annotations (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id       BIGINT NOT NULL REFERENCES check_runs (id) ON DELETE CASCADE,
    path         TEXT NOT NULL,
    start_line   BIGINT NOT NULL,
    end_line     BIGINT NOT NULL,
    start_column BIGINT,
    end_column   BIGINT,
    level        SMALLINT NOT NULL, -- 1 notice, 2 warning, 3 failure
    title        TEXT,
    message      TEXT NOT NULL,
    raw_details  TEXT
);
CREATE INDEX check_annotations_of_run ON check_annotations (run_id, id);

-- How much the check suites of a repository take together.
CREATE TABLE check_totals (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    bytes   BIGINT NOT NULL
);

-- Whether pushes to a repository make a suite for an App.
CREATE TABLE check_preferences (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    app_id  BIGINT NOT NULL,
    auto    BOOLEAN NOT NULL,
    PRIMARY KEY (repo_id, app_id)
);

-- Comments on commits.
CREATE TABLE commit_comments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    author_id  BIGINT NOT NULL REFERENCES accounts (id),
    commit_sha TEXT NOT NULL,
    path       TEXT, -- of a file, as the author gave it
    position   BIGINT,
    line       BIGINT,
    body       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX commit_comments_of_repo ON commit_comments (repo_id, id);
CREATE INDEX commit_comments_of_commit ON commit_comments (repo_id, commit_sha, id);
CREATE INDEX commit_comments_of_author ON commit_comments (author_id);
