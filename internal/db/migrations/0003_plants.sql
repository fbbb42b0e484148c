CREATE TABLE plants (
    id       {{key}},
    owner_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name     {{text}} NOT NULL,
    tag      {{text}}
);
CREATE INDEX plants_of_owner ON plants (owner_id, id);
