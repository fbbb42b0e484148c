-- Pull requests and reviews.

-- What a pull request has besides its issue.
CREATE TABLE pulls (
    issue_id        BIGINT NOT NULL PRIMARY KEY REFERENCES issues (id) ON DELETE CASCADE,
    repo_id         BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- the base repository
    number          BIGINT NOT NULL,                       -- as in issues
    open            BOOLEAN NOT NULL,                      -- as in issues
    base_ref        TEXT NOT NULL,                         -- a branch, without refs/heads/
    base_sha        TEXT NOT NULL,                         -- its tip when the head last moved
    -- NULL: gone, or out of the author's sight (decision 61).
    head_repo_id    BIGINT REFERENCES repos (id) ON DELETE SET NULL,
    head_owner_id   BIGINT NOT NULL REFERENCES accounts (id),
    head_ref        TEXT NOT NULL,
    head_sha        TEXT NOT NULL,
    modifiable      BOOLEAN NOT NULL DEFAULT FALSE,        -- maintainers of the base may push to the head
    merged_by       BIGINT,
    merge_sha       TEXT,                                  -- the commit on the base branch, once merged

    -- The last test merge: of which two commits, and its result. It says nothing about others, so nothing is
    -- written when a base moves.
    tested_base     TEXT,
    tested_head     TEXT,
    test_sha        TEXT,                                  -- the merge commit; NULL: they do not merge
    additions       BIGINT NOT NULL DEFAULT 0,             -- as the last test merge counted
    deletions       BIGINT NOT NULL DEFAULT 0,
    changed_files   BIGINT NOT NULL DEFAULT 0,
    commits         BIGINT NOT NULL DEFAULT 0,

    -- The job: TRUE until a test merge of the present two commits is stored.
    wanted          BOOLEAN NOT NULL DEFAULT FALSE,
    due_at          BIGINT NOT NULL DEFAULT 0,             -- see db.Jobs
    tries           SMALLINT NOT NULL DEFAULT 0,
    review_comments BIGINT NOT NULL DEFAULT 0,             -- counter; pending ones do not count
    UNIQUE (repo_id, number)
);
CREATE INDEX pulls_by_head ON pulls (head_repo_id, head_ref, open);
CREATE INDEX pulls_by_base ON pulls (repo_id, base_ref, open);
CREATE INDEX pulls_wanted ON pulls (due_at, issue_id) WHERE wanted;
-- Each pair of branches has one open pull request at most.
CREATE UNIQUE INDEX pulls_open ON pulls (repo_id, base_ref, head_repo_id, head_ref) WHERE open;
CREATE INDEX pulls_by_merge ON pulls (repo_id, merge_sha);
-- Pull requests across two repositories are found from either side; an open one without a head repository is
-- closed soon (decision 61).
CREATE INDEX pulls_across_from ON pulls (head_repo_id, repo_id) WHERE head_repo_id <> repo_id;
CREATE INDEX pulls_across_to ON pulls (repo_id, head_repo_id) WHERE head_repo_id <> repo_id;
CREATE INDEX pulls_headless ON pulls (issue_id) WHERE open = TRUE AND head_repo_id IS NULL;
-- The open pull requests of which a commit is the head.
CREATE INDEX pulls_by_head_sha ON pulls (head_repo_id, head_sha) WHERE open;

-- Names of branches by which pull requests are listed; postings refer to the ids.
CREATE TABLE pull_branches (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- the base repository
    owner_id BIGINT NOT NULL,                              -- of a head; 0: a base branch
    name     TEXT NOT NULL,
    UNIQUE (repo_id, owner_id, name)
);

-- The commits of each pull request, as its last test merge found them, to find the pull requests of a commit
-- without a walk through history.
CREATE TABLE pull_commits (
    repo_id  BIGINT NOT NULL, -- as in pulls
    sha      TEXT NOT NULL,
    issue_id BIGINT NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    PRIMARY KEY (repo_id, sha, issue_id)
);
CREATE INDEX pull_commits_of_pull ON pull_commits (issue_id);

