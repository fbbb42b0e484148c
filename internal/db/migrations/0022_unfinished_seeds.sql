-- A seed is noted when it begins, too: what is half filled is known for it, and
-- may be filled anew (package seed).
ALTER TABLE seeds ADD COLUMN finished BOOLEAN NOT NULL DEFAULT TRUE;
