-- Labels that are gone while many issues still hold their ids. A row goes once
-- no issue does.
CREATE TABLE deleted_labels (
    label_id BIGINT NOT NULL PRIMARY KEY,
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE
);
CREATE INDEX deleted_labels_of_repo ON deleted_labels (repo_id);