-- Issues that bodies of pull requests say they fix, for linked: in searches. The worker that indexes texts
-- writes it.
CREATE TABLE pull_fixes (
    pull_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number  BIGINT NOT NULL, -- of an issue of the repository, which may not exist
    PRIMARY KEY (pull_id, number)
);
CREATE INDEX pull_fixes_by_number ON pull_fixes (repo_id, number);

-- Users whose review is requested.
CREATE TABLE requested_reviewers (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, user_id)
) WITHOUT ROWID;
CREATE INDEX requested_reviewers_of_user ON requested_reviewers (user_id);

-- Reviews of pull requests.
CREATE TABLE reviews (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id     BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    state        SMALLINT NOT NULL, -- 1 pending, 2 commented, 3 approved, 4 changes requested, 5 dismissed
    body         TEXT NOT NULL,
    commit_sha   TEXT NOT NULL,     -- the commit that was reviewed
    submitted_at BIGINT             -- NULL: pending
);
CREATE INDEX reviews_of_issue ON reviews (issue_id, id, state, author_id);
CREATE UNIQUE INDEX reviews_pending ON reviews (issue_id, author_id) WHERE state = 1;
CREATE INDEX reviews_of_repo ON reviews (repo_id);

-- Comments on lines of a pull request's changes. The columns original_... are as the author commented. The
-- columns current_... are the same place in the commit current_sha; they are brought up to date when somebody
-- reads them.
CREATE TABLE review_comments (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id           BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id          BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    review_id         BIGINT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    author_id         BIGINT NOT NULL REFERENCES accounts (id),
    pending           BOOLEAN NOT NULL,  -- as its review
    reply_to          BIGINT,            -- the first comment of the thread; NULL: this is the first
    body              TEXT NOT NULL,
    reacted           BOOLEAN NOT NULL DEFAULT FALSE,
    path              TEXT NOT NULL,
    whole             BOOLEAN NOT NULL,  -- on the file, not on a line
    side              SMALLINT NOT NULL, -- 1 left (before), 2 right (after)
    start_side        SMALLINT,
    diff_hunk         TEXT NOT NULL,
    original_sha      TEXT NOT NULL,
    original_position BIGINT NOT NULL,   -- a line of the file's patch
    original_line     BIGINT,            -- a line of the file; NULL: whole
    original_start    BIGINT,            -- NULL: one line
    current_sha       TEXT NOT NULL,
    current_position  BIGINT,            -- NULL: outdated
    current_line      BIGINT,
    current_start     BIGINT,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
CREATE INDEX review_comments_of_issue ON review_comments (issue_id, pending, id, updated_at);
CREATE INDEX review_comments_of_issue_updated ON review_comments (issue_id, pending, updated_at, id);
CREATE INDEX review_comments_of_review ON review_comments (review_id, id);
CREATE INDEX review_comments_of_repo ON review_comments (repo_id, pending, id, updated_at);
CREATE INDEX review_comments_of_repo_updated ON review_comments (repo_id, pending, updated_at, id);

-- Conversations on lines of pull requests that somebody marked as resolved. A thread has the id of its first
-- comment, which may be gone.
CREATE TABLE resolved_threads (
    root_id     BIGINT NOT NULL PRIMARY KEY,
    issue_id    BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    resolved_by BIGINT NOT NULL REFERENCES accounts (id),
    resolved_at BIGINT NOT NULL
);
CREATE INDEX resolved_threads_of_issue ON resolved_threads (issue_id);
CREATE INDEX resolved_threads_by ON resolved_threads (resolved_by);

-- Files of pull requests that somebody marked as viewed, with the blob at the time: another blob has not been
-- viewed.
CREATE TABLE viewed_files (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    user_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    path     TEXT NOT NULL,
    blob     TEXT NOT NULL,
    PRIMARY KEY (issue_id, user_id, path)
) WITHOUT ROWID;
CREATE INDEX viewed_files_of_user ON viewed_files (user_id);
