-- What Apps check of commits. A suite holds the runs of one App for one commit. Nothing says which App has which
-- id once the App is gone; its rows stay.
CREATE TABLE check_suites (
    id          {{id}},
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    app_id      BIGINT NOT NULL,
    head_sha    {{text}} NOT NULL,
    head_branch {{text}},                       -- NULL: no branch had this tip
    before_sha  {{text}},                       -- of the push that made it; NULL: no push did
    status      SMALLINT NOT NULL DEFAULT 1,    -- 1 queued, 2 in progress, 3 completed
    conclusion  SMALLINT NOT NULL DEFAULT 0,    -- the worst of its runs, once it is completed
    runs        BIGINT NOT NULL DEFAULT 0,      -- the latest of each name
    waiting     BIGINT NOT NULL DEFAULT 0,      -- of these, not completed
    failing     BIGINT NOT NULL DEFAULT 0,      -- of these, completed in vain
    bytes       BIGINT NOT NULL,                -- of all its runs, and of its own row
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    UNIQUE (repo_id, head_sha, app_id)
);
CREATE INDEX check_suites_of_repo ON check_suites (repo_id, id);

CREATE TABLE check_runs (
    id           {{id}},
    suite_id     BIGINT NOT NULL REFERENCES check_suites (id) ON DELETE CASCADE,
    repo_id      BIGINT NOT NULL,               -- as of the suite, like the next two
    app_id       BIGINT NOT NULL,
    head_sha     {{text}} NOT NULL,
    name         {{text}} NOT NULL,
    latest       BOOLEAN NOT NULL,              -- of those in its suite with this name
    status       SMALLINT NOT NULL,             -- as of suites
    conclusion   SMALLINT NOT NULL,             -- 0: none; the worst first, see package checkrun
    external_id  {{text}} NOT NULL,
    details_url  {{text}},
    started_at   BIGINT NOT NULL,
    completed_at BIGINT,
    title        {{text}},
    summary      {{text}},
    body         {{text}},
    images       {{text}},                      -- JSON, as actions
    actions      {{text}},
    annotations  BIGINT NOT NULL DEFAULT 0,     -- how many
    bytes        BIGINT NOT NULL,               -- with its annotations
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX check_runs_by_name ON check_runs (suite_id, name, id);
CREATE INDEX check_runs_of_commit ON check_runs (repo_id, head_sha, id);
CREATE INDEX check_runs_latest ON check_runs (repo_id, head_sha, id) WHERE latest = TRUE;
CREATE INDEX check_runs_latest_of_suite ON check_runs (suite_id, status, conclusion) WHERE latest = TRUE;

CREATE TABLE check_annotations (
    id           {{id}},
    run_id       BIGINT NOT NULL REFERENCES check_runs (id) ON DELETE CASCADE,
    path         {{text}} NOT NULL,
    start_line   BIGINT NOT NULL,
    end_line     BIGINT NOT NULL,
    start_column BIGINT,
    end_column   BIGINT,
    level        SMALLINT NOT NULL,             -- 1 notice, 2 warning, 3 failure
    title        {{text}},
    message      {{text}} NOT NULL,
    raw_details  {{text}}
);
CREATE INDEX check_annotations_of_run ON check_annotations (run_id, id);

-- What a repository's suites take together.
CREATE TABLE check_totals (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    bytes   BIGINT NOT NULL
);

-- Apps for which pushes to a repository make no suites, and those for which they do again.
CREATE TABLE check_preferences (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    app_id  BIGINT NOT NULL,
    auto    BOOLEAN NOT NULL,
    PRIMARY KEY (repo_id, app_id)
);

-- To find the open pull requests that a commit is the head of.
CREATE INDEX pulls_by_head_sha ON pulls (head_repo_id, head_sha) WHERE open;
