-- Files that are no Git objects: what they are, by the names that they have on the disk. A row
-- is there only after its file is, and nobody ever changes either (package file).
CREATE TABLE files (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name       {{text}} NOT NULL UNIQUE,        -- random: 32 hexadecimal digits
    size       BIGINT NOT NULL,                 -- in bytes
    sha256     {{text}} NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX files_of_repo ON files (repo_id);

-- The sizes of its files, each in KiB: beside size_kb, since forks get no files.
ALTER TABLE repos ADD COLUMN files_kb BIGINT NOT NULL DEFAULT 0;

CREATE TABLE releases (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    author_id    BIGINT NOT NULL REFERENCES accounts (id),
    publisher_id BIGINT NOT NULL REFERENCES accounts (id), -- who published it last; of a draft the author
    tag          {{text}} NOT NULL,             -- without refs/tags/
    target       {{text}} NOT NULL,             -- a branch or a SHA: where a missing tag is made
    name         {{text}},
    body         {{text}},
    draft        BOOLEAN NOT NULL,
    prerelease   BOOLEAN NOT NULL,
    choice       SMALLINT NOT NULL,             -- make_latest: 1 true, 2 false, 3 legacy
    latest       BOOLEAN NOT NULL DEFAULT FALSE, -- of one release of each repository at most
    created_at   BIGINT NOT NULL,               -- the date of its commit; of a draft without one, its own
    published_at BIGINT,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX releases_by_tag ON releases (repo_id, tag) WHERE draft = FALSE;
CREATE UNIQUE INDEX releases_latest ON releases (repo_id) WHERE latest = TRUE;
CREATE INDEX releases_listed ON releases (repo_id, created_at, id);

CREATE TABLE release_assets (
    id           {{id}},
    release_id   BIGINT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    repo_id      BIGINT NOT NULL,               -- as of the release
    file_id      BIGINT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    name         {{text}} NOT NULL,
    label        {{text}},
    content_type {{text}} NOT NULL,             -- as the uploader said; it is never served as that
    uploader_id  BIGINT NOT NULL REFERENCES accounts (id),
    downloads    BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (release_id, name)
);
CREATE INDEX release_assets_of_file ON release_assets (file_id);

-- Feeds tell of a release when it is published the first time, once for ever, which published_at
-- remembers: kind 13, of which subject_id is the release.
-- sqlite
CREATE TRIGGER releases_activity AFTER INSERT ON releases WHEN NOT new.draft BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.publisher_id, NOT r.private, NOT r.private, 13, new.id, new.published_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER releases_published_activity AFTER UPDATE OF draft ON releases
WHEN old.draft AND NOT new.draft AND old.published_at IS NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.publisher_id, NOT r.private, NOT r.private, 13, new.id, new.published_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;

-- postgres
CREATE FUNCTION note_release_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.publisher_id, 13, NULL, NEW.id, NEW.published_at);
    RETURN NULL;
END $$;
CREATE TRIGGER releases_activity AFTER INSERT ON releases FOR EACH ROW
    WHEN (NOT NEW.draft) EXECUTE FUNCTION note_release_activity();
CREATE TRIGGER releases_published_activity AFTER UPDATE OF draft ON releases FOR EACH ROW
    WHEN (OLD.draft AND NOT NEW.draft AND OLD.published_at IS NULL) EXECUTE FUNCTION note_release_activity();
