-- For whom a file counts that somebody without the right to push put into a repository; NULL: for the repository's owner.
ALTER TABLE files ADD COLUMN payer_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL;
CREATE INDEX files_by_payer ON files (payer_id, size) WHERE payer_id IS NOT NULL;
