-- What deliveries of an event need of the database, as it was at the event: written in the event's transaction, once
-- for all hooks, and gone once the payloads were made of it. Without it a payload shows what is there when it is made.
CREATE TABLE hook_told (
    mark BIGINT NOT NULL PRIMARY KEY, -- as of the deliveries
    told {{bytes}} NOT NULL
);
-- Deliveries of one event have the same mark, until their payloads are made.
ALTER TABLE hook_deliveries ADD COLUMN mark BIGINT;
CREATE INDEX hook_deliveries_marked ON hook_deliveries (mark) WHERE mark IS NOT NULL;
