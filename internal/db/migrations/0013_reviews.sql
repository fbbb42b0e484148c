ALTER TABLE pulls ADD COLUMN review_comments BIGINT NOT NULL DEFAULT 0; -- that everyone sees

CREATE TABLE requested_reviewers (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, user_id)
) {{clustered}};
CREATE INDEX requested_reviewers_of_user ON requested_reviewers (user_id);

CREATE TABLE reviews (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id     BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    state        SMALLINT NOT NULL,             -- 1 pending, 2 commented, 3 approved, 4 changes requested, 5 dismissed
    body         {{text}} NOT NULL,
    commit_sha   {{text}} NOT NULL,             -- what was reviewed
    submitted_at BIGINT                         -- NULL: pending
);
CREATE INDEX reviews_of_issue ON reviews (issue_id, id, state, author_id);
CREATE UNIQUE INDEX reviews_pending ON reviews (issue_id, author_id) WHERE state = 1;
CREATE INDEX reviews_of_repo ON reviews (repo_id);

-- Comments on lines of what a pull request changes. original_ is what was said
-- of which commit; the others are where that is in the commit current_sha, and
-- are brought up to date when somebody reads them.
CREATE TABLE review_comments (
    id                {{id}},
    repo_id           BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id          BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    review_id         BIGINT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    author_id         BIGINT NOT NULL REFERENCES accounts (id),
    pending           BOOLEAN NOT NULL,         -- as its review
    reply_to          BIGINT,                   -- the first comment of the thread; NULL: it is that
    body              {{text}} NOT NULL,
    reacted           BOOLEAN NOT NULL DEFAULT FALSE,
    path              {{text}} NOT NULL,
    whole             BOOLEAN NOT NULL,         -- of the file, not of a line
    side              SMALLINT NOT NULL,        -- 1 left (before), 2 right (after)
    start_side        SMALLINT,
    diff_hunk         {{text}} NOT NULL,
    original_sha      {{text}} NOT NULL,
    original_position BIGINT NOT NULL,          -- line of the file's patch
    original_line     BIGINT,                   -- of the file; NULL: whole
    original_start    BIGINT,                   -- NULL: one line
    current_sha       {{text}} NOT NULL,
    current_position  BIGINT,                   -- NULL: outdated
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
