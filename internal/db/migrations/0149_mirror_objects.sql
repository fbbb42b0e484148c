-- Objects of Git LFS that a mirror still has to copy, from its source or to its target (package mirror). Its row may be
-- of a later migration, so it is removed with the mirror by hand.
CREATE TABLE mirror_objects (
    mirror_id BIGINT NOT NULL,
    oid       {{text}} NOT NULL,
    size      BIGINT NOT NULL,
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (mirror_id, oid)
);
CREATE INDEX mirror_objects_of_repo ON mirror_objects (repo_id);

-- Mirrors of whose repositories all commits were searched for pointers to such objects. Since then new ones are.
CREATE TABLE mirror_searches (
    mirror_id BIGINT NOT NULL PRIMARY KEY,
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE
);
CREATE INDEX mirror_searches_of_repo ON mirror_searches (repo_id);
