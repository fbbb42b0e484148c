-- Bundles of default branches, which clients download from a depot before they fetch the rest (package packs). One that
-- is lost is made again.
CREATE TABLE bundles (
    key_name {{text}} NOT NULL PRIMARY KEY, -- random: 32 hexadecimal digits
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    purges   BIGINT NOT NULL,   -- of the folder that it was made of
    depot_id BIGINT NOT NULL,
    tip      {{text}} NOT NULL, -- the commit that its one ref names
    size     BIGINT NOT NULL,   -- in bytes
    sha256   {{text}} NOT NULL, -- of its bytes, in hexadecimal digits
    packed   BIGINT NOT NULL,   -- bytes of the repository's packs when it was made
    made_at  BIGINT,            -- null: it is being uploaded
    gone_at  BIGINT             -- since when nobody is given its address
);
CREATE INDEX bundles_of_repo ON bundles (repo_id);
CREATE INDEX bundles_gone ON bundles (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX bundles_of_depot ON bundles (depot_id);
