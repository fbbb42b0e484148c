-- Releases and their files.

-- Releases.
CREATE TABLE releases (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    publisher_id BIGINT NOT NULL REFERENCES accounts (id), -- who published it last; of a draft the author
    tag          TEXT NOT NULL,                            -- without refs/tags/
    target       TEXT NOT NULL,                            -- a branch or a SHA, where a missing tag is made
    name         TEXT,
    body         TEXT,
    draft        BOOLEAN NOT NULL,
    prerelease   BOOLEAN NOT NULL,
    choice       SMALLINT NOT NULL,                        -- make_latest: 1 true, 2 false, 3 legacy
    latest       BOOLEAN NOT NULL DEFAULT FALSE,           -- of one release of each repository at most
    created_at   BIGINT NOT NULL,                          -- the date of its commit; of a draft without one its own
    published_at BIGINT,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX releases_by_tag ON releases (repo_id, tag) WHERE draft = FALSE;
CREATE UNIQUE INDEX releases_latest ON releases (repo_id) WHERE latest = TRUE;
CREATE INDEX releases_listed ON releases (repo_id, created_at, id);

-- Files of releases.
CREATE TABLE release_assets (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    release_id   BIGINT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    repo_id      BIGINT NOT NULL, -- as of the release
    file_id      BIGINT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    label        TEXT,
    content_type TEXT NOT NULL,   -- as the uploader said; it is never served as that
    uploader_id  BIGINT NOT NULL REFERENCES accounts (id),
    downloads    BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (release_id, name)
);
CREATE INDEX release_assets_of_file ON release_assets (file_id);
