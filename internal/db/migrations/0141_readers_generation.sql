-- Grows with what pages of an issue show and neither its own row nor its comments' numbers and times tell: reactions to it
-- and its comments, and comments and reviews that are hidden or shown. Streams of events compare it (package issue/live).
ALTER TABLE issues ADD COLUMN readers_generation BIGINT NOT NULL DEFAULT 0;
