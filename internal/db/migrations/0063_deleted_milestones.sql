-- Milestones that are gone while many issues are still in them. A row goes once no issue is.
CREATE TABLE deleted_milestones (
    milestone_id BIGINT NOT NULL PRIMARY KEY,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    actor_id     BIGINT NOT NULL REFERENCES accounts (id), -- who deleted it
    title        TEXT NOT NULL,
    deleted_at   BIGINT NOT NULL
);
CREATE INDEX deleted_milestones_of_repo ON deleted_milestones (repo_id);
CREATE INDEX deleted_milestones_by ON deleted_milestones (actor_id);
