-- Which keys the servers of a store have in their data folders, by the folder's name: what they sign, others verify
-- (package identity).
CREATE TABLE store_keys (
    name   {{text}} NOT NULL PRIMARY KEY,
    sha256 {{text}} NOT NULL -- of the keys, which are random
);
