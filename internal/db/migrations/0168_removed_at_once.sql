-- What somebody removed so that it is gone, and does not stay in a depot for a database of an earlier time.
ALTER TABLE repos ADD COLUMN at_once BOOLEAN NOT NULL DEFAULT FALSE; -- of one that is kept until it is removed
ALTER TABLE discarded ADD COLUMN at_once BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE pack_files ADD COLUMN made_for BIGINT; -- the repository that brought it; null: not known
UPDATE pack_files SET made_for = COALESCE((SELECT MIN(p.repo_id) FROM packs p WHERE p.file_id = pack_files.id), gone_repo);
