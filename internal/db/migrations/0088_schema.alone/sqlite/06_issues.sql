-- Issues, and what belongs to them and to pull requests alike.

-- Labels of repositories.
CREATE TABLE labels (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    color       TEXT NOT NULL,                  -- six lower-case hexadecimal digits
    description TEXT,
    is_default  BOOLEAN NOT NULL DEFAULT FALSE, -- one of those with which every repository begins
    UNIQUE (repo_id, name_folded)
);
CREATE INDEX labels_named ON labels (name_folded, repo_id);

-- Jobs: labels that were deleted while many issues had them. A row goes when no issue has its label any more.
CREATE TABLE deleted_labels (
    label_id BIGINT NOT NULL PRIMARY KEY,
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE
);
CREATE INDEX deleted_labels_of_repo ON deleted_labels (repo_id);

-- Milestones of repositories.
CREATE TABLE milestones (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number      BIGINT NOT NULL,
    title       TEXT NOT NULL,
    description TEXT,
    state       SMALLINT NOT NULL, -- as in issues
    creator_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    due_on      BIGINT,
    closed_at   BIGINT,
    UNIQUE (repo_id, number),
    UNIQUE (repo_id, title)
);
CREATE INDEX milestones_due ON milestones (repo_id, state, due_on, number);

-- Jobs: milestones that were deleted while many issues were in them. A row goes when no issue is in it any
-- more.
CREATE TABLE deleted_milestones (
    milestone_id BIGINT NOT NULL PRIMARY KEY,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    actor_id     BIGINT NOT NULL REFERENCES accounts (id), -- who deleted it
    title        TEXT NOT NULL,
    deleted_at   BIGINT NOT NULL
);
CREATE INDEX deleted_milestones_of_repo ON deleted_milestones (repo_id);
CREATE INDEX deleted_milestones_by ON deleted_milestones (actor_id);

-- Issues and pull requests. Labels and assignees stand in the row, so that a page of issues is one query;
-- postings find the rows.
CREATE TABLE issues (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number       BIGINT NOT NULL,
    pull         BOOLEAN NOT NULL DEFAULT FALSE, -- a pull request: it has a row in pulls
    title        TEXT NOT NULL,
    body         TEXT,
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    state        SMALLINT NOT NULL,              -- 1 open, 2 closed
    state_reason SMALLINT NOT NULL DEFAULT 0,    -- 1 completed, 2 not planned, 3 reopened, 4 duplicate
    locked       BOOLEAN NOT NULL DEFAULT FALSE,
    lock_reason  TEXT,
    milestone_id BIGINT,
    -- Ids of labels, separated by commas, in the order in which they were given.
    labels       TEXT NOT NULL,
    assignees    TEXT NOT NULL,                  -- ids of accounts, separated by commas, in the order of assignment
    comments     BIGINT NOT NULL DEFAULT 0,      -- counter
    reacted      BOOLEAN NOT NULL DEFAULT FALSE, -- it has or had reactions
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    closed_at    BIGINT,
    closed_by    BIGINT,
    draft        BOOLEAN NOT NULL DEFAULT FALSE, -- of a pull request: not ready
    merged_at    BIGINT,                         -- of a pull request that was merged
    pinned_at    BIGINT,                         -- NULL: not pinned. Pinned issues come first in their repository
    pinned_by    BIGINT,
    UNIQUE (repo_id, number)
);
CREATE INDEX issues_pinned ON issues (repo_id, pinned_at) WHERE pinned_at IS NOT NULL;
CREATE INDEX issues_pinned_by ON issues (pinned_by) WHERE pinned_by IS NOT NULL;

-- Numbers of issues that were deleted or transferred to another repository.
CREATE TABLE departed_issues (
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number   BIGINT NOT NULL,
    moved_to BIGINT, -- the id of the issue there; NULL: it was deleted
    PRIMARY KEY (repo_id, number)
);
CREATE INDEX departed_issues_moved ON departed_issues (moved_to) WHERE moved_to IS NOT NULL;

-- Comments on issues and pull requests.
CREATE TABLE issue_comments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author_id  BIGINT NOT NULL REFERENCES accounts (id),
    body       TEXT NOT NULL,
    reacted    BOOLEAN NOT NULL DEFAULT FALSE, -- as in issues
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    pinned_at  BIGINT,                         -- NULL: not pinned. The pinned comment comes first on its issue
    pinned_by  BIGINT
);
CREATE INDEX issue_comments_of_issue ON issue_comments (issue_id, id, updated_at);
CREATE INDEX issue_comments_in_time ON issue_comments (issue_id, created_at, id);
CREATE INDEX issue_comments_created ON issue_comments (repo_id, id, updated_at);
CREATE INDEX issue_comments_updated ON issue_comments (repo_id, updated_at, id);
CREATE INDEX issue_comments_by_author ON issue_comments (author_id, issue_id);
CREATE UNIQUE INDEX issue_comments_pinned ON issue_comments (issue_id) WHERE pinned_at IS NOT NULL;
CREATE INDEX issue_comments_pinned_by ON issue_comments (pinned_by) WHERE pinned_by IS NOT NULL;

