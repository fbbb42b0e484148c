-- The session of an identity provider from which a session here was made: what the provider names to end it.
ALTER TABLE tokens ADD COLUMN provider_session {{text}};
CREATE INDEX tokens_provider_session ON tokens (provider_session) WHERE provider_session IS NOT NULL;
