-- Who requires a second factor of people: organizations, of their members and outside collaborators, and the site.
CREATE TABLE factor_rules (
    id        {{id}},
    org_id    BIGINT UNIQUE REFERENCES accounts (id) ON DELETE CASCADE, -- NULL, in one row at most: the site
    begins_at BIGINT NOT NULL,               -- when the grace time ends
    in_force  BOOLEAN NOT NULL DEFAULT FALSE -- set once that has come, by a worker: callers are kept until then
);
