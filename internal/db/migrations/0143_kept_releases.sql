-- When a release was deleted that can be restored. It is a draft from then on, which nobody sees. NULL: it was not.
ALTER TABLE releases ADD COLUMN deleted_at BIGINT;
CREATE INDEX releases_deleted ON releases (repo_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX releases_deleted_at ON releases (deleted_at) WHERE deleted_at IS NOT NULL;
