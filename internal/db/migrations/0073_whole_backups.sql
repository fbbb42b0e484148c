-- Whether a backup came to its end. What versions before this one noted does not say.
ALTER TABLE past_backups ADD COLUMN whole BOOLEAN NOT NULL DEFAULT FALSE;
