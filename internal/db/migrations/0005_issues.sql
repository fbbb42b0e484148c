ALTER TABLE repos ADD COLUMN next_number BIGINT NOT NULL DEFAULT 1;       -- of the next issue or pull request
ALTER TABLE repos ADD COLUMN next_milestone BIGINT NOT NULL DEFAULT 1;
ALTER TABLE repos ADD COLUMN open_issues BIGINT NOT NULL DEFAULT 0;       -- pull requests count too
ALTER TABLE repos ADD COLUMN issues_generation BIGINT NOT NULL DEFAULT 0; -- grows with every change that payloads of issues show

CREATE TABLE labels (
    id          {{id}},
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name        {{text}} NOT NULL,
    name_folded {{text}} NOT NULL,
    color       {{text}} NOT NULL,              -- six lower-case hexadecimal digits
    description {{text}},
    is_default  BOOLEAN NOT NULL DEFAULT FALSE, -- one of those that every repository begins with
    UNIQUE (repo_id, name_folded)
);
CREATE INDEX labels_named ON labels (name_folded, repo_id);

CREATE TABLE milestones (
    id          {{id}},
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number      BIGINT NOT NULL,
    title       {{text}} NOT NULL,
    description {{text}},
    state       SMALLINT NOT NULL,              -- as that of issues
    creator_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    due_on      BIGINT,
    closed_at   BIGINT,
    UNIQUE (repo_id, number),
    UNIQUE (repo_id, title)
);
CREATE INDEX milestones_due ON milestones (repo_id, state, due_on, number);

-- Pull requests have their row here, too. Labels and assignees stand in the
-- row, so that a page of issues is one query; postings find the rows.
CREATE TABLE issues (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number       BIGINT NOT NULL,
    pull         BOOLEAN NOT NULL DEFAULT FALSE, -- a pull request
    title        {{text}} NOT NULL,
    body         {{text}},
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    state        SMALLINT NOT NULL,              -- 1 open, 2 closed
    state_reason SMALLINT NOT NULL DEFAULT 0,    -- 1 completed, 2 not planned, 3 reopened, 4 duplicate
    locked       BOOLEAN NOT NULL DEFAULT FALSE,
    lock_reason  {{text}},
    milestone_id BIGINT,
    labels       {{text}} NOT NULL,              -- ids of labels, parted by commas, in the order in which they were given
    assignees    {{text}} NOT NULL,              -- ids of accounts, parted by commas, in the order of assignment
    comments     BIGINT NOT NULL DEFAULT 0,
    reacted      BOOLEAN NOT NULL DEFAULT FALSE, -- there are or were reactions
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    closed_at    BIGINT,
    closed_by    BIGINT,
    draft        BOOLEAN NOT NULL DEFAULT FALSE, -- of a pull request: not ready
    merged_at    BIGINT,                         -- of a pull request that was merged
    UNIQUE (repo_id, number)
);

-- The inverted index of the issues: a row says that an issue has some property
-- (a label, an assignee, none at all, ...). Each property is one range of each
-- index, in each order that lists know. What is listed by creation is listed
-- by id: ids grow as issues are made.
CREATE TABLE postings (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    kind       SMALLINT NOT NULL,
    value      BIGINT NOT NULL,
    repo_id    BIGINT NOT NULL,
    state      SMALLINT NOT NULL,
    updated_at BIGINT NOT NULL,
    comments   BIGINT NOT NULL,
    PRIMARY KEY (issue_id, kind, value)
) {{clustered}};
-- Each holds what the others are ordered by, as far as lists since a time need it.
CREATE INDEX postings_created ON postings (kind, value, repo_id, state, issue_id, updated_at);
CREATE INDEX postings_updated ON postings (kind, value, repo_id, state, updated_at, issue_id, comments);
CREATE INDEX postings_comments ON postings (kind, value, repo_id, state, comments, issue_id, updated_at);

-- How many postings there are of each property, so that no list counts rows.
CREATE TABLE posting_counts (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind    SMALLINT NOT NULL,
    value   BIGINT NOT NULL,
    state   SMALLINT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, value, state)
) {{clustered}};

CREATE TABLE issue_comments (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author_id  BIGINT NOT NULL REFERENCES accounts (id),
    body       {{text}} NOT NULL,
    reacted    BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX issue_comments_of_issue ON issue_comments (issue_id, id, updated_at);
CREATE INDEX issue_comments_in_time ON issue_comments (issue_id, created_at, id);
CREATE INDEX issue_comments_created ON issue_comments (repo_id, id, updated_at);
CREATE INDEX issue_comments_updated ON issue_comments (repo_id, updated_at, id);

-- What happened to issues. Names stand here as they were at the time.
CREATE TABLE issue_events (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    actor_id   BIGINT NOT NULL REFERENCES accounts (id),
    kind       SMALLINT NOT NULL,
    user_id    BIGINT,                          -- who was assigned, unassigned, mentioned
    source_id  BIGINT,                          -- the issue that refers to this one
    comment_id BIGINT,                          -- the comment of that issue which does
    commit_sha {{text}},
    detail     {{text}},                        -- JSON: label, milestone, rename, lock_reason
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_events_of_issue ON issue_events (issue_id, created_at, id, kind, source_id);
CREATE INDEX issue_events_of_repo ON issue_events (repo_id, id, kind);
CREATE UNIQUE INDEX issue_events_of_commit ON issue_events (issue_id, kind, commit_sha) WHERE commit_sha IS NOT NULL;
CREATE UNIQUE INDEX issue_events_of_source ON issue_events (issue_id, kind, source_id) WHERE source_id IS NOT NULL;

-- What people said about being notified: it outweighs having a part in the issue.
CREATE TABLE issue_subscriptions (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    wish       SMALLINT NOT NULL,               -- 1 subscribed, 2 unsubscribed, 3 ignored
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, user_id)
);
