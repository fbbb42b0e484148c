-- Imports of repositories (package migration): where each comes from, and which rows were made of its records.
CREATE TABLE imports (
    repo_id  BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    source   {{text}} NOT NULL, -- the address of the repository at the source
    began_at BIGINT NOT NULL,
    ended_at BIGINT             -- NULL: it is under way, or was killed
);
CREATE TABLE imported (
    repo_id   BIGINT NOT NULL REFERENCES imports (repo_id) ON DELETE CASCADE,
    kind      SMALLINT NOT NULL, -- of the record, see package migration
    source_id {{text}} NOT NULL,
    local_id  BIGINT NOT NULL,   -- of the row
    digest    {{text}} NOT NULL, -- of the record, so that one that changed is noticed
    PRIMARY KEY (repo_id, kind, source_id)
);
