-- The time zone in which pages show times to a person; empty: that of the browser, without a script UTC.
ALTER TABLE accounts ADD COLUMN time_zone {{text}} NOT NULL DEFAULT '';
