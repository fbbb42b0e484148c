-- Backups that are running. While one has its lease, no folder that was set
-- aside is removed: it may need the objects.
CREATE TABLE backups (
    id     {{id}},
    due_at BIGINT NOT NULL,                     -- see db.Jobs: the end of the lease
    tries  BIGINT NOT NULL DEFAULT 0
);
