-- A fork names its parent and the root of its network. Both are in one network
-- and of one visibility; who leaves it is cut out of these columns (network.go).
ALTER TABLE repos ADD COLUMN parent_id BIGINT REFERENCES repos (id);
ALTER TABLE repos ADD COLUMN root_id BIGINT REFERENCES repos (id);    -- NULL: is a root itself, perhaps of nobody else
ALTER TABLE repos ADD COLUMN forks_count BIGINT NOT NULL DEFAULT 0;   -- that name it as parent
ALTER TABLE repos ADD COLUMN network_count BIGINT NOT NULL DEFAULT 0; -- of a root: all forks of its network
CREATE INDEX repos_forked ON repos (parent_id, created_at, id);
CREATE INDEX repos_of_network ON repos (root_id, owner_id, id);

-- An owner's list of forks, or of all else, walks the index of its order alone.
DROP INDEX repos_named;
DROP INDEX repos_created;
DROP INDEX repos_updated;
DROP INDEX repos_pushed;
CREATE INDEX repos_named ON repos (owner_id, name_folded, private, id, parent_id);
CREATE INDEX repos_created ON repos (owner_id, created_at, id, private, parent_id);
CREATE INDEX repos_updated ON repos (owner_id, updated_at, id, private, parent_id);
CREATE INDEX repos_pushed ON repos (owner_id, pushed_at, id, private, parent_id);
