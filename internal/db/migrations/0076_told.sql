-- What a delivery needs of the database, as it was at its event: written in the event's transaction, and gone
-- once the payload was made of it. NULL: the payload shows what is there when it is made.
ALTER TABLE hook_deliveries ADD COLUMN told {{bytes}};
-- By this the transaction finds its rows again, to write told; NULL elsewhere.
ALTER TABLE hook_deliveries ADD COLUMN mark BIGINT;
CREATE INDEX hook_deliveries_marked ON hook_deliveries (mark) WHERE mark IS NOT NULL;
