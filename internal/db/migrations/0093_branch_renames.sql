-- Former names of branches, which lead to the branches that have these names no longer.
CREATE TABLE branch_renames (
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    from_name TEXT NOT NULL,
    to_name   TEXT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (repo_id, from_name)
);
CREATE INDEX branch_renames_by_target ON branch_renames (repo_id, to_name);
