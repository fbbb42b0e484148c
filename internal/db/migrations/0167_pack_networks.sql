-- A purge removes at once the packs of a fork network that no repository has any longer (package packs). Deleted
-- repositories are in no network, so the file says it.
ALTER TABLE pack_files ADD COLUMN network BIGINT; -- the root when the repository got its first pack; null: not known
UPDATE pack_files SET network = COALESCE(
    (SELECT MIN(COALESCE(r.root_id, r.id)) FROM packs p JOIN repos r ON r.id = p.repo_id WHERE p.file_id = pack_files.id),
    (SELECT COALESCE(r.root_id, r.id) FROM repos r WHERE r.id = gone_repo),
    gone_repo);
CREATE INDEX pack_files_of_network ON pack_files (network);
