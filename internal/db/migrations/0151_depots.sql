-- Places other than the data folder for files that are no Git objects (package depot). New files go to the one that
-- was chosen last; the data folder is a row without an address once files came back to it.
CREATE TABLE depots (
    id        {{id}},
    address   {{text}} NOT NULL UNIQUE, -- without secrets
    store     {{text}} NOT NULL,        -- the id that the depot holds
    chosen_at BIGINT NOT NULL           -- grows with each choice
);

-- Where the file lies: 0, the data folder, or a row of depots.
ALTER TABLE files ADD COLUMN depot_id BIGINT NOT NULL DEFAULT 0;
