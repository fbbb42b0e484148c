-- Packs of repositories that lie in a depot (package packs): each file holds a pack with its indexes.
CREATE TABLE pack_files (
    id           {{id}},
    key_name     {{text}} NOT NULL UNIQUE, -- random: 32 hexadecimal digits
    depot_id     BIGINT NOT NULL,          -- 0: the bytes are in data
    pack_size    BIGINT NOT NULL,          -- in bytes; behind the pack come the reverse index and the index
    reverse_size BIGINT NOT NULL,
    index_size   BIGINT NOT NULL,
    sha256       {{text}} NOT NULL,        -- of all of it, in hexadecimal digits
    data         {{bytes}},                -- of small ones
    gone_at      BIGINT,                   -- since when no repository has it
    gone_repo    BIGINT                    -- the last one that had it
);
CREATE INDEX pack_files_gone ON pack_files (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX pack_files_of_gone ON pack_files (gone_repo) WHERE gone_at IS NOT NULL;
CREATE INDEX pack_files_of_depot ON pack_files (depot_id);

-- Which folder of a repository has which packs; forks share files. A folder may have packs before its repository has a
-- row, and before a purge makes it the repository's.
CREATE TABLE packs (
    repo_id  BIGINT NOT NULL,
    purges   BIGINT NOT NULL,
    name     {{text}} NOT NULL, -- by which git knows it
    file_id  BIGINT NOT NULL REFERENCES pack_files (id),
    added_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, purges, name)
);
CREATE INDEX packs_of_file ON packs (file_id);

-- Grows with each change of a repository's packs; 0: they are in the data folder alone.
ALTER TABLE repos ADD COLUMN packs BIGINT NOT NULL DEFAULT 0;
