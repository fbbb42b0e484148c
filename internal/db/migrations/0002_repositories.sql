CREATE TABLE repos (
    id              {{id}},
    owner_id        BIGINT NOT NULL REFERENCES accounts (id),
    name            {{text}} NOT NULL,
    name_folded     {{text}} NOT NULL,
    description     {{text}},
    homepage        {{text}},
    private         BOOLEAN NOT NULL,
    default_branch  {{text}} NOT NULL,
    has_issues      BOOLEAN NOT NULL DEFAULT TRUE,
    refs_generation BIGINT NOT NULL DEFAULT 0,  -- grows with every change of a ref or of the default branch
    size_kb         BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    pushed_at       BIGINT NOT NULL,
    UNIQUE (owner_id, name_folded)
);
-- One index an order of an owner's list: a deep page walks the index alone.
CREATE INDEX repos_named ON repos (owner_id, name_folded, private, id);
CREATE INDEX repos_created ON repos (owner_id, created_at, id, private);
CREATE INDEX repos_updated ON repos (owner_id, updated_at, id, private);
CREATE INDEX repos_pushed ON repos (owner_id, pushed_at, id, private);

-- A renamed repository is still found under the names that it had.
CREATE TABLE repo_redirects (
    owner_id    BIGINT NOT NULL REFERENCES accounts (id),
    name_folded {{text}} NOT NULL,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (owner_id, name_folded)
);
CREATE INDEX redirects_of_repo ON repo_redirects (repo_id);

CREATE TABLE collaborators (
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role       SMALLINT NOT NULL,               -- 1 pull, 2 push, 3 admin
    created_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, user_id)
);
CREATE INDEX collaborations_of_user ON collaborators (user_id, repo_id);

-- The refs: the truth, of which the repository's directory has at most a copy.
CREATE TABLE refs (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name    {{text}} NOT NULL,
    sha     {{text}} NOT NULL,
    peeled  {{text}},                           -- of an annotated tag: what it points at in the end
    PRIMARY KEY (repo_id, name)
);
