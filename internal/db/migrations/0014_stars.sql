-- How many have starred and how many watch a repository: all of them.
ALTER TABLE repos ADD COLUMN stars BIGINT NOT NULL DEFAULT 0;
ALTER TABLE repos ADD COLUMN watchers BIGINT NOT NULL DEFAULT 0;
CREATE INDEX repos_forked_by_stars ON repos (parent_id, stars, created_at, id) WHERE parent_id IS NOT NULL;
-- What a user starred by last push, where that is much.
CREATE INDEX repos_by_push ON repos (pushed_at, id);

CREATE TABLE stars (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    private    BOOLEAN NOT NULL,                -- as the repository is, so that a list walks one index
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
) {{clustered}};
CREATE INDEX stars_of_repo ON stars (repo_id, created_at, user_id);
CREATE INDEX stars_of_user ON stars (user_id, created_at, repo_id, private);
CREATE INDEX stars_hidden ON stars (user_id, private, repo_id) WHERE private = TRUE;

-- Who is told of everything in a repository: the same shape.
CREATE TABLE watches (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    private    BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
) {{clustered}};
CREATE INDEX watches_of_repo ON watches (repo_id, created_at, user_id);
CREATE INDEX watches_of_user ON watches (user_id, created_at, repo_id, private);
CREATE INDEX watches_hidden ON watches (user_id, private, repo_id) WHERE private = TRUE;

-- How many of either a user has, so that nobody counts them.
CREATE TABLE mark_counts (
    user_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind    SMALLINT NOT NULL,                  -- 0 stars, 1 watches
    public  BIGINT NOT NULL,
    private BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind)
) {{clustered}};

-- Who wants to be told of nothing in a repository.
CREATE TABLE silences (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
) {{clustered}};
CREATE INDEX silences_of_repo ON silences (repo_id);