-- Events of issues. Names are as they were then.
CREATE TABLE issue_events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    actor_id   BIGINT NOT NULL REFERENCES accounts (id),
    kind       SMALLINT NOT NULL, -- see package issue
    user_id    BIGINT,            -- the user who was assigned, unassigned or mentioned
    source_id  BIGINT,            -- the issue that refers to this one
    comment_id BIGINT,            -- the comment of that issue that does
    commit_sha TEXT,
    detail     TEXT,              -- JSON: label, milestone, rename, lock_reason
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_events_of_issue ON issue_events (issue_id, created_at, id, kind, source_id);
CREATE INDEX issue_events_of_repo ON issue_events (repo_id, id, kind);
CREATE UNIQUE INDEX issue_events_of_commit ON issue_events (issue_id, kind, commit_sha) WHERE commit_sha IS NOT NULL;
CREATE UNIQUE INDEX issue_events_of_source ON issue_events (issue_id, kind, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX issue_events_by_source ON issue_events (source_id) WHERE source_id IS NOT NULL;

-- Subscriptions that people chose. They outweigh having a part in the issue.
CREATE TABLE issue_subscriptions (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    wish       SMALLINT NOT NULL, -- 1 subscribed, 2 unsubscribed, 3 ignored
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, user_id)
);

-- Branches that were made to work on an issue. A branch that is deleted is no longer linked.
CREATE TABLE linked_branches (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- of the branch
    name       TEXT NOT NULL,                              -- without refs/heads/
    created_at BIGINT NOT NULL,
    UNIQUE (issue_id, repo_id, name)
);
CREATE INDEX linked_branches_of_repo ON linked_branches (repo_id, name);

-- Reactions to issues and comments. Subjects are in several tables, so no foreign key removes a reaction: the
-- statement that deletes a subject has to be followed by one for its reactions.
CREATE TABLE reactions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    -- 1 issue, 2 issue comment, 3 review comment, 4 commit comment.
    subject_kind SMALLINT NOT NULL,
    subject_id   BIGINT NOT NULL,
    user_id      BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- 1 +1, 2 -1, 3 laugh, 4 hooray, 5 confused, 6 heart, 7 rocket, 8 eyes.
    content      SMALLINT NOT NULL,
    created_at   BIGINT NOT NULL,
    UNIQUE (subject_kind, subject_id, content, user_id) -- in the order in which they are counted
);
CREATE INDEX reactions_listed ON reactions (subject_kind, subject_id, id);
CREATE INDEX reactions_of_repo ON reactions (repo_id);
CREATE INDEX reactions_of_user ON reactions (user_id);

-- Jobs: branches that a push moved, and whose new commits nobody has read yet for references to issues.
CREATE TABLE pushed_commits (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    actor_id   BIGINT NOT NULL REFERENCES accounts (id),
    name       TEXT NOT NULL,   -- refs/heads/...
    old_sha    TEXT NOT NULL,   -- zeros: the branch is new
    new_sha    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL, -- see db.Jobs
    tries      SMALLINT NOT NULL DEFAULT 0,
    request    TEXT             -- the id of the request that pushed them, for the log
);
CREATE INDEX pushed_commits_due ON pushed_commits (due_at, id);
CREATE INDEX pushed_commits_of_repo ON pushed_commits (repo_id, actor_id, id);

-- The inverted index of issues. A row says that an issue has a property: a label, an assignee, none at all
-- and so on (package posting). Each property is one range of each index, in each order of lists. Issues by
-- creation are issues by id: ids grow.
CREATE TABLE postings (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    kind       SMALLINT NOT NULL,
    value      BIGINT NOT NULL,
    repo_id    BIGINT NOT NULL,
    state      SMALLINT NOT NULL,
    updated_at BIGINT NOT NULL,
    comments   BIGINT NOT NULL,
    PRIMARY KEY (issue_id, kind, value)
) WITHOUT ROWID;
-- Each also holds the other orders' columns, as far as lists since a time need them.
CREATE INDEX postings_created ON postings (kind, value, repo_id, state, issue_id, updated_at);
CREATE INDEX postings_updated ON postings (kind, value, repo_id, state, updated_at, issue_id, comments);
CREATE INDEX postings_comments ON postings (kind, value, repo_id, state, comments, issue_id, updated_at);

-- How many postings each property has, so that no list counts rows.
CREATE TABLE posting_counts (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind    SMALLINT NOT NULL,
    value   BIGINT NOT NULL,
    state   SMALLINT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, value, state)
) WITHOUT ROWID;
