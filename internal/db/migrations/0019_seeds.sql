-- The seed that the store was filled with, written when all of it was there. At
-- most one row: a seed goes into an empty store only.
CREATE TABLE seeds (
    digest     {{bytes}} PRIMARY KEY,           -- SHA-256 of its text
    applied_at BIGINT NOT NULL
);
