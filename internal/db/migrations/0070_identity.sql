-- To which data folder this database belongs: that has the same id in its file arbor-store.json. One row,
-- once a server or a command has opened the store. See package identity.
CREATE TABLE store_identity (
    id         BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    store      TEXT NOT NULL,                   -- the id of the store
    folder     TEXT NOT NULL,                   -- where the data folder was last, for people
    moved_from TEXT NOT NULL DEFAULT '',        -- the id of the store whose rows were moved here
    moved_to   TEXT NOT NULL DEFAULT '',        -- where the rows have gone; empty: they are here
    moved_at   BIGINT
);
