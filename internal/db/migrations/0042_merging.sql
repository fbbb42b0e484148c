-- How pull requests of a repository are merged, as repo.Merging has it: 1 no merge commits, 2 no squashes,
-- 4 no rebases, 8 the head's branch is deleted.
ALTER TABLE repos ADD COLUMN merging BIGINT NOT NULL DEFAULT 0;
